// Decodes the body of a write to a private draft in the storage version: checks that it has the kind of the URL and
// values of the right types, and finds unknown fields.
import { apiVersionOf, type KubeObject } from '../../api/object.ts';
import { badRequest, invalid, invalidValue } from '../../api/status.ts';
import { isObject, mutableCopy, setField } from '../../base/json.ts';
import { goText } from '../patch/json-kind.ts';
import type { Draft, Structure } from '../registry.ts';
import { METADATA_FIELDS } from '../status-keeps.ts';
import type { At, Caller } from './call.ts';
import type { Patch } from './patched.ts';

/** Checks a create or update body. Unknown fields are rejected, warned about or dropped, as the caller requests. */
export function decodeBody(at: At, body: unknown, caller: Caller): Draft {
  const draft = checkType(at, body);
  const wrongType = at.version.structure.decodeError(draft);
  if (wrongType !== undefined) throw cannotHandle(at, wrongType);
  const unknown = unknownFields(at, draft, caller);
  if (unknown !== undefined) throw cannotHandle(at, unknown);
  return draft;
}

/**
 * The same for the result of a patch. The error message of a real server contains the patched object, or the strategic
 * patch itself, in Go's format.
 */
export function decodePatched(at: At, patched: unknown, asked: Patch, caller: Caller): Draft {
  const refuse = (why: string) => {
    const text = asked.type === 'strategic' ? goText(asked.body) : JSON.stringify(patched);
    return invalid({ group: '', kind: '' }, '', [invalidValue('patch', text, why)]);
  };
  if (!isObject(patched)) throw refuse('not an object');
  // A patched object shares unchanged parts with the stored one, which is frozen.
  const draft = checkType(at, mutableCopy(patched));
  const wrongType = at.version.structure.decodeError(draft);
  if (wrongType !== undefined) throw refuse(wrongType);
  const unknown = unknownFields(at, draft, caller);
  if (unknown !== undefined) throw refuse(unknown);
  return draft;
}

/** Converts a draft from the requested version to the storage version. */
export function toStored(at: At, draft: Draft): Draft {
  const { resource, version } = at;
  if (version === resource.stored) return draft;
  if (version.convert) return mutableCopy(version.convert.toStored(draft as KubeObject)) as Draft;
  draft.apiVersion = apiVersionOf(resource.group, resource.stored.version);
  return draft;
}

const cannotHandle = (at: At, why: string) =>
  badRequest(
    `${at.resource.kind} in version "${at.version.version}" cannot be handled as a ${at.resource.kind}: ${why}`,
  );

function checkType({ resource, version }: At, body: unknown): Draft {
  const text = () => JSON.stringify(body);
  const expected = apiVersionOf(resource.group, version.version);
  if (!isObject(body)) {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${resource.kind}): couldn't get version/kind; json parse error: the body is not an object (${text()})`,
    );
  }
  const { apiVersion, kind } = body;
  if (resource.custom) {
    if (typeof kind !== 'string' || kind === '') {
      throw badRequest(
        `the object provided is unrecognized (must be of type ${resource.kind}): Object 'Kind' is missing in '${text()}' (${text()})`,
      );
    }
    if (apiVersion !== expected) {
      throw badRequest(
        `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
      );
    }
    if (kind !== resource.kind) {
      const name = isObject(body['metadata']) ? String(body['metadata']['name'] ?? '') : '';
      throw invalid({ group: resource.group, kind }, name, [invalidValue('kind', kind, `must be ${resource.kind}`)]);
    }
  } else {
    if (apiVersion !== undefined && apiVersion !== '' && apiVersion !== expected) {
      throw badRequest(
        `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
      );
    }
    if (kind !== undefined && kind !== '' && kind !== resource.kind) {
      throw badRequest(
        `${kind} in version "${version.version}" cannot be handled as a ${resource.kind}: the URL names ${resource.plural}`,
      );
    }
  }
  // A parsed body is ours; a frozen one (from the direct transport) is shared.
  const own: Readonly<Record<string, unknown>> = Object.isFrozen(body) ? mutableCopy(body) : body;
  const stated = (isObject(own['metadata']) ? own['metadata'] : {}) as Draft['metadata'];
  if (resource.custom) {
    emptyForNull(stated);
    dropEmpty(stated);
  }
  const draft = { apiVersion: expected, kind: resource.kind, metadata: stated };
  // One by one: a rest pattern takes quadratic time for hundreds of thousands of fields.
  for (const key of Object.keys(own)) if (!HEAD.has(key)) setField(draft, key, own[key]);
  return draft;
}

/** These fields come first, in this order. */
const HEAD: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** A null label or annotation becomes empty, as built-in kinds decode it, too. */
function emptyForNull({ labels, annotations }: Draft['metadata']): void {
  for (const map of [labels, annotations] as readonly (Record<string, string | null> | undefined)[]) {
    if (isObject(map)) for (const key in map) if (map[key] === null) map[key] = '';
  }
}

/**
 * An empty or null map or list in the metadata of a custom object counts as absent, as a real server decodes it: for
 * example, it does not reset owners.
 */
function dropEmpty(metadata: Draft['metadata']): void {
  for (const field of [...METADATA_FIELDS, 'managedFields'] as const) {
    const value: object | null | undefined = metadata[field];
    if (value === null || (typeof value === 'object' && Object.keys(value).length === 0)) delete metadata[field];
  }
}

/** A JSON patch is a list. */
const repetitionText = (path: string): string =>
  `${path.startsWith('[') ? 'json patch ' : ''}duplicate field "${path}"`;

const unknownFields = (at: At, draft: Draft, caller: Caller): string | undefined =>
  unknownFieldsIn(at.version.structure, draft, caller);

/** The paths that are neither in the set nor below a path of it. A client may send many of both. */
function outside(paths: ReadonlySet<string>, candidates: readonly string[]): readonly string[] {
  const isInside = (path: string) => {
    for (let end = path.indexOf('.'); end >= 0; end = path.indexOf('.', end + 1))
      if (paths.has(path.slice(0, end))) return true;
    return paths.has(path);
  };
  return candidates.filter((path) => !isInside(path));
}

/**
 * The error of strict decoding for unknown fields; in other modes they are dropped, with a warning if the caller wants
 * one.
 */
export function unknownFieldsIn(structure: Pick<Structure, 'prune'>, draft: Draft, caller: Caller): string | undefined {
  const unknown = structure.prune(draft);
  if (caller.fieldValidation === 'Ignore') return undefined;
  const repeated = outside(new Set(unknown), caller.repeatedFields ?? []);
  if (unknown.length + repeated.length === 0) return undefined;
  const texts = [...repeated.map(repetitionText), ...unknown.map((path) => `unknown field "${path}"`)];
  if (caller.fieldValidation === 'Strict') return `strict decoding error: ${texts.join(', ')}`;
  for (const text of texts) caller.warn(text);
  return undefined;
}
