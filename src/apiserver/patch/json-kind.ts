// Values in the terms of Kubernetes' decoder, for error messages.
import { isObject, type Json } from '../../base/json.ts';

/** object, array, string, number, bool or null. */
export function jsonKind(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

const LONGEST_SHOWN = 2000;

/**
 * A value as Go prints it: `map[image:y name:c]`, keys sorted. Long values are truncated, because an error message
 * should not contain a whole object.
 */
export function goText(value: unknown): string {
  const text = goValue(value, 0);
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}

function goValue(value: unknown, depth: number): string {
  if (depth > 20) return '…';
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map((item) => goValue(item, depth + 1)).join(' ')}]`;
  if (isObject(value)) {
    const fields = Object.keys(value).sort();
    return `map[${fields.map((key) => `${key}:${goValue(value[key], depth + 1)}`).join(' ')}]`;
  }
  return String(value);
}
