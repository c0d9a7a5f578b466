// Which reported statuses are copied to objects on the hub. Pure.
//
// Guarantee: only objects of the revision that the binding references. A member writes the status of its Works and
// could change their manifests, so the identifiers in there prove nothing.
import type { KubeObject } from '../../api/object.ts';
import type { WorkStatus } from '../../api/work.ts';
import { isObject, type Json } from '../../base/json.ts';

export interface StatusCopy {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly status: Json;
}

/** Their status belongs to the hub's own API server, for instance the stored versions. */
const KEPT_BY_THE_HUB: ReadonlySet<string> = new Set(['Namespace', 'CustomResourceDefinition', 'APIService']);

export function statusCopies(
  { manifestConditions = [] }: WorkStatus,
  revision: readonly KubeObject[],
): readonly StatusCopy[] {
  const placed = new Map(
    revision.map((object) => [identityOf(object.apiVersion, object.kind, object.metadata), object]),
  );
  return manifestConditions.flatMap(({ identifier, backReportedStatus }): readonly StatusCopy[] => {
    const observed = backReportedStatus?.observedStatus;
    if (!isObject(observed)) return [];
    const { apiVersion, kind, status } = observed as Readonly<Record<string, unknown>>;
    const object = placed.get(identityOf(String(apiVersion), String(kind), identifier));
    if (object === undefined || !isObject(status) || KEPT_BY_THE_HUB.has(object.kind)) return [];
    const { name = '', namespace } = object.metadata;
    return [
      {
        apiVersion: object.apiVersion,
        kind: object.kind,
        ...(namespace === undefined ? {} : { namespace }),
        name,
        status: status as Json,
      },
    ];
  });
}

const identityOf = (
  apiVersion: string,
  kind: string,
  { namespace = '', name = '' }: { readonly namespace?: string; readonly name?: string },
): string => [apiVersion, kind, namespace, name].join(' ');
