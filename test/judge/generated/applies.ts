// Generated writes of several managers to one object, its status and its scale: creations, applied configurations, updates and patches of every type.
import { apiVersionOf, type KubeObject } from '../../../src/api/object.ts';
import { isObject, type Json } from '../../../src/base/json.ts';
import { APPLY, JSON_PATCH, MERGE, STRATEGIC } from '../scripts/requests.ts';
import { type AppliedKind, type Fields, maybe, words } from './applied-kinds.ts';
import type { Dice } from './dice.ts';

const MANAGERS = ['alpha', 'beta', 'kubectl'] as const;

export interface GeneratedWrite {
  readonly method: 'POST' | 'PUT' | 'PATCH';
  readonly version: string;
  readonly subresource: Subresource;
  readonly type?: string;
  readonly query: string;
  /** By the object, or its scale, as the server that is asked has it: an update carries that server's identities. */
  body(live: KubeObject | undefined): unknown;
}

type Subresource = '' | 'status' | 'scale';

export interface Target {
  readonly kind: AppliedKind;
  readonly name: string;
  readonly exists: boolean;
}

export function generateWrite(dice: Dice, target: Target): GeneratedWrite {
  const { kind, exists } = target;
  const version = dice.pick(kind.versions);
  const dryRun = dice.chance(5) ? '&dryRun=All' : '';
  const query = `fieldManager=${dice.pick(MANAGERS)}${dryRun}`;
  const write = { version, query };
  if (!exists && dice.chance(40))
    return { ...write, method: 'POST', subresource: '', ...created(dice, target, version) };
  const isApply = dice.chance(exists ? 45 : 75);
  const subresource = exists ? subresourceOf(dice, kind) : '';
  const stated = statedBy(dice, target, version, subresource);
  if (isApply) {
    return {
      method: 'PATCH',
      type: APPLY,
      version,
      subresource,
      query: `${query}${dice.chance(35) ? '&force=true' : ''}`,
      body: () => stated,
    };
  }
  if (dice.chance(45)) return { ...write, method: 'PUT', subresource, body: updated(dice, stated) };
  return { ...write, method: 'PATCH', subresource, ...patched(dice, subresource, stated) };
}

function subresourceOf(dice: Dice, { subresources }: AppliedKind): Subresource {
  const drawn = dice.below(100);
  if (drawn < subresources.status) return 'status';
  return drawn < subresources.status + subresources.scale ? 'scale' : '';
}

type Stated = Fields & { readonly metadata: Fields };

function statedBy(dice: Dice, target: Target, version: string, subresource: Subresource): Stated {
  const { kind, name } = target;
  if (subresource === 'scale') {
    const spec = maybe(dice, 'replicas', () => dice.below(4), 90);
    return { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name }, spec };
  }
  const isStatus = subresource === 'status';
  const metadata = {
    name,
    ...maybe(dice, 'labels', () => words(dice), isStatus ? 20 : 50),
    ...maybe(dice, 'annotations', () => words(dice), 20),
  };
  const content = { ...(isStatus && dice.chance(80) ? {} : kind.content(dice)) };
  const status = maybe(dice, 'status', () => kind.status(dice), isStatus ? 100 : 10);
  return { apiVersion: apiVersionOf(kind.group, version), kind: kind.kind, metadata, ...content, ...status };
}

function created(dice: Dice, target: Target, version: string): Pick<GeneratedWrite, 'body'> {
  const stated = statedBy(dice, target, version, '');
  return { body: () => stated };
}

const STALE = '1';

/** The owners that a client sends back: as it read them, none, a reset of either form, or only those that applied. */
const OWNERS: readonly ((read: unknown) => unknown)[] = [
  ...Array.from({ length: 12 }, () => (read: unknown) => read),
  () => undefined,
  () => undefined,
  () => [],
  () => [{}],
  (read) => (Array.isArray(read) ? read.filter((entry) => isObject(entry) && entry['operation'] === 'Apply') : read),
];

/** What was read with what is stated, or only what is stated. */
function updated(dice: Dice, stated: Stated): GeneratedWrite['body'] {
  if (dice.chance(25)) return () => stated;
  const owners = dice.pick(OWNERS);
  const isStale = dice.chance(8);
  return (live) => {
    if (live === undefined) return stated;
    const { metadata, ...rest } = stated;
    const { managedFields, ...read } = { ...live.metadata, ...metadata };
    const left = owners(managedFields);
    const result: Record<string, unknown> = {
      ...live,
      metadata: {
        ...read,
        ...(left === undefined ? {} : { managedFields: left }),
        ...(isStale ? { resourceVersion: STALE } : {}),
      },
    };
    for (const [field, value] of Object.entries(rest)) {
      const before = result[field];
      result[field] = field === 'spec' && isObject(before) && isObject(value) ? { ...before, ...value } : value;
    }
    return result;
  };
}

function patched(dice: Dice, subresource: Subresource, stated: Stated): Pick<GeneratedWrite, 'type' | 'body'> {
  const { apiVersion: _apiVersion, kind: _kind, metadata, ...content } = stated;
  const { name: _name, ...said } = metadata;
  const merged = { ...(Object.keys(said).length === 0 ? {} : { metadata: said }), ...content };
  if (dice.chance(60)) return { type: MERGE, body: () => merged };
  if (dice.chance(40)) return { type: STRATEGIC, body: () => merged };
  const places: readonly (readonly [string, Json])[] =
    subresource === 'scale'
      ? [['/spec/replicas', dice.below(4)]]
      : [
          ['/metadata/labels', words(dice)],
          ['/metadata/annotations', words(dice)],
          ...(subresource === 'status' ? [['/status', stated['status'] as Json] as const] : []),
        ];
  const [path, value] = dice.pick(places);
  const op = dice.chance(80) ? 'add' : 'remove';
  return { type: JSON_PATCH, body: () => [{ op, path, value }] };
}
