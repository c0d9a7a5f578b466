// Lookups of admission: a kind declares the reads for a request, the server fetches them, and the pure decision sees
// nothing else.
// So the embedded server calls it in process, and a webhook can do live reads before it decides. See
// docs/adr/0011-admission-reads.md.
import { InvariantError } from '../base/errors.ts';
import type { AdmitQuestion, AdmitRead, Admitted, Kind, ReadOnly, Resource } from './kind.ts';
import type { KubeObject } from './object.ts';

/** The result of each read, in the order of `reads`. */
export type Fetched = readonly (readonly KubeObject[])[];

export const readsOf = (kind: Pick<Kind, 'reads'>, question: AdmitQuestion<unknown, unknown>): readonly AdmitRead[] =>
  kind.reads?.(question) ?? [];

/** Decides with the fetched objects only. */
export function admitWith(
  kind: Required<Pick<Kind, 'admit'>>,
  question: AdmitQuestion<unknown, unknown>,
  reads: readonly AdmitRead[],
  fetched: Fetched,
): Admitted {
  return kind.admit({ ...question, lookup: lookupIn(reads, fetched) });
}

function lookupIn(reads: readonly AdmitRead[], fetched: Fetched): ReadOnly {
  const among = (resource: Resource, namespace: string | undefined, name: string | undefined) => {
    const at = reads.findIndex(
      (read) =>
        read.resource.group === resource.group &&
        read.resource.plural === resource.plural &&
        read.namespace === namespace &&
        (read.name === undefined || read.name === name),
    );
    if (at < 0) throw new InvariantError(`admission reads ${resource.plural} without having declared that`);
    return fetched[at] ?? [];
  };
  return {
    get: (resource, name, namespace) => among(resource, namespace, name).find(({ metadata }) => metadata.name === name),
    list: (resource, namespace) => among(resource, namespace, undefined),
  };
}
