// Objects of our own kinds, each with one of its fields, down to the third level, left out or of another sort: what schemas fill in and refuse.
import type { Kind } from '../../../src/api/kind.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { canonicalJson, isObject } from '../../../src/base/json.ts';
import { contentOf, samples } from '../scripts/samples.ts';
import type { Reply, Request } from '../server.ts';

const ODD = [7, 'odd', [], {}, null] as const;

function* variations(value: unknown, depth = 0): Generator<unknown> {
  if (!isObject(value) || depth > 2) return;
  for (const [key, inner] of Object.entries(value)) {
    const { [key]: _left, ...rest } = value;
    yield rest;
    for (const odd of ODD) yield { ...value, [key]: odd };
    for (const each of variations(inner, depth + 1)) yield { ...value, [key]: each };
  }
}

export interface FleetRequest extends Request {
  readonly of: Kind;
}

/** Dry runs, in the preferred version. */
export const fleetRequests = (namespace: string): readonly FleetRequest[] =>
  samples.flatMap((sample) => {
    const { kind } = sample;
    const { version = '' } = kind.versions[0] ?? {};
    const place = kind.namespaced ? `/namespaces/${namespace}` : '';
    const path = `/apis/${kind.group}/${version}${place}/${kind.plural}?dryRun=All`;
    const identity = { apiVersion: `${kind.group}/${version}`, kind: kind.kind, metadata: { name: 'varied' } };
    return [...variations(contentOf(sample, { name: 'varied', namespace }))].map((content) => ({
      of: kind,
      path,
      body: { ...identity, ...(content as object) },
    }));
  });

/**
 * What a kind of ours refuses beyond its schema: on a real server that is the business of a webhook, which this one does not have. True when that
 * is all that ours has against an object which the real one took.
 */
export function isRefusedByItsKind(kind: Kind, taken: Reply, refused: Reply): boolean {
  if (taken.code !== 201 || refused.code !== 422) return false;
  const object = JSON.parse(taken.text) as KubeObject;
  const admitted = kind.admit?.({
    verb: 'create',
    dryRun: true,
    now: 0,
    user: { name: 'judge', groups: ['system:masters'] },
    object,
    lookup: { get: () => undefined, list: () => [] },
  });
  const { details } = JSON.parse(refused.text) as { readonly details?: { readonly causes?: unknown } };
  return admitted?.ok === false && canonicalJson(admitted.causes) === canonicalJson(details?.causes);
}
