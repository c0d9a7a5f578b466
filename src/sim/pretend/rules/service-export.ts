// Sets the conditions of a ServiceExport like a networking agent: valid, and without conflict if it takes traffic.

import type { Condition, ServiceExport } from '../../../api/builtin/shapes.ts';
import type { Resource } from '../../../api/kind.ts';
import { kubeTime } from '../../../base/clock.ts';
import { conditionOf, isDeleting } from '../reading.ts';
import { type Rule, statusWrites } from '../rule.ts';

const WEIGHT = 'networking.fleet.azure.com/weight';
const HIGHEST_WEIGHT = 1000;

/** Absent means 1; undefined = not a valid weight. */
function weightOf({ metadata }: ServiceExport): number | undefined {
  const text = metadata.annotations?.[WEIGHT];
  if (text === undefined) return 1;
  const weight = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  return weight <= HIGHEST_WEIGHT ? weight : undefined;
}

export interface ExportRelated {
  /** In the watched version. */
  readonly resource: Resource;
  /** Whether a Service of this name exists. */
  readonly hasService: boolean;
}

export const serviceExport: Rule<ServiceExport, ExportRelated> = (object, { resource, hasService }, now) => {
  if (isDeleting(object)) return { writes: [] };
  const { name, namespace, generation = 0 } = object.metadata;
  const weight = weightOf(object);
  const condition = (type: string, isTrue: boolean, reason: string, message: string): Condition => {
    const status = isTrue ? 'True' : 'False';
    const old = conditionOf(object.status?.conditions, type);
    return {
      type,
      status,
      observedGeneration: generation,
      lastTransitionTime: old?.status === status ? (old.lastTransitionTime ?? kubeTime(now)) : kubeTime(now),
      reason,
      message,
    };
  };
  const valid = !hasService
    ? condition('Valid', false, 'ServiceNotFound', `service ${namespace}/${name} is not found`)
    : weight === undefined
      ? condition(
          'Valid',
          false,
          'ServiceExportInvalidWeightAnnotation',
          `${WEIGHT} is not a number from 0 to ${HIGHEST_WEIGHT}`,
        )
      : condition('Valid', true, 'ServiceIsValid', `service ${namespace}/${name} is valid for export`);
  const conflict = condition(
    'Conflict',
    false,
    'NoConflictFound',
    `service ${namespace}/${name} is exported without conflict`,
  );
  const ours = valid.status === 'True' && weight !== 0 ? [valid, conflict] : [valid];
  const others = (object.status?.conditions ?? []).filter(
    (each) => each.type !== valid.type && each.type !== conflict.type,
  );
  return {
    writes: statusWrites(resource, object, {
      status: { ...object.status, conditions: [...others, ...ours] },
      because: valid.reason ?? '',
    }),
  };
};
