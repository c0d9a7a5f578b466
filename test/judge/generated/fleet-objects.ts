// Objects of our own kinds, each with one of its fields, down to the third level, left out or of another sort: what schemas fill in and refuse.
import { isObject } from '../../../src/base/json.ts';
import { samples } from '../scripts/samples.ts';
import type { Request } from '../server.ts';

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

/** Dry runs, in the preferred version. */
export const fleetRequests = (namespace: string): readonly Request[] =>
  samples.flatMap(({ kind, object }) => {
    const { version = '' } = kind.versions[0] ?? {};
    const place = kind.namespaced ? `/namespaces/${namespace}` : '';
    const path = `/apis/${kind.group}/${version}${place}/${kind.plural}?dryRun=All`;
    const identity = { apiVersion: `${kind.group}/${version}`, kind: kind.kind, metadata: { name: 'varied' } };
    return [...variations(object)].map((content) => ({ path, body: { ...identity, ...(content as object) } }));
  });
