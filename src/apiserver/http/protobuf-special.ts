// Types whose JSON does not match their protobuf fields: quantities, times, int-or-string, raw JSON, and fields that
// can be a schema or another value. Each has its protobuf fields, and a function from those to its JSON.
import type { FieldFact, Special, TypeFact } from '../../api/builtin/facts.ts';
import { kubeTime } from '../../base/clock.ts';
import { isNestedDeeper, MAX_DEPTH } from '../../base/json-nesting.ts';
import { canonicalQuantity, quantityError } from '../../base/quantity.ts';
import { malformed } from './protobuf-wire.ts';

/** The fields that a special message contained. */
export type Parts = Readonly<Record<string, unknown>>;

export interface SpecialForm {
  readonly fields: ReadonlyMap<number, FieldFact>;
  toJson(parts: Parts): unknown;
}

const field = (name: string, number: number, type: TypeFact): [number, FieldFact] => [
  number,
  { name, number, type, inline: false, pointer: true, omitEmpty: true, omitZero: false, required: false },
];

const scalar = (of: 'string' | 'bool' | 'int32' | 'int64' | 'bytes'): TypeFact => ({ form: 'scalar', scalar: of });
const listOf = (of: TypeFact): TypeFact => ({ form: 'list', of, wrapped: false });
const schema: TypeFact = {
  form: 'struct',
  name: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps',
};

const secondsAndNanos = new Map([field('seconds', 1, scalar('int64')), field('nanos', 2, scalar('int32'))]);
const rawBytes = new Map([field('raw', 1, scalar('bytes'))]);

const LATEST_SECOND = 253_402_300_799; // the last second of the year 9999
const EARLIEST_SECOND = -62_135_596_800; // the first second of the year 1, which is the zero time of Go

/** undefined = no time. */
function secondsOf(parts: Parts): number | undefined {
  if (parts['seconds'] === undefined && parts['nanos'] === undefined) return undefined;
  const seconds = (parts['seconds'] ?? 0) as number;
  if (seconds > LATEST_SECOND || seconds < EARLIEST_SECOND) throw malformed('a moment is out of range');
  return seconds === EARLIEST_SECOND ? undefined : seconds;
}

function microTime(parts: Parts): string | null {
  const seconds = secondsOf(parts);
  const nanos = (parts['nanos'] ?? 0) as number;
  if (nanos < 0 || nanos > 999_999_999) throw malformed('a moment is out of range');
  if (seconds === undefined) return null;
  const digits = String(Math.floor(nanos / 1000)).padStart(6, '0');
  return `${kubeTime(seconds * 1000).slice(0, -1)}.${digits}Z`;
}

function quantity(parts: Parts): string {
  const text = (parts['string'] ?? '') as string;
  const refusal = quantityError(text);
  if (refusal !== undefined) throw malformed(refusal);
  return canonicalQuantity(text);
}

function intOrString(parts: Parts): unknown {
  const type = parts['type'] ?? 0;
  if (type === 0) return parts['intVal'] ?? 0;
  if (type === 1) return parts['strVal'] ?? '';
  throw malformed('a value is neither a number nor a string');
}

function json(parts: Parts): unknown {
  const text = Buffer.from((parts['raw'] ?? '') as string, 'base64').toString('utf8');
  if (text === '') return null;
  if (isNestedDeeper(text, MAX_DEPTH)) throw malformed('JSON inside of it is nested too deeply');
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw malformed('a part that should be JSON is not');
  }
}

const orSchema = (parts: Parts): unknown => parts['schema'] ?? null;

export const specialForms: Readonly<Record<Special, SpecialForm>> = {
  Quantity: { fields: new Map([field('string', 1, scalar('string'))]), toJson: quantity },
  IntOrString: {
    fields: new Map([
      field('type', 1, scalar('int64')),
      field('intVal', 2, scalar('int32')),
      field('strVal', 3, scalar('string')),
    ]),
    toJson: intOrString,
  },
  Time: {
    fields: secondsAndNanos,
    toJson(parts) {
      const seconds = secondsOf(parts);
      return seconds === undefined ? null : kubeTime(seconds * 1000);
    },
  },
  MicroTime: { fields: secondsAndNanos, toJson: microTime },
  FieldsV1: { fields: rawBytes, toJson: json },
  RawExtension: { fields: rawBytes, toJson: json },
  JSON: { fields: rawBytes, toJson: json },
  JSONSchemaPropsOrArray: {
    fields: new Map([field('schema', 1, schema), field('list', 2, listOf(schema))]),
    toJson: (parts) => parts['list'] ?? orSchema(parts),
  },
  JSONSchemaPropsOrBool: {
    fields: new Map([field('allows', 1, scalar('bool')), field('schema', 2, schema)]),
    toJson: (parts) => parts['schema'] ?? parts['allows'] ?? false,
  },
  JSONSchemaPropsOrStringArray: {
    fields: new Map([field('schema', 1, schema), field('list', 2, listOf(scalar('string')))]),
    toJson: (parts) => parts['list'] ?? orSchema(parts),
  },
};
