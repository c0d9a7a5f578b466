// What is accepted and stored, but not acted upon yet: the one list. Whoever writes such a thing is warned; a placement that uses it does
// not move (hub/not-supported.ts). A row goes when its behaviour is built.
import { isEnvelopeConfigMap, isMarkedConfigMap } from './envelope-config-map.ts';
import type { Admission, AdmitRequest, Admitted, Kind } from './kind.ts';
import { newCauses, placementLabelCauses, placementWarnings } from './meaning.ts';
import { annotations } from './names.ts';
import type { KubeObject } from './object.ts';
import type { Placement, PlacementSpec } from './placement.ts';

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

const FIELDS: readonly FieldRow[] = [
  {
    field: 'spec.strategy.reportBackStrategy.type',
    value: 'Mirror',
    isUsed: ({ strategy }) => strategy?.reportBackStrategy?.type === 'Mirror',
  },
  {
    field: 'spec.statusReportingScope',
    value: 'NamespaceAccessible',
    isUsed: ({ statusReportingScope }) => statusReportingScope === 'NamespaceAccessible',
  },
];

const KINDS: Readonly<Record<string, string>> = {
  ClusterResourceEnvelope: 'placements that select it do not move',
  ResourceEnvelope: 'placements that select it do not move',
};

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
    `${nameOf(row)} is not supported yet: the placement does not move`,
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
      ? [...FIELDS.filter(({ isUsed }) => isUsed(spec)).map(warningOf), ...placementWarnings(spec)]
      : NONE,
  };
}

/** The kind as it is, or with a warning for whoever writes one. */
export function warnedOf(kind: Kind): Kind {
  const consequence = KINDS[kind.kind];
  if (consequence === undefined || kind.admit !== undefined) return kind;
  const warnings = [`${kind.kind} is not supported yet: ${consequence}`];
  return Object.freeze({
    ...kind,
    admit: ({ verb, subresource, object, old }): Admitted => ({
      ok: true,
      object: (object ?? old) as NonNullable<typeof object>,
      warnings: verb === 'delete' || subresource !== undefined ? NONE : warnings,
    }),
  } satisfies Kind);
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
      warnings: verb === 'delete' || object === undefined || !isMarkedConfigMap(object) ? NONE : [warningAbout(object)],
    }),
  },
];

const warningAbout = (marked: KubeObject): string =>
  isEnvelopeConfigMap(marked)
    ? `ConfigMap with ${MARK} is not supported yet: ${KINDS['ResourceEnvelope']}`
    : `${MARK} has no effect: not each value of data is one object with apiVersion, kind and name; it is placed as any ConfigMap`;
