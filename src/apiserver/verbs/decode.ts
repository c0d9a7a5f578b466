// From the body of a write to a private draft in the stored version: is it the kind that the URL names, do its values have the right
// types, which of its fields are unknown.
import { apiVersionOf, type KubeObject } from '../../api/object.ts';
import { badRequest, invalid, invalidValue } from '../../api/status.ts';
import { isObject, mutableCopy } from '../../base/json.ts';
import { goText } from '../patch/json-kind.ts';
import type { Draft, Structure } from '../registry.ts';
import { METADATA_FIELDS } from '../status-keeps.ts';
import type { At, Caller } from './call.ts';
import type { Patch } from './patched.ts';

/** Checks a create or update body. Unknown fields are refused, warned of or dropped, as the caller asked. */
export function decodeBody(at: At, body: unknown, caller: Caller): Draft {
  const draft = checkType(at, body);
  const wrongType = at.version.structure.decodeError(draft);
  if (wrongType !== undefined) throw cannotHandle(at, wrongType);
  const unknown = unknownFields(at, draft, caller);
  if (unknown !== undefined) throw cannotHandle(at, unknown);
  return draft;
}

/**
 * The same for the outcome of a patch. A real server words the refusal around the patched object, or around a strategic patch itself, in
 * the way its language prints it.
 */
export function decodePatched(at: At, patched: unknown, asked: Patch, caller: Caller): Draft {
  const refuse = (why: string) => {
    const text = asked.type === 'strategic' ? goText(asked.body) : JSON.stringify(patched);
    return invalid({ group: '', kind: '' }, '', [invalidValue('patch', text, why)]);
  };
  if (!isObject(patched)) throw refuse('not an object');
  // Patches share what they did not touch with the stored object, which is frozen.
  const draft = checkType(at, mutableCopy(patched));
  const wrongType = at.version.structure.decodeError(draft);
  if (wrongType !== undefined) throw refuse(wrongType);
  const unknown = unknownFields(at, draft, caller);
  if (unknown !== undefined) throw refuse(unknown);
  return draft;
}

/** Turns a draft of the requested version into one of the stored version. */
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
  // A body that was just parsed belongs to us; a frozen one (from the direct transport) is shared.
  const own: Readonly<Record<string, unknown>> = Object.isFrozen(body) ? mutableCopy(body) : body;
  const { apiVersion: _a, kind: _k, metadata, ...rest } = own;
  const stated = (isObject(metadata) ? metadata : {}) as Draft['metadata'];
  if (resource.custom) {
    emptyForNull(stated);
    dropEmpty(stated);
  }
  return { apiVersion: expected, kind: resource.kind, metadata: stated, ...rest };
}

/** A label or annotation that is null is an empty one: so built-in kinds decode it, too. */
function emptyForNull({ labels, annotations }: Draft['metadata']): void {
  for (const map of [labels, annotations] as readonly (Record<string, string | null> | undefined)[]) {
    if (isObject(map)) for (const key in map) if (map[key] === null) map[key] = '';
  }
}

/** A map or list of metadata that is empty or null counts as absent where a real server decodes a custom object: it resets no owners, for one. */
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

/** What strict decoding says of fields that the structure does not know; otherwise they are dropped, with a warning if the caller wants one. */
export function unknownFieldsIn(structure: Pick<Structure, 'prune'>, draft: Draft, caller: Caller): string | undefined {
  const unknown = structure.prune(draft);
  if (caller.fieldValidation === 'Ignore') return undefined;
  const isUnknown = (path: string) => unknown.some((each) => path === each || path.startsWith(`${each}.`));
  const repeated = (caller.repeatedFields ?? []).filter((path) => !isUnknown(path));
  if (unknown.length + repeated.length === 0) return undefined;
  const texts = [...repeated.map(repetitionText), ...unknown.map((path) => `unknown field "${path}"`)];
  if (caller.fieldValidation === 'Strict') return `strict decoding error: ${texts.join(', ')}`;
  for (const text of texts) caller.warn(text);
  return undefined;
}
