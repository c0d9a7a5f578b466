// A placement whose revisions need one to four Works: ConfigMaps grow and shrink, so they move between parts, and a
// user puts them into an envelope and takes them out again, while hub, agents and servers crash. A ConfigMap that is
// always on the hub, directly or in the envelope, is never deleted on a member. In half of the worlds the envelope is a
// ConfigMap, too, so one watch has both. In the others it is a ResourceEnvelope, and while one watch is stale the hub
// could see the object in neither place.
import type { LiveCatalogue } from '../../../src/api/catalogue.ts';
import { envelope } from '../../../src/api/envelope.ts';
import { annotations } from '../../../src/api/names.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { placement } from '../../../src/api/placement.ts';
import { namespaceResource } from '../../../src/api/resources.ts';
import type { Target, Transport } from '../../../src/api/transport.ts';
import { ApiError } from '../../../src/base/errors.ts';
import { type Checker, changeChecker, type Sight } from '../../../src/sim/check.ts';
import type { Scenario } from '../../../src/sim/scenario.ts';
import { configMaps, type Data, dataOf } from './config-maps.ts';
import { ensure, join, placedKinds } from './fleet.ts';
import { MEMBERS, twoMembers } from './two-members.ts';

const SHOP = 'shop';
/** Always on the hub while the placement exists. */
const STAYING = ['app-a', 'app-b', 'app-c', 'app-d', 'app-e'];
const COMING = ['extra-a', 'extra-b'];
const ENVELOPE = 'wrap';
/** The maximum size of a snapshot in bytes. */
const PART = 900;
const LENGTHS = [10, 150, 300, 500];

export const wanderingScenario: Scenario = twoMembers({ name: 'wandering', steps: 150_000, ciRuns: 150 }, (world) => {
  const form = formOf(world.seed);
  const kinds = placedKinds();
  return {
    kinds,
    hub: { options: { placements: { snapshotLimit: PART } }, kinds: withEnvelopes(kinds) },
    user: move(form),
    userPauseMs: 3_000,
    checks: [whatStaysIsNeverDeleted()],
    unsettled: () => unsettled(world, form),
  };
});

// ---- the envelope

/** One of the two kinds of envelope for namespaced objects. */
interface Form {
  readonly all: Target;
  readonly keys: string;
  wrapping(objects: readonly KubeObject[]): KubeObject;
  inner(found: KubeObject | undefined): readonly KubeObject[];
}

const entryOf = ({ metadata }: KubeObject): string => `${metadata.name}.json`;

const marked: Form = {
  all: { resource: configMaps, namespace: SHOP },
  keys: `/configmaps/${SHOP}/`,
  wrapping: (objects) =>
    configMap(ENVELOPE, Object.fromEntries(objects.map((each) => [entryOf(each), JSON.stringify(each)])), MARK),
  inner: (found) => Object.values(dataOf(found)).map((text) => JSON.parse(text) as KubeObject),
};

const kindOf = envelope.namespaced;
const own: Form = {
  all: { resource: kindOf, namespace: SHOP },
  keys: `${kindOf.group}/${kindOf.plural}/${SHOP}/`,
  wrapping: (objects) =>
    ({
      apiVersion: `${kindOf.group}/${kindOf.version}`,
      kind: kindOf.kind,
      metadata: { name: ENVELOPE, namespace: SHOP },
      data: Object.fromEntries(objects.map((each) => [entryOf(each), each])),
    }) as unknown as KubeObject,
  inner: (found) => Object.values((found?.['data'] ?? {}) as Readonly<Record<string, KubeObject>>),
};

const formOf = (seed: number): Form => (seed % 2 === 0 ? own : marked);

/** The kinds of a world are built-in ones; the hub has envelopes in addition. */
const withEnvelopes = (kinds: LiveCatalogue): LiveCatalogue => ({
  ...kinds,
  byKind: (apiVersion, kind) =>
    kind === kindOf.kind && apiVersion.startsWith(`${kindOf.group}/`) ? kindOf : kinds.byKind(apiVersion, kind),
  get preferred() {
    return [...kinds.preferred, kindOf];
  },
});

// ---- the user

type Roll = (sides: number) => number;

const configMap = (name: string, data: Data, marks: object = {}): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: SHOP, ...marks },
    data,
  }) as unknown as KubeObject;

const MARK = { annotations: { [annotations.envelopeConfigMap]: 'true' } };
const ALL: Target = { resource: configMaps, namespace: SHOP };
const at = (name: string): Target => ({ ...ALL, name });

const placementOf = (): KubeObject =>
  ({
    apiVersion: `${placement.cluster.group}/${placement.cluster.version}`,
    kind: placement.cluster.kind,
    metadata: { name: SHOP },
    spec: {
      resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: SHOP }],
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%' } },
    },
  }) as unknown as KubeObject;

/** Creates an object in its new place before it deletes the old one. */
function move(form: Form) {
  let isBegun = false;
  const texts = new Map(STAYING.map((name) => [name, '0']));
  const enveloped = new Set<string>();
  const begin = async (api: Transport) => {
    for (const name of MEMBERS) await join(api, name, { heartbeatPeriodSeconds: 30 });
    await ensure(
      api,
      { resource: namespaceResource },
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SHOP } },
    );
    for (const [name, text] of texts) await ensure(api, ALL, configMap(name, { text }));
    await ensure(api, { resource: placement.cluster }, placementOf());
    isBegun = true;
  };
  return async (api: Transport, roll: Roll): Promise<void> => {
    if (!isBegun) return begin(api);
    const names = roll(4) === 0 ? COMING : STAYING;
    const name = names[roll(names.length)] as string;
    const known = texts.get(name);
    if (known === undefined || roll(2) === 0) {
      texts.set(name, 'x'.repeat(LENGTHS[roll(LENGTHS.length)] as number));
      return enveloped.has(name) ? wrap(api) : put(api, name);
    }
    if (COMING.includes(name)) {
      texts.delete(name);
      return enveloped.delete(name) ? wrap(api) : remove(api, at(name));
    }
    if (enveloped.has(name)) {
      await put(api, name);
      // Not earlier: the next envelope must not lack an object whose own ConfigMap was lost.
      enveloped.delete(name);
      return wrap(api);
    }
    enveloped.add(name);
    await wrap(api);
    return remove(api, at(name));
  };

  async function put(api: Transport, name: string): Promise<void> {
    await replace(api, at(name), configMap(name, { text: texts.get(name) ?? '' }));
  }

  /** An empty envelope is deleted. */
  async function wrap(api: Transport): Promise<void> {
    const place = { ...form.all, name: ENVELOPE };
    if (enveloped.size === 0) return remove(api, place);
    const objects = [...enveloped].map((name) => configMap(name, { text: texts.get(name) ?? '' }));
    await replace(api, place, form.wrapping(objects));
  }
}

async function replace(api: Transport, place: Target, object: KubeObject): Promise<void> {
  const { name, ...all } = place;
  await ensure(api, all, object);
  const body = [{ op: 'add', path: '/data', value: object['data'] }];
  await api.call({ verb: 'patch', at: place, patch: { type: 'json', body: body as never }, manager: 'user' });
}

async function remove(api: Transport, place: Target): Promise<void> {
  try {
    await api.call({ verb: 'delete', at: place });
  } catch (error) {
    if (!(error instanceof ApiError && error.reason === 'NotFound')) throw error;
  }
}

// ---- invariants

const whatStaysIsNeverDeleted = (): Checker =>
  changeChecker('what stays placed is never deleted', ({ stored, deleted }, server) => {
    const { kind, metadata } = stored.object();
    if (!MEMBERS.includes(server) || kind !== 'ConfigMap' || metadata.namespace !== SHOP) return undefined;
    if (!STAYING.includes(metadata.name ?? '') || !(deleted || metadata.deletionTimestamp !== undefined))
      return undefined;
    return `ConfigMap ${metadata.name} on ${server} was deleted, although the placement never stopped to have it`;
  });

// ---- end state

const mapsIn = (sight: Sight, server: string): ReadonlyMap<string, KubeObject> =>
  new Map(
    (sight.store(server)?.range(`/configmaps/${SHOP}/`).items ?? [])
      .map((item) => item.object())
      .filter(({ metadata }) => [...STAYING, ...COMING, ENVELOPE].includes(metadata.name ?? ''))
      .map((object) => [object.metadata.name ?? '', object]),
  );

/**
 * The objects that clusters should have, from the hub. While a server is down the user may not have deleted one of two
 * copies: then either text is accepted.
 */
function wanted(sight: Sight, form: Form): ReadonlyMap<string, readonly (string | undefined)[]> {
  const found = mapsIn(sight, 'hub');
  const wraps = (sight.store('hub')?.range(form.keys).items ?? []).map((item) => item.object());
  const inner = wraps.filter(({ metadata }) => metadata.name === ENVELOPE).flatMap(form.inner);
  const plain = [...found.values()].filter(({ metadata }) => metadata.name !== ENVELOPE);
  const texts = new Map<string, readonly (string | undefined)[]>();
  for (const each of [...inner, ...plain]) {
    const name = each.metadata.name ?? '';
    texts.set(name, [...(texts.get(name) ?? []), dataOf(each)['text']]);
  }
  return texts;
}

function unsettled(sight: Sight, form: Form): string | undefined {
  if (['hub', ...MEMBERS].some((server) => sight.store(server) === undefined)) return 'a server is down';
  // The hub may be down while the user is active.
  const isBegun =
    (sight.store('hub')?.range(`${placement.cluster.group}/${placement.cluster.plural}/`).items ?? []).length > 0;
  if (!isBegun) return undefined;
  const asked = wanted(sight, form);
  if (STAYING.some((name) => !asked.has(name))) return 'the person has not begun';
  for (const member of MEMBERS) {
    const found = mapsIn(sight, member);
    for (const [name, texts] of asked) {
      const live = found.get(name);
      if (live === undefined) return `ConfigMap ${name} is missing on ${member}`;
      if (!texts.includes(dataOf(live)['text'])) return `ConfigMap ${name} on ${member} has other data than the hub`;
      const owners = (live.metadata.ownerReferences ?? []).filter(({ kind }) => kind === 'AppliedWork');
      if (owners.length !== 1) return `ConfigMap ${name} on ${member} has ${owners.length} owners`;
    }
    for (const name of found.keys()) if (!asked.has(name)) return `ConfigMap ${name} is still on ${member}`;
  }
  return undefined;
}
