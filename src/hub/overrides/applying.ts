// Applies the overrides of an order to its objects. Pure. Guarantee: all or nothing; the objects of the revision are
// never changed; the same order gives the same objects, even if the labels of the member have changed.
import { isNamed } from '../../api/enveloped.ts';
import { type KubeObject, refText } from '../../api/object.ts';
import { identifierOf } from '../../api/selected-resource.ts';
import { isObject, type Json } from '../../base/json.ts';
import { JsonPatchError, patched } from '../../base/json-patch.ts';
import { parsePointer, valueAt } from '../../base/json-pointer.ts';
import { type HubOverrideSnapshot, matches } from './matching.ts';
import type { Overrides } from './overriding.ts';
import { rulesIn } from './overriding.ts';
import { filledIn } from './variables.ts';

export type Applied =
  | { readonly ok: true; readonly manifests: readonly KubeObject[] }
  /** `OverriddenFailed`: a rule cannot be applied. `SyncWorkFailed`: it can, but the result cannot be sent. */
  | { readonly ok: false; readonly reason: 'OverriddenFailed' | 'SyncWorkFailed'; readonly message: string };

/**
 * `snapshots`: the ones that the order references, cluster-scoped ones first, so that namespaced ones win. Returns the
 * same list if nothing changes.
 */
export function applyOverrides(
  manifests: readonly KubeObject[],
  snapshots: readonly HubOverrideSnapshot[],
  { overrideValues = {} }: Pick<Overrides, 'overrideValues'>,
): Applied {
  const outcome: KubeObject[] = [];
  let isChanged = false;
  for (const manifest of manifests) {
    const applied = applyTo(manifest, snapshots, overrideValues);
    if ('message' in applied) return applied;
    isChanged ||= applied.object !== manifest;
    if (applied.object !== undefined) outcome.push(applied.object);
  }
  return { ok: true, manifests: isChanged ? outcome : manifests };
}

type Failed = Extract<Applied, { readonly ok: false }>;

function applyTo(
  manifest: KubeObject,
  snapshots: readonly HubOverrideSnapshot[],
  values: Readonly<Record<string, string>>,
): Failed | { readonly object: KubeObject | undefined } {
  // An envelope may contain anything; the agent reports invalid objects.
  if (!isNamed(manifest)) return { object: manifest };
  const identifier = identifierOf(manifest);
  let object = manifest as unknown as Json;
  for (const snapshot of snapshots) {
    if (!matches(snapshot, identifier)) continue;
    for (const { at, rule } of rulesIn(snapshot, values)) {
      if (rule.overrideType === 'Delete') return { object: undefined };
      for (const { op, path, value } of rule.jsonPatchOverrides ?? []) {
        const fail = (why: string): Failed => ({
          ok: false,
          reason: 'OverriddenFailed',
          message: `rule ${at + 1} of ${kindOf(snapshot)} "${snapshot.metadata.name}" does not apply to ${refText(identifier)}: ${op} at "${path}": ${why}`,
        });
        const filled = op === 'remove' ? undefined : filledIn((value ?? null) as Json, values);
        if (filled !== undefined && !filled.ok) return fail(filled.why);
        // The API server's own patch accepts a replace of an absent value; in an override that is most likely a
        // mistake.
        if (op === 'replace' && valueAt(object, parsePointer(path) ?? []) === undefined)
          return fail('nothing is there');
        try {
          object = patched(object, [
            filled === undefined ? { op: 'remove', path } : { op: op as 'add' | 'replace', path, value: filled.value },
          ]);
        } catch (error) {
          if (!(error instanceof JsonPatchError)) throw error;
          return fail(error.message);
        }
      }
    }
  }
  const malformed = object === (manifest as unknown) ? undefined : malformedIn(object);
  if (malformed !== undefined) {
    const message = `overrides make ${refText(identifier)} malformed: metadata.${malformed} is not a map of strings`;
    return { ok: false, reason: 'SyncWorkFailed', message };
  }
  return { object: object as unknown as KubeObject };
}

const kindOf = ({ metadata }: HubOverrideSnapshot): string =>
  metadata.namespace === undefined ? 'ClusterResourceOverrideSnapshot' : 'ResourceOverrideSnapshot';

/** Nothing else of metadata can be overridden. */
function malformedIn(object: Json): 'labels' | 'annotations' | undefined {
  const metadata = (isObject(object) ? object['metadata'] : undefined) as Readonly<Record<string, unknown>> | undefined;
  return (['labels', 'annotations'] as const).find((field) => {
    const map = metadata?.[field];
    if (map === undefined || map === null) return false;
    return !isObject(map) || Object.values(map).some((value) => typeof value !== 'string');
  });
}
