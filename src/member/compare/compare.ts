// How an object on a member differs from its manifest (PartialComparison, FullComparison): pure.
//
// Guarantee: fields that Kubernetes, the cluster or Flotilla itself sets are not differences, nor is another spelling
// of the same value; the content of a Secret never leaves this file.
import type { ApplyStrategy } from '../../api/apply-strategy.ts';
import { typeNameOf } from '../../api/builtin/types.ts';
import { groupVersionOf, type KubeObject } from '../../api/object.ts';
import type { FieldDifference } from '../../api/selected-resource.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import { differences } from './details.ts';
import { type ComparePatches, ignoredPaths, mayBeMissing, withPartsOf } from './ignored.ts';
import { overlaid, shapeOf } from './overlay.ts';
import { sanitised } from './sanitised.ts';
import { comparable } from './spec-hash.ts';

export type Comparison = ApplyStrategy['comparisonOption'];

const REDACTED = '(redacted for security reasons)';

export function compared(
  manifest: KubeObject,
  live: KubeObject | undefined,
  option: Comparison,
  patches?: ComparePatches,
): readonly FieldDifference[] {
  if (live === undefined)
    return mayBeMissing(patches, manifest) ? [] : [{ path: '/', valueInHub: '(the whole object)' }];
  const typeName = typeOf(manifest);
  const { hub, member } = laidBeside(manifest, live, option, patches);
  const found = differences(hub, member, shapeOf(typeName));
  return isSecret(manifest) ? found.map(redacted) : found;
}

/**
 * Both sides of the comparison, to show them side by side. The content of a Secret is masked; the masks still show
 * which values differ.
 */
export function sidesOf(
  manifest: KubeObject,
  live: KubeObject | undefined,
  option: Comparison,
  patches?: ComparePatches,
): Sides {
  const sides = live === undefined ? withoutLive(manifest, patches) : laidBeside(manifest, live, option, patches);
  const [hub, member] = [withoutEmpty(sides.hub), sides.member && withoutEmpty(sides.member)];
  if (!isSecret(manifest)) return { hub, member };
  const [data, theirs] = [hub['data'], member?.['data']];
  const [a, b] = [isObject(data) ? data : {}, isObject(theirs) ? theirs : {}];
  return {
    hub: { ...hub, data: masked(a, b, '*** (hub)') },
    member: member && { ...member, data: masked(b, a, '*** (member)') },
  };
}

/** The comparison adds empty maps and lists to metadata; the author did not write those. */
function withoutEmpty({ metadata, ...rest }: JsonObject): JsonObject {
  const filled = Object.entries((metadata ?? {}) as JsonObject).filter(
    ([, value]) => typeof value !== 'object' || Object.keys(value ?? {}).length > 0,
  );
  return filled.length === 0 ? rest : { ...rest, metadata: Object.fromEntries(filled) };
}

export interface Sides {
  readonly hub: JsonObject;
  /** undefined = the object does not exist. */
  readonly member: JsonObject | undefined;
}

const masked = (values: object, others: object, mask: string): JsonObject =>
  Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      !Object.hasOwn(others, key) || (others as JsonObject)[key] === value ? '***' : mask,
    ]),
  );

/** An object that may be missing shows no difference. */
function withoutLive(manifest: KubeObject, patches: ComparePatches): Sides {
  const hub = comparable(sanitised(manifest)) as JsonObject;
  return { hub, member: mayBeMissing(patches, manifest) ? hub : undefined };
}

function laidBeside(manifest: KubeObject, live: KubeObject, option: Comparison, patches: ComparePatches) {
  const wanted = comparable(sanitised(manifest)) as JsonObject;
  const member = comparable(live) as JsonObject;
  const hub = option === 'FullComparison' ? wanted : overlaid(wanted, member, typeOf(manifest));
  return { hub: withPartsOf(hub, member, ignoredPaths(patches, manifest)), member };
}

function typeOf({ apiVersion, kind }: KubeObject): string | undefined {
  const { group, version } = groupVersionOf(apiVersion);
  return typeNameOf(group, version, kind);
}

const isSecret = ({ apiVersion, kind }: KubeObject): boolean => apiVersion === 'v1' && kind === 'Secret';

/** A field that only one side has still shows which side. */
function redacted(each: FieldDifference): FieldDifference {
  const { path, valueInHub, valueInMember } = each;
  if (!SECRET.test(path)) return each;
  return {
    path,
    ...(valueInHub === undefined ? {} : { valueInHub: valueInHub === '' ? '' : REDACTED }),
    ...(valueInMember === undefined ? {} : { valueInMember: valueInMember === '' ? '' : REDACTED }),
  };
}

const SECRET = /^\/(?:data|stringData)(?:\/|$)/;
