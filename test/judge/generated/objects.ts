// Objects of built-in kinds with something left out, added or odd: an object that a real server took, changed in one to three places by
// what the facts say may stand there.
import { readFileSync } from 'node:fs';
import { jsonFields, type TypeFact } from '../../../src/api/builtin/facts.ts';
import { builtinKinds } from '../../../src/api/builtin/kinds.ts';
import { typeNameOf } from '../../../src/api/builtin/types.ts';
import { groupVersionOf, type KubeObject } from '../../../src/api/object.ts';
import { isObject, mutableCopy } from '../../../src/base/json.ts';
import { type Dice, diceOf } from './dice.ts';
import { isWanted, someValue } from './values.ts';

export interface Generated {
  readonly seed: number;
  /** The collection to post to. */
  readonly path: string;
  readonly object: KubeObject;
  /** What was done to it, for a person who looks at a difference. */
  readonly edits: readonly string[];
}

const fixtures = new URL('../../../src/apiserver/builtin/fixtures/defaults.json', import.meta.url);

/** Objects that a real server takes. */
export const samples = (namespace: string): readonly KubeObject[] =>
  (
    JSON.parse(readFileSync(fixtures, 'utf8').replaceAll('flotilla-capture', namespace)) as readonly {
      readonly input: KubeObject;
    }[]
  ).map(({ input }) => input);

export function collectionOf({ apiVersion, kind }: KubeObject, namespace: string): string {
  const { group } = groupVersionOf(apiVersion);
  const found = builtinKinds.find((each) => each.group === group && each.kind === kind);
  if (found === undefined) throw new Error(`${apiVersion} ${kind} is not built in`);
  const base = group === '' ? `/api/${apiVersion}` : `/apis/${apiVersion}`;
  return found.namespaced ? `${base}/namespaces/${namespace}/${found.plural}` : `${base}/${found.plural}`;
}

interface Place {
  readonly at: string;
  readonly value: Record<string, unknown>;
  readonly type: string;
}

/** Every struct inside of an object, with its type. */
function places(value: unknown, type: TypeFact, at: string): readonly Place[] {
  if (type.form === 'list' && Array.isArray(value)) {
    return value.flatMap((item, index) => places(item, type.of, `${at}[${index}]`));
  }
  if (type.form === 'map' && isObject(value)) {
    return Object.entries(value).flatMap(([key, item]) => places(item, type.of, `${at}.${key}`));
  }
  if (type.form !== 'struct' || !isObject(value)) return [];
  const inner = jsonFields(type.name)
    .filter(isWanted(type.name))
    .flatMap((field) => places(value[field.name], field.type, `${at}.${field.name}`));
  return [{ at, value, type: type.name }, ...inner];
}

const IDENTITY: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

function edit(object: KubeObject, dice: Dice): string {
  const { group, version } = groupVersionOf(object.apiVersion);
  const type: TypeFact = { form: 'struct', name: typeNameOf(group, version, object.kind) as string };
  const { at, value, type: name } = dice.pick(places(object, type, ''));
  // What an object is stays what it is.
  const fields = jsonFields(name).filter((field) => isWanted(name)(field) && !(at === '' && IDENTITY.has(field.name)));
  const present = fields.filter((field) => Object.hasOwn(value, field.name));
  if (present.length > 0 && dice.chance(25)) {
    const field = dice.pick(present);
    delete value[field.name];
    return `without ${at}.${field.name}`;
  }
  if (dice.chance(3)) {
    value['unknownField'] = 1;
    return `${at}.unknownField`;
  }
  const field = dice.pick(present.length > 0 && dice.chance(50) ? present : fields);
  value[field.name] = someValue(field.type, { field: field.name, depth: 0 }, dice);
  return `${at}.${field.name} = ${JSON.stringify(value[field.name])}`;
}

/** Deterministic by seed. */
export function generate(seed: number, from: readonly KubeObject[], namespace: string): Generated {
  const dice = diceOf(seed);
  const object = mutableCopy(dice.pick(from)) as KubeObject;
  const path = collectionOf(object, namespace);
  const edits = Array.from({ length: dice.pick([1, 1, 1, 2, 3]) }, () => edit(object, dice));
  return { seed, path, object, edits };
}
