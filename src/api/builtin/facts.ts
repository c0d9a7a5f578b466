// Reads the table of facts about Kubernetes' own types: fields, their JSON names, protobuf numbers, markers. The
// schemas, the protobuf decoder and the shape of typed objects are derived from it.
//
// The table maps a package to its types. A type has fields (`f`), or is a list with its own protobuf message (`i`), a
// string with known values (`e`) or a type with its own JSON form (`s`); `a` = atomic for apply, `n` = a resource,
// namespaced or not. A field is one string: name, protobuf number (0 = not on the wire), type, then optional flags and
// markers:
//   flags    * pointer   ? omitempty   0 omitzero   ! required
//   markers  t list type   k list map keys   a map type   s patch strategy   m patch merge key   d default
// The name `.` means that the fields of the type are inlined. Types: `[]x` list, `{}x` map, a scalar, or the name of a
// type, in the same package if it has no dots.
import { lazy, lazyByText } from '../../base/lazy.ts';
import { factsJson } from './facts.generated.ts';

export type Scalar = 'string' | 'bool' | 'int32' | 'int64' | 'float64' | 'bytes';

/** A type whose JSON form does not follow from its fields. */
export type Special =
  | 'Quantity'
  | 'IntOrString'
  | 'Time'
  | 'MicroTime'
  | 'FieldsV1'
  | 'RawExtension'
  | 'JSON'
  | 'JSONSchemaPropsOrArray'
  | 'JSONSchemaPropsOrBool'
  | 'JSONSchemaPropsOrStringArray';

export type TypeFact =
  | { readonly form: 'scalar'; readonly scalar: Scalar; readonly values?: readonly string[] }
  /** A list that is encoded in protobuf as a message with one repeated field. Otherwise it is a list like others. */
  | { readonly form: 'list'; readonly of: TypeFact; readonly wrapped: boolean }
  | { readonly form: 'map'; readonly of: TypeFact }
  | { readonly form: 'special'; readonly special: Special; readonly name: string }
  | { readonly form: 'struct'; readonly name: string };

export interface FieldFact {
  /** The JSON name. An inlined field has none. */
  readonly name: string;
  readonly inline: boolean;
  /** The protobuf number; 0 = not on the wire. */
  readonly number: number;
  readonly type: TypeFact;
  readonly pointer: boolean;
  readonly omitEmpty: boolean;
  readonly omitZero: boolean;
  readonly required: boolean;
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly listMapKeys?: readonly string[];
  readonly mapType?: 'atomic' | 'granular';
  readonly patchStrategy?: string;
  readonly patchMergeKey?: string;
  readonly default?: unknown;
}

export interface StructFact {
  readonly name: string;
  readonly fields: readonly FieldFact[];
  readonly atomic: boolean;
}

interface Entry {
  readonly f?: readonly string[];
  readonly e?: readonly string[];
  readonly i?: string;
  readonly s?: true;
  readonly a?: true;
  readonly n?: 'y' | 'n';
}

const table = lazy(() => {
  const byName = new Map<string, { readonly pack: string; readonly short: string; readonly entry: Entry }>();
  const packages = JSON.parse(factsJson) as Record<string, Record<string, Entry>>;
  for (const [pack, types] of Object.entries(packages)) {
    for (const [short, entry] of Object.entries(types)) byName.set(`${pack}.${short}`, { pack, short, entry });
  }
  return byName;
});

/**
 * Names of all types with their own protobuf message, such as `io.k8s.api.core.v1.PodSpec`; enumerations and lists are
 * excluded.
 */
export const typeNames = lazy((): readonly string[] =>
  [...table()].filter(([, { entry }]) => entry.e === undefined && entry.i === undefined).map(([name]) => name),
);

/** For types that are resources: whether they are namespaced. */
export function isNamespaced(name: string): boolean | undefined {
  const scope = table().get(name)?.entry.n;
  return scope === undefined ? undefined : scope === 'y';
}

/** The type of this name; undefined = there is none. */
export function typeFact(name: string): TypeFact | undefined {
  const found = table().get(name);
  if (found === undefined) return undefined;
  const { pack, short, entry } = found;
  if (entry.s) return { form: 'special', special: short as Special, name };
  if (entry.e) return { form: 'scalar', scalar: 'string', values: entry.e };
  if (entry.i !== undefined) return { form: 'list', of: parseType(entry.i, pack), wrapped: true };
  return { form: 'struct', name };
}

/** The fields of a struct as in the Go type: inlined ones are not merged. Throws for any other name. */
export const structFact: (name: string) => StructFact = lazyByText((name) => {
  const found = table().get(name);
  if (found === undefined || found.entry.s || found.entry.e || found.entry.i !== undefined) {
    throw new Error(`the table of facts has no struct ${name}`);
  }
  const fields = (found.entry.f ?? []).map((text) => parseField(text, found.pack));
  return { name, fields, atomic: found.entry.a === true };
});

/** The fields of a JSON object of the type, with inlined fields in place of the struct that contains them. */
export const jsonFields: (name: string) => readonly FieldFact[] = lazyByText((name) =>
  structFact(name).fields.flatMap((field) =>
    field.inline && field.type.form === 'struct' ? jsonFields(field.type.name) : [field],
  ),
);

const scalars: ReadonlySet<string> = new Set<Scalar>(['string', 'bool', 'int32', 'int64', 'float64', 'bytes']);

function parseType(text: string, pack: string): TypeFact {
  if (text.startsWith('[]')) return { form: 'list', of: parseType(text.slice(2), pack), wrapped: false };
  if (text.startsWith('{}')) return { form: 'map', of: parseType(text.slice(2), pack) };
  if (scalars.has(text)) return { form: 'scalar', scalar: text as Scalar };
  const name = text.includes('.') ? text : `${pack}.${text}`;
  const found = typeFact(name);
  if (found === undefined) throw new Error(`the table of facts refers to ${name} and lacks it`);
  return found;
}

function parseField(text: string, pack: string): FieldFact {
  const [name = '', number = '', type = '', ...rest] = text.split(' ');
  let flags = '';
  const markers: Partial<Record<string, string>> = {};
  for (const word of rest) {
    if (word[1] === '=' && word[0] !== undefined) markers[word[0]] = word.slice(2);
    else flags = word;
  }
  return {
    name: name === '.' ? '' : name,
    inline: name === '.',
    number: Number(number),
    type: parseType(type, pack),
    pointer: flags.includes('*'),
    omitEmpty: flags.includes('?'),
    omitZero: flags.includes('0'),
    required: flags.includes('!'),
    ...(markers['t'] === undefined ? {} : { listType: markers['t'] as 'atomic' | 'set' | 'map' }),
    ...(markers['k'] === undefined ? {} : { listMapKeys: markers['k'].split(',') }),
    ...(markers['a'] === undefined ? {} : { mapType: markers['a'] as 'atomic' | 'granular' }),
    ...(markers['s'] === undefined ? {} : { patchStrategy: markers['s'] }),
    ...(markers['m'] === undefined ? {} : { patchMergeKey: markers['m'] }),
    ...(markers['d'] === undefined ? {} : { default: JSON.parse(markers['d']) as unknown }),
  };
}
