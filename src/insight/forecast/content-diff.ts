// The effect of a change of revision on a cluster, in numbers. Pure.
import type { KubeObject } from '../../api/object.ts';
import { groupVersionOf } from '../../api/object.ts';
import { canonicalJson } from '../../base/json.ts';

export interface Counts {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly unchanged: number;
}

/** An object is the same in every API version. */
const identityOf = ({ apiVersion, kind, metadata }: KubeObject): string =>
  JSON.stringify([groupVersionOf(apiVersion).group, kind, metadata.namespace ?? '', metadata.name ?? '']);

const textsOf = (objects: readonly KubeObject[]): ReadonlyMap<string, string> =>
  new Map(objects.map((each) => [identityOf(each), canonicalJson(each)]));

export function countsBetween(before: readonly KubeObject[], after: readonly KubeObject[]): Counts {
  const [had, gets] = [textsOf(before), textsOf(after)];
  const kept = [...gets].filter(([identity]) => had.has(identity));
  const unchanged = kept.filter(([identity, text]) => had.get(identity) === text).length;
  return {
    added: gets.size - kept.length,
    changed: kept.length - unchanged,
    removed: had.size - kept.length,
    unchanged,
  };
}
