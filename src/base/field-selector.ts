// Field selectors: `metadata.name=web,involvedObject.namespace=,status.phase!=Running`. Each kind defines its fields.
import { ApiError } from './errors.ts';

export interface FieldTerm {
  readonly field: string;
  readonly equal: boolean;
  readonly value: string;
}

const LONGEST_SELECTOR = 65_536;

const refusal = (message: string): ApiError => new ApiError(400, 'BadRequest', message);

/**
 * The terms of a `fieldSelector` query, all of which must match. Throws ApiError 400 with the message of Kubernetes.
 */
export function parseFieldSelector(text: string): readonly FieldTerm[] {
  if (text.length > LONGEST_SELECTOR) throw refusal(`the selector is longer than ${LONGEST_SELECTOR} characters`);
  const terms: FieldTerm[] = [];
  // A backslash escapes the next character, so an escaped comma does not end a term. Sorted, so that the reported error
  // does not depend on the order of the terms.
  for (const part of (text.match(/(?:\\[\s\S]?|[^\\,])+/g) ?? []).sort()) {
    const split = /!=|==?/.exec(part);
    if (split === null) throw refusal(`invalid selector: '${text}'; can't understand '${part}'`);
    const [operator] = split;
    terms.push({
      field: part.slice(0, split.index),
      equal: operator !== '!=',
      value: unescaped(part.slice(split.index + operator.length)),
    });
  }
  return terms;
}

function unescaped(value: string): string {
  if (!/[\\=]/.test(value)) return value;
  let result = '';
  for (let i = 0; i < value.length; i++) {
    const character = value.charAt(i);
    if (character === '=') {
      throw refusal(`invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`);
    }
    if (character !== '\\') {
      result += character;
      continue;
    }
    const next = value.charAt(++i);
    if (next === '' || !'\\,='.includes(next)) {
      throw refusal(`invalid field selector: invalid escape sequence: \\${next}`);
    }
    result += next;
  }
  return result;
}

/** Readers of the fields; an absent field reads as the empty string. */
export type FieldReaders<T> = Readonly<Record<string, (object: T) => string>>;

export type CompiledFields<T> =
  | { readonly matches: (object: T) => boolean; readonly unknownField?: undefined }
  | { readonly unknownField: string };

/** Binds terms to a kind's fields. Returns the name of an unsupported field, for the caller's error. */
export function compileFields<T>(terms: readonly FieldTerm[], readers: FieldReaders<T>): CompiledFields<T> {
  const tests: ((object: T) => boolean)[] = [];
  for (const { field, equal, value } of terms) {
    const read = Object.hasOwn(readers, field) ? readers[field] : undefined;
    if (read === undefined) return { unknownField: field };
    tests.push((object) => (read(object) === value) === equal);
  }
  const [only] = tests;
  if (only === undefined) return { matches: () => true };
  if (tests.length === 1) return { matches: only };
  return {
    matches: (object) => {
      for (const test of tests) if (!test(object)) return false;
      return true;
    },
  };
}
