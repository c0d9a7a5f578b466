// A user of staged update runs: creates strategies, runs and new content, approves, sometimes invalidly, stops,
// resumes, rolls back, deletes objects in use, and moves clusters between stages, out of the fleet and back, while runs
// are active.
import type { ApprovalRequest } from '../../../src/api/approval-request.ts';
import type { Resource } from '../../../src/api/kind.ts';
import { memberCluster } from '../../../src/api/member-cluster.ts';
import { annotations, labels } from '../../../src/api/names.ts';
import { conditionOf } from '../../../src/api/next-condition.ts';
import { apiVersionOf, type KubeObject, type Labels } from '../../../src/api/object.ts';
import { namespaceResource } from '../../../src/api/resources.ts';
import type { StagedUpdateRun } from '../../../src/api/staged-update-run.ts';
import type { Stage } from '../../../src/api/staged-update-strategy.ts';
import type { Target, Transport } from '../../../src/api/transport.ts';
import { kubeTime } from '../../../src/base/clock.ts';
import type { PlacementFamily } from '../../../src/hub/families.ts';
import { WORLD_START_MS } from '../../../src/sim/world.ts';
import { configMaps } from './config-maps.ts';
import { ensure, join } from './fleet.ts';

export const APP = 'app';
const PERIOD_SECONDS = 30;

/** Every member with its initial labels. */
export const MEMBERS: Readonly<Record<string, Labels>> = {
  c1: { cluster: 'c1', ring: 'canary', order: '2' },
  c2: { cluster: 'c2', ring: 'canary', order: '1' },
  c3: { cluster: 'c3', ring: 'prod', order: '3' },
  c4: { cluster: 'c4', ring: 'prod', order: '1' },
  c5: { cluster: 'c5', ring: 'prod', order: '2' },
};
const NAMES = Object.keys(MEMBERS);

const ring = (name: string) => ({ name, labelSelector: { matchLabels: { ring: name } } });
const APPROVAL = { type: 'Approval' } as const;
const WAIT = { type: 'TimedWait', waitTime: '12s' } as const;

type Stages = readonly Omit<Stage, 'maxConcurrency'>[] | readonly Stage[];

/** Each with other gates; a world has two of them. */
const STRATEGIES: readonly Stages[] = [
  [
    { ...ring('canary'), maxConcurrency: 1, afterStageTasks: [APPROVAL, WAIT] },
    { ...ring('prod'), maxConcurrency: 2, sortingLabelKey: 'order' },
  ],
  [
    { ...ring('canary'), maxConcurrency: 2, afterStageTasks: [WAIT] },
    { ...ring('prod'), maxConcurrency: '70%', beforeStageTasks: [APPROVAL] },
  ],
  [
    { ...ring('canary'), maxConcurrency: 1, beforeStageTasks: [APPROVAL], afterStageTasks: [WAIT] },
    { ...ring('late'), maxConcurrency: 1, afterStageTasks: [APPROVAL] },
    { ...ring('prod'), maxConcurrency: 1, sortingLabelKey: 'order' },
  ],
  [
    { ...ring('prod'), maxConcurrency: '50%' },
    { ...ring('canary'), maxConcurrency: 1 },
  ],
];

/** The namespace of the placement and its objects. */
export const homeOf = ({ placement }: PlacementFamily): { readonly namespace?: string } =>
  placement.namespaced ? { namespace: APP } : {};

type Roll = (sides: number) => number;

export interface StagedPersonOptions {
  readonly family: PlacementFamily;
  readonly seed: number;
  readonly members: readonly string[];
}

export function stagedPerson({ family, seed, members }: StagedPersonOptions) {
  const home = homeOf(family);
  /** Members whose labels differ from the initial ones. */
  const displaced = new Set<string>();
  let isBegun = false;
  /** Names of deleted runs, to be reused. */
  const freed: string[] = [];
  /** Requests that were created manually for another subject, to be deleted. */
  const mistaken: string[] = [];
  let versions = 0;
  let runs = 0;

  return async (api: Transport, roll: Roll): Promise<void> => {
    const one = <T>(items: readonly T[]): T | undefined => items[roll(items.length)];
    const at = (resource: Resource, name?: string): Target => ({
      resource,
      ...(resource.namespaced ? home : {}),
      ...(name === undefined ? {} : { name }),
    });
    const list = async <T extends KubeObject>(resource: Resource): Promise<readonly T[]> =>
      ((await api.call({ verb: 'list', at: at(resource) })).list?.items ?? []) as readonly T[];
    const make = (resource: Resource, name: string, rest: object) =>
      ensure(api, at(resource), {
        apiVersion: apiVersionOf(resource.group, resource.version),
        kind: resource.kind,
        metadata: { name, ...home, ...(rest as KubeObject).metadata },
        spec: (rest as KubeObject).spec ?? {},
      });
    const patch = async (target: Target, body: object) => {
      await api.call({ verb: 'patch', at: target, patch: { type: 'merge', body: body as never }, manager: 'user' });
    };
    const remove = async (target: Target) => {
      await api.call({ verb: 'delete', at: target });
    };

    async function begin(): Promise<void> {
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: APP } };
      await ensure(api, { resource: namespaceResource }, namespace);
      await ensure(api, { resource: configMaps, namespace: APP }, content('1'));
      for (const [name, of] of strategiesOf(seed)) await make(family.strategy, name, { spec: { stages: of } });
      await make(family.placement, APP, { spec: placementSpec(family) });
      await joinAll();
      isBegun = true;
    }

    async function change(): Promise<void> {
      const text = roll(8) === 0 ? `bad-${++versions}` : `good-${++versions}`;
      return patch({ resource: configMaps, namespace: APP, name: APP }, { data: { text } });
    }

    async function createRun(unfinished: readonly StagedUpdateRun[]): Promise<void> {
      const indexes = (await list(family.resourceSnapshot)).map(
        ({ metadata }) => metadata.labels?.[labels.resourceIndex],
      );
      const index = roll(4) > 0 ? undefined : roll(8) === 0 ? '99' : one(indexes);
      const notes = {
        ...(roll(2) === 0 ? { [annotations.membershipChange]: 'Continue' } : {}),
        ...(roll(3) === 0 ? { [annotations.unreachableAfter]: '20s' } : {}),
      };
      // While the old run is still being deleted this creates none; the next call does.
      const name = (roll(2) === 0 ? freed.shift() : undefined) ?? `r${++runs}`;
      await make(family.run, name, {
        metadata: { annotations: notes },
        spec: {
          placementName: APP,
          stagedRolloutStrategyName: unfinished.every(hasBegun) && roll(6) === 0 ? 's2' : 's1',
          state: ['Initialize', 'Stop', 'Run'][Math.min(2, roll(8))],
          ...(index === undefined ? {} : { resourceSnapshotIndex: index }),
        },
      });
    }

    /** Mostly valid; otherwise with no or another generation, in the name of the hub, or repeated. */
    async function approve(): Promise<void> {
      const requests = await list<ApprovalRequest>(family.approvalRequest);
      const open = requests.filter(
        ({ status }) => conditionOf(status?.conditions, 'ApprovalAccepted')?.status !== 'True',
      );
      const request = one(roll(6) === 0 ? requests : open);
      if (request === undefined) return;
      const { name = '', generation = 1 } = request.metadata;
      const how = roll(10);
      const said = saying(
        how === 2 ? 'ApprovalAccepted' : 'Approved',
        how === 3 ? 'False' : 'True',
        how === 0 ? undefined : how === 1 ? generation - 1 : generation,
      );
      await patch({ ...at(family.approvalRequest, name), subresource: 'status' }, { status: { conditions: [said] } });
    }

    /** Sometimes it is recreated manually at once: then it is not the one that the run has requested. */
    async function removeRequest({ metadata: { name = '' }, spec }: ApprovalRequest): Promise<void> {
      await remove(at(family.approvalRequest, name));
      if (roll(2) === 0) await make(family.approvalRequest, name, { spec });
    }

    async function removeRun(name: string | undefined): Promise<void> {
      await remove(at(family.run, name));
      if (name !== undefined) freed.push(name);
    }

    async function changeState(run: StagedUpdateRun): Promise<void> {
      const state = run.spec.state === 'Run' ? 'Stop' : 'Run';
      return patch(at(family.run, run.metadata.name), { spec: { state } });
    }

    /** For a gate whose request may not exist yet, with its name or another, for it or for another subject. */
    async function askByHand(run: StagedUpdateRun): Promise<void> {
      const stage = one(run.status?.stagesStatus ?? []);
      const tasks = [...(stage?.beforeStageTaskStatus ?? []), ...(stage?.afterStageTaskStatus ?? [])];
      const gate = one(tasks)?.approvalRequestName;
      if (stage === undefined || gate === undefined) return;
      const how = roll(6);
      const name = how < 4 ? gate : `${run.metadata.name}-${stage.stageName}`;
      const targetStage = how === 0 ? 'elsewhere' : stage.stageName;
      const parentStageRollout = how === 1 ? 'another' : run.metadata.name;
      await make(family.approvalRequest, name, { spec: { parentStageRollout, targetStage } });
      if (how < 2) mistaken.push(name);
      if (roll(3) === 0) return;
      const said = saying('Approved', 'True', 1);
      return patch({ ...at(family.approvalRequest, name), subresource: 'status' }, { status: { conditions: [said] } });
    }

    async function moveCluster(of: string): Promise<void> {
      const at = { resource: memberCluster, name: of };
      displaced.add(of);
      switch (roll(3)) {
        case 0:
          return remove(at);
        case 1:
          return patch(at, { metadata: { labels: { ring: ['canary', 'prod', 'late', 'nowhere'][roll(4)] } } });
        default:
          return patch(at, { metadata: { labels: { order: String(roll(4)) } } });
      }
    }

    async function putBack(of: string): Promise<void> {
      await patch({ resource: memberCluster, name: of }, { metadata: { labels: MEMBERS[of] } });
      displaced.delete(of);
    }

    async function joinAll(): Promise<void> {
      const there = (await list(memberCluster)).map(({ metadata }) => metadata.name);
      for (const name of members.filter((each) => !there.includes(each))) {
        await join(api, name, { heartbeatPeriodSeconds: PERIOD_SECONDS, labels: MEMBERS[name] as Labels });
      }
    }

    async function pick(): Promise<void> {
      const without = one(members);
      const names = roll(2) === 0 ? members : members.filter((each) => each !== without);
      return patch(at(family.placement, APP), { spec: { policy: pickAmong(names) } });
    }

    if (!isBegun) return begin();
    if (roll(4) === 0) await joinAll();
    const lost = one([...displaced]);
    if (mistaken.length > 0 && roll(3) === 0) return remove(at(family.approvalRequest, mistaken.shift()));
    const all = await list<StagedUpdateRun>(family.run);
    const unfinished = all.filter((each) => !isEnded(each));
    if (lost !== undefined && roll(3) === 0) {
      await putBack(lost);
      return roll(2) === 0 && unfinished.length < 3 ? createRun(unfinished) : undefined;
    }
    if (freed.length > 0 && roll(3) === 0) return createRun(unfinished);
    const run = one(unfinished);
    // A run that starts before all members have joined has fewer clusters: that happens, but not in every world.
    if (all.length === 0 && roll(6) > 0 && (await list(family.binding)).length < members.length) return joinAll();
    if (run === undefined) return roll(5) === 0 ? change() : createRun(unfinished);
    if (run.spec.state !== 'Run' && roll(2) === 0) return changeState(run);
    const dice = roll(100);
    if (dice < 40) return approve();
    if (dice < 52) return unfinished.length > 1 && roll(3) > 0 ? approve() : createRun(unfinished);
    if (dice < 66) return changeState(run);
    if (dice < 80) {
      await change();
      return roll(2) === 0 && unfinished.length < 3 ? createRun(unfinished) : undefined;
    }
    if (dice < 86) return askByHand(run);
    if (dice < 93) {
      const request = one(await list<ApprovalRequest>(family.approvalRequest));
      if (request === undefined) return createRun(unfinished);
      if (roll(3) === 0) return removeRequest(request);
      return removeRun(request.spec.parentStageRollout);
    }
    if (dice < 94) return removeRun(one(all)?.metadata.name);
    if (dice < 97) {
      await moveCluster(one(members) as string);
      return roll(2) === 0 && unfinished.length < 3 ? createRun(unfinished) : undefined;
    }
    // Has no meaning for runs, but causes watch events.
    if (dice < 99)
      return patch(at(family.strategy, roll(2) === 0 ? 's1' : 's2'), {
        metadata: { labels: { seen: 'yes', at: String(++versions) } },
      });
    return pick();
  };
}

export interface HelperOptions {
  readonly family: PlacementFamily;
  /** Also labels a strategy from time to time: that has no meaning for runs, but causes watch events. */
  readonly relabels: boolean;
}

/** A user who completes everything: approves requests, and resumes stopped runs. */
export function stagedHelper({ family, relabels }: HelperOptions) {
  const home = homeOf(family);
  return async (api: Transport, roll: Roll): Promise<void> => {
    const list = async <T extends KubeObject>(resource: Resource): Promise<readonly T[]> =>
      ((await api.call({ verb: 'list', at: { resource, ...home } })).list?.items ?? []) as readonly T[];
    const patch = (at: Target, body: object) =>
      api.call({ verb: 'patch', at, patch: { type: 'merge', body: body as never }, manager: 'helper' });
    if (relabels && roll(4) === 0) {
      const at: Target = { resource: family.strategy, ...home, name: 's1' };
      return void (await patch(at, { metadata: { labels: { looked: String(roll(1000)) } } }));
    }
    if (roll(2) === 0) {
      for (const { metadata, status } of await list<ApprovalRequest>(family.approvalRequest)) {
        if (conditionOf(status?.conditions, 'ApprovalAccepted')?.status === 'True') continue;
        const { name = '', generation = 1 } = metadata;
        const at: Target = { resource: family.approvalRequest, ...home, name, subresource: 'status' };
        return void (await patch(at, { status: { conditions: [saying('Approved', 'True', generation)] } }));
      }
    }
    const idle = (await list<StagedUpdateRun>(family.run)).find((run) => !isEnded(run) && run.spec.state !== 'Run');
    if (idle === undefined) return;
    await patch({ resource: family.run, ...home, name: idle.metadata.name ?? '' }, { spec: { state: 'Run' } });
  };
}

const saying = (type: string, status: string, observedGeneration: number | undefined) => ({
  type,
  status,
  reason: 'lgtm',
  message: 'lgtm',
  lastTransitionTime: kubeTime(WORLD_START_MS),
  ...(observedGeneration === undefined ? {} : { observedGeneration }),
});

const isEnded = ({ status }: StagedUpdateRun): boolean =>
  conditionOf(status?.conditions, 'Succeeded') !== undefined ||
  conditionOf(status?.conditions, 'Initialized')?.status === 'False';

/** Two runs with different stages that start at the same moment may both continue. */
const hasBegun = ({ status }: StagedUpdateRun): boolean =>
  (status?.stagesStatus ?? []).some(({ startTime }) => startTime !== undefined);

const strategiesOf = (seed: number): readonly (readonly [name: string, stages: Stages])[] => {
  const of = (at: number) => STRATEGIES[at % STRATEGIES.length] as Stages;
  return [
    ['s1', of(seed)],
    ['s2', of(seed + 1)],
  ];
};

const content = (text: string): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: APP, namespace: APP },
    data: { text },
  }) as KubeObject;

/** Picks all of these that exist. */
const pickAmong = (names: readonly string[]): object => {
  const matchExpressions = [{ key: 'cluster', operator: 'In', values: names }];
  const required = { clusterSelectorTerms: [{ labelSelector: { matchExpressions } }] };
  return {
    placementType: 'PickAll',
    affinity: { clusterAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
  };
};

const placementSpec = ({ placement }: PlacementFamily): object => ({
  resourceSelectors: placement.namespaced
    ? [{ group: '', version: 'v1', kind: 'ConfigMap', name: APP }]
    : [{ group: '', version: 'v1', kind: 'Namespace', name: APP }],
  policy: pickAmong(NAMES),
  // Short, so that snapshots are deleted all the time, including ones that may still be in use.
  revisionHistoryLimit: 2,
  strategy: { type: 'External' },
});
