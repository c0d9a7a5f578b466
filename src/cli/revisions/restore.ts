// The writes that restore objects on the hub to a revision. Guarantee: afterwards the stripped objects equal those of
// the revision; fields of the API server and of others (uid, owners, addresses, the last applied configuration) are
// left alone. Pure.
import type { KubeObject } from '../../api/object.ts';
import { isObject, type Json } from '../../base/json.ts';
import { type JsonOperation, pathTo } from '../../base/json-patch.ts';
import { contentOf, type Marks } from '../../hub/revisions/content.ts';
import { asJson, type FieldChange, fieldsBetween } from './object-diff.ts';

export type Restore =
  | { readonly do: 'create'; readonly object: KubeObject }
  | {
      readonly do: 'patch';
      readonly object: KubeObject;
      readonly fields: readonly FieldChange[];
      readonly operations: readonly JsonOperation[];
    }
  | { readonly do: 'delete'; readonly object: KubeObject };

/** `live`: the full object on the server; undefined = it does not exist. Returns undefined if nothing has to change. */
export function restoreOf(wanted: KubeObject, live: KubeObject | undefined, marks: Marks): Restore | undefined {
  if (live === undefined) return { do: 'create', object: wanted };
  const [stripped = live] = contentOf([live], marks).objects;
  const fields = fieldsBetween(withMaps(stripped), withMaps(wanted));
  if (fields.length === 0) return undefined;
  const version: readonly JsonOperation[] =
    live.metadata.resourceVersion === undefined
      ? []
      : [{ op: 'replace', path: '/metadata/resourceVersion', value: live.metadata.resourceVersion }];
  const maps = MAPS.filter((map) => live.metadata[map] === undefined && fields.some(({ path }) => path[1] === map)).map(
    (map): JsonOperation => ({ op: 'add', path: pathTo('metadata', map), value: {} }),
  );
  return { do: 'patch', object: wanted, fields, operations: [...version, ...maps, ...fields.map(operationOf)] };
}

const MAPS = ['annotations', 'labels'] as const;

/**
 * Maps that are compared key by key even if one side lacks them: the live one may have keys that no revision contains.
 */
function withMaps(object: KubeObject): Json {
  const metadata = { ...object.metadata } as Record<string, unknown>;
  for (const map of MAPS) metadata[map] = isObject(metadata[map]) ? metadata[map] : {};
  return asJson({ ...object, metadata } as KubeObject);
}

const operationOf = ({ path, before, after }: FieldChange): JsonOperation =>
  after === undefined
    ? { op: 'remove', path: pathTo(...path) }
    : { op: before === undefined ? 'add' : 'replace', path: pathTo(...path), value: after };
