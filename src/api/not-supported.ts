// What is accepted and stored, but not acted upon yet: the one list. Its author gets a warning; a placement that uses it does
// not move (hub/orders/unsupported.ts). A row goes when its behaviour is built.

import { isEnvelopeConfigMap, isMarkedConfigMap } from './envelope-config-map.ts';
import { brokenRuleIn, envelopeIn, isEnvelopeKind } from './enveloped.ts';
import type { Admission, AdmitRequest, Admitted, Kind } from './kind.ts';
import { newCauses, placementLabelCauses, placementWarnings } from './meaning.ts';
import { annotations } from './names.ts';
import type { KubeObject } from './object.ts';
import type { Placement, PlacementSpec } from './placement.ts';
import { mirrorWarnings } from './status-mirror.ts';

interface FieldRow {
  /** As kubectl explain finds it. */
  readonly field: string;
  /** What in particular, if not every value. */
  readonly value?: string;
  /** What follows besides. */
  readonly consequence?: string;
  isUsed(spec: PlacementSpec): boolean;
}

/** What it has placed stays on the clusters when the placement is deleted. Differs from KubeFleet, where it is ignored. */
export function isAbandoning({ strategy }: PlacementSpec): boolean {
  return strategy?.deleteStrategy?.propagationPolicy === 'Abandon';
}

/** An object on the hub has one status, so one cluster must be meant. */
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

/** Fields of this spec whose behaviour is not built yet, each with its value where only that is missing. */
export function notSupportedFields(spec: PlacementSpec): readonly string[] {
  const known = used.get(spec);
  if (known !== undefined) return known;
  const fields = FIELDS.filter(({ isUsed }) => isUsed(spec)).map(nameOf);
  const found = fields.length === 0 ? NONE : fields;
  // A spec that can still change must not be remembered by its identity.
  if (Object.isFrozen(spec)) used.set(spec, found);
  return found;
}

const nameOf = ({ field, value }: FieldRow): string => (value === undefined ? field : `${field}: ${value}`);

const warningOf = (row: FieldRow): string =>
  [
    `${nameOf(row)} is not supported yet; this placement will not be rolled out`,
    ...(row.consequence === undefined ? [] : [row.consequence]),
  ].join('; ');

/** For placements: stored, with a warning for every field that is not acted upon. */
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

/** Envelopes are stored as they are, with a warning for a rule that their objects break: no cluster would get them. */
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

/** Kubernetes' own kinds, on a hub: stored as they are, with a warning for what is not acted upon. */
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
