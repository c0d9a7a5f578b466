// Overrides of one placement that change, fail, are deleted and recreated, while members are relabeled, under all
// faults. In half of the worlds two hubs act, in the others one of them leads. Watches become silent more often than
// elsewhere, because a missing override is as important as an existing one.
//
// The model here is independent: the content of a cluster follows from the overrides as the user wrote them and the
// labels of the member. `always` matches every cluster and is never deleted; `wide` is created and deleted, and so is
// `spare`, which matches no object.

import type { Binding } from '../../../src/api/binding.ts';
import type { Resource } from '../../../src/api/kind.ts';
import { memberCluster } from '../../../src/api/member-cluster.ts';
import { conditionOf } from '../../../src/api/next-condition.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { apiVersionOf } from '../../../src/api/object.ts';
import { override } from '../../../src/api/override.ts';
import type { Placement } from '../../../src/api/placement.ts';
import type { Transport } from '../../../src/api/transport.ts';
import { type Work, work } from '../../../src/api/work.ts';
import { canonicalJson, deepEqual } from '../../../src/base/json.ts';
import { type Checker, changeChecker } from '../../../src/sim/check.ts';
import { usualRates } from '../../../src/sim/faults.ts';
import type { Scenario } from '../../../src/sim/scenario.ts';
import type { Readable } from '../../../src/sim/server.ts';
import { ensure } from './fleet.ts';
import {
  APP,
  bindingsIn,
  CONTENT,
  type Deed,
  isBinding,
  merge,
  notEverywhere,
  placed,
  type Roll,
  release,
  saysTrue,
  settleFleet,
  wantedText,
  workKeyOf,
} from './rollout-world.ts';

const CALM_MS = 15_000;
const FAULT_MS = 110_000;
const SILENCE_MS = 60_000;
const MAX = 1;
/** `c3` is never in production, `c4` only at times. */
const ENVS: Readonly<Record<string, string>> = { c1: 'prod', c2: 'prod', c3: 'test', c4: 'test' };
const names = Object.keys(ENVS);
const NEVER_PROD = 'c3';
const members = Object.fromEntries(names.map((name) => [name, { env: ENVS[name] as string, zone: `${name}-z0` }]));
const ALWAYS = 'always';
const WIDE = 'wide';
const SPARE = 'spare';
const { cluster: wideKind, namespaced: kind } = override;

const leadersIn = (seed: number): number => (seed % 2 === 0 ? 2 : 1);

export const overridesScenario: Scenario = {
  name: 'overrides',
  calmMs: CALM_MS,
  faultMs: FAULT_MS,
  rates: { ...usualRates, watch: { ...usualRates.watch, silence: 0.04 }, silenceMs: SILENCE_MS },
  dazedMs: SILENCE_MS + 30_000,
  healMs: 1_200_000,
  steps: 100_000,
  ciRuns: 200,
  set(world) {
    const leaders = leadersIn(world.seed);
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: MAX } };
    settleFleet(world, { members, isLed: leaders === 1, strategy, forMs: FAULT_MS - 5_000, deed: changes() });
    world.check(renderingsAreOfTheirCluster());
    world.check(overridesGoForward());
    world.check(overridesKeepTheBudget(leaders));
    return () => unsettled(world.store('hub'));
  },
};

// ---- the user

const ALL = { clusterSelectorTerms: [] };
const PROD = { clusterSelectorTerms: [{ labelSelector: { matchLabels: { env: 'prod' } } }] };
const adds = (path: string, value: unknown, clusterSelector: object = ALL) => ({
  clusterSelector,
  overrideType: 'JSONPatch',
  jsonPatchOverrides: [{ op: 'add', path, value }],
});

/**
 * Production clusters get their name, all clusters their zone; `isBroken`: it does not apply on clusters outside of
 * production.
 */
const alwaysSpec = (version: number, isBroken: boolean, name = CONTENT): object => ({
  resourceSelectors: [{ group: '', version: 'v1', kind: 'ConfigMap', name }],
  policy: {
    overrideRules: [
      adds('/data/by', `${version} \${MEMBER-CLUSTER-NAME}`, PROD),
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what users write
      adds('/data/zone', '${MEMBER-CLUSTER-LABEL-KEY-zone}'),
      ...(isBroken ? [adds('/data/none/deeper', 'x')] : []),
    ],
  },
});

/** Matches everything in the namespace. */
const wideSpec = (version: number): object => ({
  clusterResourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: APP }],
  policy: { overrideRules: [adds('/metadata/annotations', { wide: String(version) })] },
});

const typed = (of: Resource, metadata: object, spec: object): KubeObject =>
  ({ apiVersion: apiVersionOf(of.group, of.version), kind: of.kind, metadata, spec }) as KubeObject;

function changes(): Deed {
  const next = release();
  let version = 0;
  const always = { resource: kind, namespace: APP, name: ALWAYS };
  const wide = { resource: wideKind, name: WIDE };
  const spare = { resource: kind, namespace: APP, name: SPARE };
  const relabel = (api: Transport, name: string, labels: object) =>
    merge(api, { resource: memberCluster, name }, { metadata: { labels } });
  let isBegun = false;
  return async (api: Transport, roll: Roll) => {
    version++;
    if (!isBegun) {
      const object = typed(kind, { name: ALWAYS, namespace: APP }, alwaysSpec(version, false));
      await ensure(api, { resource: kind, namespace: APP }, object);
      isBegun = true;
      return;
    }
    switch (roll(11)) {
      case 0:
        return next(api, roll, false);
      case 1:
        return merge(api, wide, { spec: wideSpec(version) });
      case 2:
        return ensure(api, { resource: wideKind }, typed(wideKind, { name: WIDE }, wideSpec(version)));
      case 3:
        await api.call({ verb: 'delete', at: wide });
        return;
      case 4: {
        const name = names[roll(names.length)] as string;
        return relabel(api, name, { zone: `${name}-z${version}` });
      }
      case 5:
        return relabel(api, 'c4', { env: roll(2) === 0 ? 'prod' : 'test' });
      case 6:
      case 7: {
        const object = typed(kind, { name: SPARE, namespace: APP }, alwaysSpec(version, true, 'not-there'));
        return ensure(api, { resource: kind, namespace: APP }, object);
      }
      case 8:
        await api.call({ verb: 'delete', at: spare });
        return;
      default:
        return merge(api, always, { spec: alwaysSpec(version, roll(4) === 0) });
    }
  };
}

// ---- invariants

interface Content extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const contentIn = (found: Work | undefined): Content | undefined =>
  ((found?.spec?.workload?.manifests ?? []) as unknown as readonly Content[]).find(
    (each) => each.kind === 'ConfigMap' && each.metadata.name === CONTENT,
  );

/** The content of a cluster contains the name of that cluster, and production content does not reach others. */
function renderingsAreOfTheirCluster(): Checker {
  const clusterOf = new Map(names.map((name) => [workKeyOf(name), name]));
  return changeChecker('renderings are of their cluster', ({ key, stored, deleted }, server) => {
    const cluster = clusterOf.get(key);
    const object = stored.object();
    if (server !== 'hub' || deleted || object.kind !== work.kind || cluster === undefined) return undefined;
    const { by, zone } = contentIn(object as Work)?.data ?? {};
    if (by !== undefined && by.split(' ')[1] !== cluster) return `${cluster} gets what says "${by}"`;
    if (by !== undefined && cluster === NEVER_PROD) return `${cluster} gets what is for production`;
    return zone === undefined || zone.startsWith(`${cluster}-`) ? undefined : `${cluster} gets what says "${zone}"`;
  });
}

/** The index of the snapshot of `always` on a binding. */
function indexOn({ spec }: Binding): number | undefined {
  const found = (spec.resourceOverrideSnapshots ?? []).find(({ name }) => name.startsWith(`${ALWAYS}-`));
  return found && Number(found.name.slice(ALWAYS.length + 1));
}

/** An existing override is never dropped from a cluster, and never goes back to an earlier snapshot. */
function overridesGoForward(): Checker {
  return changeChecker('overrides go forward', ({ stored, previous, deleted }, server) => {
    const now = stored.object();
    const before = previous?.object() as Binding | undefined;
    if (server !== 'hub' || deleted || !isBinding(now) || before === undefined) return undefined;
    const [was, is] = [indexOn(before), indexOn(now)];
    return was === undefined || (is !== undefined && is >= was)
      ? undefined
      : `${now.spec.targetCluster} had ${ALWAYS}-${was} and gets ${is === undefined ? 'none' : `${ALWAYS}-${is}`}`;
  });
}

const orderText = ({ spec }: Binding): string =>
  canonicalJson([
    spec.resourceSnapshotName,
    spec.clusterResourceOverrideSnapshots ?? [],
    spec.resourceOverrideSnapshots ?? [],
    spec.overrideValues ?? {},
  ]);

/** Of the available clusters that were updated, by any change, at most the budget have not become available again. */
function overridesKeepTheBudget(leaders: number): Checker {
  const taken = new Set<string>();
  return changeChecker('a change of an override keeps the budget', ({ stored, previous, deleted }, server) => {
    const now = stored.object();
    if (server !== 'hub' || !isBinding(now)) return undefined;
    const { targetCluster } = now.spec;
    if (deleted || saysTrue(now, 'Available')) taken.delete(targetCluster);
    const before = previous?.object() as Binding | undefined;
    if (deleted || before === undefined || orderText(before) === orderText(now)) return undefined;
    if (!saysTrue(before, 'Available')) return undefined;
    taken.add(targetCluster);
    return taken.size <= MAX * leaders ? undefined : `${[...taken].join(' and ')} were taken at once`;
  });
}

// ---- end state

interface Rule {
  readonly clusterSelector: typeof ALL | typeof PROD;
  readonly jsonPatchOverrides: readonly { readonly path: string; readonly value: unknown }[];
}

const specIn = (store: Readable, of: Resource, place: string): Readonly<Record<string, unknown>> | undefined =>
  store.get(`${of.group}/${of.plural}/${place}`)?.object().spec as Readonly<Record<string, unknown>> | undefined;

const rulesOf = (spec: Readonly<Record<string, unknown>> | undefined): readonly Rule[] =>
  (spec?.['policy'] as { readonly overrideRules?: readonly Rule[] } | undefined)?.overrideRules ?? [];

interface Wish {
  readonly data: Readonly<Record<string, unknown>>;
  readonly annotations: unknown;
  readonly isBroken: boolean;
}

function wishFor(store: Readable, cluster: string): Wish {
  const labels =
    store.get(`${memberCluster.group}/${memberCluster.plural}//${cluster}`)?.object().metadata.labels ?? {};
  const rules = [
    ...rulesOf(specIn(store, wideKind, `/${WIDE}`)),
    ...rulesOf(specIn(store, kind, `${APP}/${ALWAYS}`)),
  ].filter(({ clusterSelector: { clusterSelectorTerms: terms } }) => terms.length === 0 || labels['env'] === 'prod');
  const data: Record<string, unknown> = { text: wantedText(store) };
  let annotations: unknown;
  let isBroken = false;
  for (const { path, value } of rules.flatMap(({ jsonPatchOverrides }) => jsonPatchOverrides)) {
    const filled =
      typeof value === 'string'
        ? value
            // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what users write
            .replace('${MEMBER-CLUSTER-NAME}', cluster)
            // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what users write
            .replace('${MEMBER-CLUSTER-LABEL-KEY-zone}', labels['zone'] ?? '')
        : value;
    if (path === '/metadata/annotations') annotations = filled;
    else if (path.split('/').length === 3) data[path.slice('/data/'.length)] = filled;
    else isBroken = true;
  }
  return { data, annotations, isBroken };
}

function unsettled(store: Readable | undefined): string | undefined {
  if (store === undefined) return 'the hub is down';
  const placement = store.get(`${placed.resource.group}/${placed.resource.plural}//${placed.name}`)?.object() as
    | Placement
    | undefined;
  if (placement === undefined) return 'the user never got through';
  const wishes = new Map(names.map((name) => [name, wishFor(store, name)]));
  if ([...wishes.values()].some(({ isBroken }) => isBroken)) return unexplained(store, placement);
  const missing = notEverywhere(store, names);
  if (missing !== undefined) return missing;
  for (const [cluster, { data, annotations }] of wishes) {
    const has = contentIn(store.get(workKeyOf(cluster))?.object() as Work | undefined);
    if (!deepEqual(has?.data, data)) return `${cluster} gets ${JSON.stringify(has?.data)}, not ${JSON.stringify(data)}`;
    if (!deepEqual(has?.metadata.annotations, annotations))
      return `${cluster} gets ${JSON.stringify(has?.metadata.annotations)}, not ${JSON.stringify(annotations)}`;
  }
  const isWide = specIn(store, wideKind, `/${WIDE}`) !== undefined;
  const told = placement.status?.placementStatuses ?? [];
  const isTold =
    told.length === names.length &&
    told.every(
      ({ applicableClusterResourceOverrides: wide = [], applicableResourceOverrides: narrow = [] }) =>
        wide.length === (isWide ? 1 : 0) && narrow.length === 1,
    );
  return isTold ? undefined : `the status says ${JSON.stringify(told)}`;
}

/** A rollout that an override blocks is reported on a binding, and in the status of the same cluster. */
function unexplained(store: Readable, { status }: Placement): string | undefined {
  const failed = bindingsIn(store).filter(
    ({ metadata, status: own }) =>
      conditionOf(own?.conditions, 'Overridden')?.status === 'False' &&
      conditionOf(own?.conditions, 'Overridden')?.observedGeneration === metadata.generation,
  );
  if (failed.length === 0) return 'no binding says that an override does not apply';
  const told = (status?.placementStatuses ?? [])
    .filter(({ conditions }) => conditionOf(conditions, 'Overridden')?.reason === 'OverriddenFailed')
    .map(({ clusterName }) => clusterName);
  const isTold = failed.every(({ spec }) => told.includes(spec.targetCluster));
  return isTold ? undefined : `the status says that overrides failed on ${told.join(', ')}`;
}
