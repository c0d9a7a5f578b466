// Warnings for a spec that is accepted and stored: it cannot work, or may not have the expected effect.

import { isEnvelopeConfigMap, isMarkedConfigMap } from './envelope-config-map.ts';
import { brokenRuleIn, envelopeIn, isEnvelopeKind } from './enveloped.ts';
import type { Admission, AdmitRequest, Admitted, Kind } from './kind.ts';
import { newCauses, placementLabelCauses, placementWarnings } from './meaning.ts';
import { annotations } from './names.ts';
import type { KubeObject } from './object.ts';
import type { Placement, PlacementSpec } from './placement.ts';
import { specProblemWarnings } from './spec-problem.ts';
import { mirrorWarnings } from './status-mirror.ts';

/**
 * The placed objects stay on the clusters when the placement is deleted. Differs from KubeFleet, which ignores the
 * field.
 */
export function isAbandoning({ strategy }: PlacementSpec): boolean {
  return strategy?.deleteStrategy?.propagationPolicy === 'Abandon';
}

const NONE: readonly string[] = [];

/** For placements. */
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
          ...specProblemWarnings(spec),
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
