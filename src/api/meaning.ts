// Warns the author of a valid spec that may not have the expected effect. Rejects invalid label keys, because the
// schema of a CRD cannot validate the keys of a map. Pure.
import { qualifiedNameErrors } from '../base/names.ts';
import type { AdmitRequest, Admitted, FieldCause } from './kind.ts';
import type { LabelSelector } from './label-selector.ts';
import type { KubeObject } from './object.ts';
import type { PlacementSpec } from './placement.ts';
import type { StagedUpdateStrategySpec } from './staged-update-strategy.ts';
import { invalidValue } from './status.ts';

type Selectors = readonly (readonly [field: string, selector: LabelSelector | undefined])[];

// ---- placements

const isZero = (count: number | string | undefined): boolean => /^0+%?$/.test(String(count ?? ''));

export function placementWarnings({ policy, strategy }: PlacementSpec): readonly string[] {
  const isRolling = (strategy?.type ?? 'RollingUpdate') === 'RollingUpdate';
  const isFixed = policy?.placementType === 'PickFixed';
  return [
    ...(isRolling && isZero(strategy?.rollingUpdate?.maxUnavailable)
      ? [
          'spec.strategy.rollingUpdate.maxUnavailable is 0: clusters are replaced without downtime, but content that changes in place still updates one cluster at a time',
        ]
      : []),
    ...(isFixed && (policy.clusterNames ?? []).length === 0
      ? ['spec.policy.clusterNames is empty: PickFixed picks no cluster']
      : []),
  ];
}

export function placementLabelCauses({ resourceSelectors, policy, strategy }: PlacementSpec): readonly FieldCause[] {
  const affinity = 'spec.policy.affinity.clusterAffinity';
  const { requiredDuringSchedulingIgnoredDuringExecution: required, preferredDuringSchedulingIgnoredDuringExecution } =
    policy?.affinity?.clusterAffinity ?? {};
  return labelCauses([
    ...(resourceSelectors ?? []).map(
      ({ labelSelector }, at) => [`spec.resourceSelectors[${at}].labelSelector`, labelSelector] as const,
    ),
    ...(required?.clusterSelectorTerms ?? []).map(
      ({ labelSelector }, at) =>
        [
          `${affinity}.requiredDuringSchedulingIgnoredDuringExecution.clusterSelectorTerms[${at}].labelSelector`,
          labelSelector,
        ] as const,
    ),
    ...(preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
      ({ preference }, at) =>
        [
          `${affinity}.preferredDuringSchedulingIgnoredDuringExecution[${at}].preference.labelSelector`,
          preference.labelSelector,
        ] as const,
    ),
    ...(strategy?.partitioned?.partitions ?? []).flatMap(({ clusterSelector, clusterGroupSelector }, at) => [
      [`spec.strategy.partitioned.partitions[${at}].clusterSelector`, clusterSelector] as const,
      [`spec.strategy.partitioned.partitions[${at}].clusterGroupSelector`, clusterGroupSelector] as const,
    ]),
  ]);
}

// ---- strategies

/** For the strategies of staged update runs. */
export function admitStrategy({
  verb,
  subresource,
  object,
  old,
}: AdmitRequest<StagedUpdateStrategySpec, unknown>): Admitted {
  const spec = object?.spec;
  const stored = (object ?? old) as KubeObject;
  if (verb === 'delete' || subresource !== undefined || spec === undefined)
    return { ok: true, object: stored, warnings: [] };
  const causes = newCauses(strategyLabelCauses(spec), old?.spec && strategyLabelCauses(old.spec));
  return causes.length > 0 ? { ok: false, causes } : { ok: true, object: stored, warnings: strategyWarnings(spec) };
}

const strategyLabelCauses = ({ stages }: StagedUpdateStrategySpec): readonly FieldCause[] =>
  labelCauses(stages.map(({ labelSelector }, at) => [`spec.stages[${at}].labelSelector`, labelSelector] as const));

const strategyWarnings = ({ stages }: StagedUpdateStrategySpec): readonly string[] =>
  stages.length === 0
    ? [
        'spec.stages is empty: a run fails if its placement picks a cluster, since every picked cluster must be in a stage',
      ]
    : stages.flatMap(({ name, labelSelector }, at) =>
        labelSelector === undefined
          ? [`spec.stages[${at}] has no labelSelector: stage "${name}" matches no cluster; {} matches all of them`]
          : [],
      );

// ---- label keys

const labelCauses = (selectors: Selectors): readonly FieldCause[] =>
  selectors.flatMap(([field, selector]) =>
    Object.keys(selector?.matchLabels ?? {}).flatMap((key) =>
      qualifiedNameErrors(key).map((why) => invalidValue(`${field}.matchLabels`, key, why)),
    ),
  );

/** Only new problems: an object that was stored with such a key can still be changed and deleted. */
export function newCauses(now: readonly FieldCause[], before: readonly FieldCause[] = []): readonly FieldCause[] {
  const known = new Set(before.map(({ message }) => message));
  return now.filter(({ message }) => !known.has(message));
}
