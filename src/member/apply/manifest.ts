// Decodes a Work: which object each manifest names, and why a manifest cannot be used.
import type { ApplyCause } from '../../api/apply-cause.ts';
import type { LiveCatalogue } from '../../api/catalogue.ts';
import type { Resource } from '../../api/kind.ts';
import { apiVersionOf, groupVersionOf, type KubeObject, refText } from '../../api/object.ts';
import type { FieldDifference } from '../../api/selected-resource.ts';
import type { ManifestCondition, ManifestReason } from '../../api/work.ts';
import { isObject } from '../../base/json.ts';

export type Identifier = ManifestCondition['identifier'];

export interface Refusal {
  readonly reason: ManifestReason;
  readonly message: string;
  readonly cause?: ApplyCause;
  /** For an object that is ours and was changed on the member. */
  readonly drifts?: readonly FieldDifference[];
  /** For an object that is not ours and differs. */
  readonly diffs?: readonly FieldDifference[];
}

/** One manifest of a Work: either the decoded manifest or a refusal. */
export interface Order {
  readonly identifier: Identifier;
  readonly manifest?: KubeObject;
  readonly refusal?: Refusal;
}

/** Pure; whether the member serves a kind is checked later, wave by wave. */
export function ordersOf(manifests: readonly unknown[]): readonly Order[] {
  const first = new Map<string, number>();
  return manifests.map((manifest, ordinal) => {
    const order = read(manifest, ordinal);
    if (order.manifest === undefined) return order;
    const text = identityOf(order.identifier);
    const earlier = first.get(text);
    if (earlier === undefined) first.set(text, ordinal);
    else {
      const message = `${describe(order.identifier)} is already manifest ${earlier} of this Work`;
      return { identifier: order.identifier, refusal: { reason: 'Duplicated', message } };
    }
    return order;
  });
}

function read(manifest: unknown, ordinal: number): Order {
  const refused = (identifier: Identifier, reason: ManifestReason, message: string): Order => ({
    identifier,
    refusal: { reason, message },
  });
  if (!isObject(manifest)) return refused({ ordinal }, 'DecodingErred', `manifest ${ordinal} is no object`);
  const { apiVersion, kind, metadata } = manifest;
  if (!isText(apiVersion) || !isText(kind) || !isObject(metadata)) {
    return refused({ ordinal }, 'DecodingErred', `manifest ${ordinal} has no apiVersion, kind or metadata`);
  }
  const { name, namespace, generateName } = metadata;
  const identifier: Identifier = {
    ordinal,
    ...groupVersionOf(apiVersion),
    kind,
    ...(isText(namespace) ? { namespace } : {}),
    ...(isText(name) ? { name } : {}),
  };
  if (!isText(name)) {
    return isText(generateName)
      ? refused(identifier, 'FoundGenerateName', `manifest ${ordinal}, a ${kind}, has a generateName and no name`)
      : refused(identifier, 'DecodingErred', `manifest ${ordinal}, a ${kind}, has no name`);
  }
  const wrong = notTexts('labels', metadata['labels']) ?? notTexts('annotations', metadata['annotations']);
  if (wrong !== undefined) {
    return refused(identifier, 'DecodingErred', `manifest ${ordinal}, ${describe(identifier)}: ${wrong}`);
  }
  return { identifier, manifest: manifest as KubeObject };
}

/** An API server would reject it, too, but the size check reads it before any request. */
function notTexts(field: 'labels' | 'annotations', map: unknown): string | undefined {
  if (map === undefined || map === null) return undefined;
  if (!isObject(map)) return `metadata.${field} is no map of texts but ${typed(map)}`;
  const [key, value] = Object.entries(map).find(([, each]) => typeof each !== 'string') ?? [];
  return key === undefined ? undefined : `metadata.${field}["${key}"] is no text but ${typed(value)}`;
}

const typed = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
};

/** Identifies the object regardless of its API version. */
export const identityOf = ({ group = '', kind = '', namespace = '', name = '', ordinal }: Identifier): string =>
  name === '' ? `#${ordinal}` : [group, kind, namespace, name].join('|');

/** `Deployment "shop/web"` */
export const describe = ({ kind, namespace, name, ordinal }: Identifier): string =>
  kind === undefined
    ? `manifest ${ordinal}`
    : refText({ kind, name: name ?? '', ...(namespace === undefined ? {} : { namespace }) });

export const resourceOf = (catalogue: LiveCatalogue, { group, version, kind }: Identifier): Resource | undefined =>
  kind === undefined || version === undefined ? undefined : catalogue.byKind(apiVersionOf(group ?? '', version), kind);

/**
 * For an object that exists: it is the same object in every version, and the version it was placed in may no longer be
 * served.
 */
export const anyResourceOf = (catalogue: LiveCatalogue, identifier: Identifier): Resource | undefined =>
  resourceOf(catalogue, identifier) ??
  catalogue.preferred.find(({ group, kind }) => group === (identifier.group ?? '') && kind === identifier.kind);

/** The API server of its group does not respond, so a kind that is missing from discovery may still exist. */
export const isSilent = ({ unknown = [] }: LiveCatalogue, { group = '' }: Identifier): boolean =>
  unknown.some((each) => groupVersionOf(each).group === group);

/** Completed with the scope and the plural of the kind on the member. */
export function placed(identifier: Identifier, resource: Resource): Identifier {
  const { namespace: _namespace, ...rest } = identifier;
  return { ...(resource.namespaced ? identifier : rest), resource: resource.plural };
}

export const unserved = ({ group = '', version = '', kind = '' }: Identifier): Refusal => ({
  reason: 'DecodingErred',
  message: `the member serves no kind ${kind} in ${apiVersionOf(group, version)}; if it is a custom one, its CustomResourceDefinition must be there`,
  cause: { code: 'KindNotServed' },
});

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Contains each identity with and without namespace, because the scope is known only if the member serves the kind. */
export const inSpec = (orders: readonly Order[]): ReadonlySet<string> =>
  new Set(
    orders.flatMap(({ identifier }) => {
      const { namespace: _namespace, ...bare } = identifier;
      return [identityOf(identifier), identityOf(bare)];
    }),
  );
