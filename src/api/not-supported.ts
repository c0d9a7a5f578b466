// The list of fields and values that are accepted and stored, but not supported yet. The author gets a warning; a
// placement that uses one is not rolled out (hub/orders/unsupported.ts). Delete a row when its behavior is implemented.

import { isEnvelopeConfigMap, isMarkedConfigMap } from './envelope-config-map.ts';
import { brokenRuleIn, envelopeIn, isEnvelopeKind } from './enveloped.ts';
import type { Admission, AdmitRequest, Admitted, Kind } from './kind.ts';
import { newCauses, placementLabelCauses, placementWarnings } from './meaning.ts';
import { annotations } from './names.ts';
import type { KubeObject } from './object.ts';
import type { Placement, PlacementSpec } from './placement.ts';
import { mirrorWarnings } from './status-mirror.ts';

interface FieldRow {
  /** The path for kubectl explain. */
  readonly field: string;
  /** The unsupported value, if not every value is. */
  readonly value?: string;
  /** An additional effect or advice for the warning. */
  readonly consequence?: string;
  isUsed(spec: PlacementSpec): boolean;
}

/**
 * The placed objects stay on the clusters when the placement is deleted. Differs from KubeFleet, which ignores the
 * field.
 */
export function isAbandoning({ strategy }: PlacementSpec): boolean {
  return strategy?.deleteStrategy?.propagationPolicy === 'Abandon';
}

/** An object on the hub has one status, so the policy must pick exactly one cluster. */
export const picksOneCluster = (policy: PlacementSpec['policy']): boolean =>
  policy?.placementType === 'PickFixed'
    ? policy.clusterNames?.length === 1
    : policy?.placementType === 'PickN' && policy.numberOfClusters === 1;

const FIELDS: readonly FieldRow[] = [
  {
    field: 'spec.strategy.reportBackStrategy.destination',
    value: 'OriginalResource with a policy that may pick several clusters',
    consequence: 'use placementType PickFixed with one name, or PickN with numberOfClusters 1',
    isUsed: ({ strategy, policy }) =>
      strategy?.reportBackStrategy?.type === 'Mirror' &&
      strategy.reportBackStrategy.destination === 'OriginalResource' &&
      !picksOneCluster(policy),
  },
];

const used = new WeakMap<PlacementSpec, readonly string[]>();
const NONE: readonly string[] = [];

/** Unsupported fields of this spec, with the value where only that is unsupported. */
export function notSupportedFields(spec: PlacementSpec): readonly string[] {
  const known = used.get(spec);
  if (known !== undefined) return known;
  const fields = FIELDS.filter(({ isUsed }) => isUsed(spec)).map(nameOf);
  const found = fields.length === 0 ? NONE : fields;
  // Only frozen specs are cached by identity, because others can still change.
  if (Object.isFrozen(spec)) used.set(spec, found);
  return found;
}

const nameOf = ({ field, value }: FieldRow): string => (value === undefined ? field : `${field}: ${value}`);

const warningOf = (row: FieldRow): string =>
  [
    `${nameOf(row)} is not supported yet; this placement will not be rolled out`,
    ...(row.consequence === undefined ? [] : [row.consequence]),
  ].join('; ');

/** For placements: stored, with a warning for every unsupported field. */
export function admitPlacement({
  verb,
  subresource,
  object,
  old,
}: AdmitRequest<PlacementSpec, Placement['status']>): Admitted {
  const spec = object?.spec;
  const isJudged = verb !== 'delete' && subresource === undefined && spec !== undefined;
  const causes = isJudged ? newCauses(placementLabelCauses(spec), old?.spec && placementLabelCauses(old.spec)) : [];
  if (causes.length > 0) return { ok: false, causes };
  return {
    ok: true,
    object: (object ?? old) as Placement,
    warnings: isJudged
      ? [
          ...FIELDS.filter(({ isUsed }) => isUsed(spec)).map(warningOf),
          ...placementWarnings(spec),
          ...mirrorWarnings(object?.kind ?? '', spec, old?.spec),
        ]
      : NONE,
  };
}

/** Envelopes are stored unchanged, with a warning if their objects break a rule, because no cluster would get them. */
export function warnedOf(kind: Kind): Kind {
  if (!isEnvelopeKind(kind) || kind.admit !== undefined) return kind;
  return Object.freeze({
    ...kind,
    admit: ({ verb, subresource, object, old }): Admitted => ({
      ok: true,
      object: (object ?? old) as NonNullable<typeof object>,
      warnings: verb === 'delete' || subresource !== undefined || object === undefined ? NONE : warningsAbout(object),
    }),
  } satisfies Kind);
}

function warningsAbout(object: KubeObject): readonly string[] {
  const envelope = envelopeIn(object);
  const broken = envelope && brokenRuleIn(envelope);
  return broken === undefined ? NONE : [`${broken}; placements that select it get no new revision onto clusters`];
}

const MARK = `annotation ${annotations.envelopeConfigMap}`;

/** Built-in kinds on a hub: stored unchanged, with a warning for unsupported uses. */
export const hubAdmissions: readonly Admission[] = [
  {
    group: '',
    kind: 'ConfigMap',
    admit: ({ verb, object, old }): Admitted => ({
      ok: true,
      object: (object ?? old) as NonNullable<typeof object>,
      warnings:
        verb === 'delete' || object === undefined || !isMarkedConfigMap(object) ? NONE : warningsAboutMarked(object),
    }),
  },
];

const warningsAboutMarked = (marked: KubeObject): readonly string[] =>
  isEnvelopeConfigMap(marked)
    ? warningsAbout(marked)
    : [
        `${MARK} has no effect: not each value of data is one object with apiVersion, kind and name; it is placed as any ConfigMap`,
      ];
