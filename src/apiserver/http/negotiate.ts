// Content negotiation: the representation that a client accepts, and the format of its body.
import type { PatchType } from '../../api/transport.ts';
import { ApiError } from '../../base/errors.ts';
import { createLru } from '../../base/lru.ts';

export type Form = 'json' | 'yaml' | 'table' | 'metadata' | 'metadata-list' | 'discovery';

export interface Representation {
  readonly form: Form;
  /** Version of the table, metadata or discovery format. */
  readonly version: string;
  /** The Content-Type of the response. Discovery clients take plain `application/json` for the legacy lists. */
  readonly contentType: string;
}

export const JSON_TYPE = 'application/json';

const plainJson: Representation = { form: 'json', version: '', contentType: JSON_TYPE };
const yaml: Representation = { form: 'yaml', version: '', contentType: 'application/yaml' };

/** Versions of Table and PartialObjectMetadata; discovery has its own. */
const META_VERSIONS: ReadonlySet<string> = new Set(['v1', 'v1beta1']);
const DISCOVERY_VERSIONS: ReadonlySet<string> = new Set(['v2', 'v2beta1']);
const META_FORMS: ReadonlyMap<string, Form> = new Map([
  ['Table', 'table'],
  ['PartialObjectMetadata', 'metadata'],
  ['PartialObjectMetadataList', 'metadata-list'],
]);

/** The representations that the client accepts and we can write, preferred first. Empty = none. */
export function acceptable(accept: string | undefined): readonly Representation[] {
  if (accept === undefined || accept === '' || accept === '*/*' || accept === JSON_TYPE) return PLAIN;
  return parseAccept(accept);
}

const PLAIN: readonly Representation[] = [plainJson];

interface Clause {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

function parseAccept(accept: string): readonly Representation[] {
  return accept
    .split(',')
    .map(parseClause)
    .filter((clause) => clause.quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .map(representationOf)
    .filter((each) => each !== undefined);
}

function parseClause(text: string): Clause {
  const [type = '', ...rest] = text.split(';').map((part) => part.trim());
  const parameters = new Map<string, string>();
  for (const part of rest) {
    const equals = part.indexOf('=');
    if (equals > 0) parameters.set(part.slice(0, equals).trim().toLowerCase(), part.slice(equals + 1).trim());
  }
  const quality = Number(parameters.get('q') ?? 1);
  return { type: type.toLowerCase(), parameters, quality: Number.isNaN(quality) ? 1 : quality };
}

function representationOf({ type, parameters }: Clause): Representation | undefined {
  const as = parameters.get('as');
  if (type === 'application/yaml') return as === undefined ? yaml : undefined;
  if (type !== JSON_TYPE && type !== '*/*' && type !== 'application/*') return undefined;
  if (as === undefined) return plainJson;
  const group = parameters.get('g') ?? '';
  const version = parameters.get('v') ?? '';
  const form = META_FORMS.get(as);
  if (form !== undefined) {
    return group === 'meta.k8s.io' && META_VERSIONS.has(version)
      ? { form, version, contentType: JSON_TYPE }
      : undefined;
  }
  if (as === 'APIGroupDiscoveryList' && group === 'apidiscovery.k8s.io' && DISCOVERY_VERSIONS.has(version)) {
    return { form: 'discovery', version, contentType: `${JSON_TYPE};g=${group};v=${version};as=${as}` };
  }
  return undefined;
}

/** Returns the first accepted representation that is allowed, or throws a 406. */
export type Choose = (accept: string | undefined, allowed: ReadonlySet<Form>) => Representation;

const LONGEST_KEPT = 512;

/** Caches parsed headers: clients send the same few with every request. */
export function negotiator(size = 256): Choose {
  const parsed = createLru<string, readonly Representation[]>(size);
  let last: { readonly accept: string | undefined; readonly wanted: readonly Representation[] } | undefined;
  const wantedBy = (accept: string | undefined): readonly Representation[] => {
    if (accept === undefined || accept.length > LONGEST_KEPT) return acceptable(accept);
    let wanted = parsed.get(accept);
    if (!wanted) {
      wanted = acceptable(accept);
      parsed.set(accept, wanted);
    }
    return wanted;
  };
  return (accept, allowed) => {
    // Most requests have the same header as the previous one.
    if (last === undefined || last.accept !== accept) last = { accept, wanted: wantedBy(accept) };
    for (const each of last.wanted) if (allowed.has(each.form)) return each;
    throw notAcceptable(allowed);
  };
}

function notAcceptable(allowed: ReadonlySet<Form>): ApiError {
  const types = [JSON_TYPE, ...(allowed.has('yaml') ? ['application/yaml'] : [])];
  return new ApiError(406, 'NotAcceptable', `only the following media types are accepted: ${types.join(', ')}`);
}

// ---- bodies

export type BodyFormat = 'json' | 'yaml' | 'protobuf';

const mediaType = (contentType: string | undefined): string =>
  (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

const BODY_FORMATS: ReadonlyMap<string, BodyFormat> = new Map([
  ['application/json', 'json'],
  ['application/yaml', 'yaml'],
  ['application/vnd.kubernetes.protobuf', 'protobuf'],
]);

/** The format of the body of a create, update or delete. No header means JSON; an unknown format is a 415. */
export function bodyFormat(contentType: string | undefined): BodyFormat {
  if (contentType === undefined || contentType === JSON_TYPE) return 'json';
  const format = BODY_FORMATS.get(mediaType(contentType));
  if (format === undefined) throw unknownFormat([...BODY_FORMATS.keys()]);
  return format;
}

const PATCH_TYPES: ReadonlyMap<string, PatchType> = new Map([
  ['application/json-patch+json', 'json'],
  ['application/merge-patch+json', 'merge'],
  ['application/strategic-merge-patch+json', 'strategic'],
  ['application/apply-patch+yaml', 'apply'],
]);

/** Custom resources have no merge keys, so a strategic patch is rejected; kubectl then reports that. */
export function patchType(contentType: string | undefined, isCustom: boolean): PatchType {
  const type = PATCH_TYPES.get(mediaType(contentType));
  if (type !== undefined && !(isCustom && type === 'strategic')) return type;
  throw unknownFormat([...PATCH_TYPES].filter(([, each]) => !(isCustom && each === 'strategic')).map(([name]) => name));
}

const unknownFormat = (accepted: readonly string[]): ApiError =>
  new ApiError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );
