// The fields in which two objects differ, each with both values: pure, sorted by path. Values are text; scalars are
// printed bare, as in KubeFleet.
// Differs from KubeFleet: maps and lists are compact JSON, integers are plain, each missing list entry has its own
// index and value, and long values are truncated.
import { emptyIsEqual, isSame, ruleOf, type Shape } from '../../api/builtin/three-way.ts';
import type { FieldDifference } from '../../api/selected-resource.ts';
import { canonicalJson, isObject, type Json, type JsonObject } from '../../base/json.ts';

export const MAX_DETAILS = 100;
const MAX_VALUE = 1024;
const MAX_PATH = 1024;

export function differences(hub: JsonObject, member: JsonObject, shape: Shape): readonly FieldDifference[] {
  const found: FieldDifference[] = [];
  maps(found, '', { hub, member }, shape);
  return found.slice(0, MAX_DETAILS);
}

interface Sides<T> {
  readonly hub: T;
  readonly member: T;
}

function maps(found: FieldDifference[], path: string, { hub, member }: Sides<JsonObject>, shape: Shape): void {
  const keys = [...new Set([...Object.keys(hub), ...Object.keys(member)])].sort();
  for (const key of keys) {
    // Further differences would be cut anyway.
    if (found.length >= MAX_DETAILS) return;
    const rule = ruleOf(shape, key);
    const [a, b] = [own(hub, key), own(member, key)];
    if (emptyIsEqual(rule, a, b)) continue;
    values(found, `${path}/${escaped(key)}`, { hub: a, member: b }, rule.shape);
  }
}

function values(found: FieldDifference[], path: string, { hub, member }: Sides<Json | undefined>, shape: Shape): void {
  if (hub === undefined && member === undefined) return;
  if (hub === undefined || member === undefined) found.push(detail(path, hub, member));
  else if (isObject(hub) && isObject(member))
    maps(found, path, { hub: hub as JsonObject, member: member as JsonObject }, shape);
  else if (Array.isArray(hub) && Array.isArray(member)) lists(found, path, { hub, member }, shape);
  else if (!isSame(hub, member, shape)) found.push(detail(path, hub, member));
}

function lists(found: FieldDifference[], path: string, { hub, member }: Sides<readonly Json[]>, shape: Shape): void {
  for (let at = member.length; at < hub.length && found.length < MAX_DETAILS; at++)
    found.push(detail(`${path}/${at}`, hub[at], undefined));
  for (let at = 0; at < Math.min(hub.length, member.length) && found.length < MAX_DETAILS; at++)
    values(found, `${path}/${at}`, { hub: hub[at], member: member[at] }, shape);
  for (let at = hub.length; at < member.length && found.length < MAX_DETAILS; at++)
    found.push(detail(`${path}/-`, undefined, member[at]));
}

const detail = (path: string, hub: Json | undefined, member: Json | undefined): FieldDifference => ({
  path: cut(path, MAX_PATH),
  ...(hub === undefined ? {} : { valueInHub: printed(hub) }),
  ...(member === undefined ? {} : { valueInMember: printed(member) }),
});

function printed(value: Json): string {
  if (value === null) return '<nil>';
  return cut(typeof value === 'object' ? canonicalJson(value) : String(value), MAX_VALUE);
}

const cut = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max - 1)}…`);
const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

const own = (object: JsonObject, key: string): Json | undefined => {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  return value === null ? undefined : value;
};
