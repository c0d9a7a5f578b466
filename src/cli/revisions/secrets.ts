// Which values belong to a Secret, also in an envelope: commands do not print them. Pure.
import { envelopeIn } from '../../api/enveloped.ts';
import type { KubeObject } from '../../api/object.ts';
import { isObject, type Json } from '../../base/json.ts';
import type { FieldChange } from './object-diff.ts';

const isSecret = (object: unknown): boolean => isObject(object) && object['kind'] === 'Secret';

/** `mask` for a value that differs from that of the other object, `***` for one that does not. */
export function withMaskedSecrets(
  object: KubeObject | undefined,
  other: KubeObject | undefined,
  mask: string,
): object | undefined {
  if (object === undefined) return undefined;
  if (isSecret(object)) return masked(object, other, mask);
  const envelope = envelopeIn(object);
  if (envelope === undefined) return object;
  const others = new Map((other && envelopeIn(other))?.entries.map((entry) => [entry.key, entry.object]));
  const entries = envelope.entries
    .filter((entry) => isSecret(entry.object))
    .map((entry) => [entry.key, masked(entry.object, others.get(entry.key), mask)]);
  return { ...object, data: { ...(object['data'] as object), ...Object.fromEntries(entries) } };
}

function masked(secret: KubeObject, other: KubeObject | undefined, mask: string): object {
  const hide = (field: 'data' | 'stringData') => {
    const [own, theirs] = [secret[field], isObject(other) ? other[field] : undefined];
    if (!isObject(own)) return {};
    const isSame = (key: string) => !isObject(theirs) || !Object.hasOwn(theirs, key) || theirs[key] === own[key];
    const mark = (key: string) => (isSame(key) ? '***' : mask);
    return { [field]: Object.fromEntries(Object.keys(own).map((key) => [key, mark(key)])) };
  };
  return { ...secret, ...hide('data'), ...hide('stringData') };
}

/** If an entry is removed, or becomes another kind, the former value may belong to a Secret. */
export function isOfSecret(object: KubeObject, fields: readonly FieldChange[], { path, before }: FieldChange): boolean {
  if (isSecret(object)) return true;
  const [field, key = '', name] = path;
  const envelope = field === 'data' ? envelopeIn(object) : undefined;
  if (envelope === undefined) return false;
  const entry = envelope.entries.find((each) => each.key === key)?.object;
  const isOtherKind = fields.some((each) => each.path[1] === key && each.path[2] === 'kind');
  return entry === undefined || isSecret(entry) || isOtherKind || (name === undefined && namesSecret(before));
}

/** The text of a ConfigMap, or an object. */
const namesSecret = (value: Json | undefined): boolean => JSON.stringify(value ?? '').includes('Secret');
