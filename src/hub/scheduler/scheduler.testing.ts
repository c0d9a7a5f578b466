// A miniature hub for tests of the scheduler: members, one placement with its policy snapshot, its bindings. Decisions
// and projections are the real ones; writes are carried out on plain objects, all of them or as far as a test lets
// them.
import type { Binding, BindingState } from '../../api/binding.ts';
import type { ClusterDecision } from '../../api/cluster-decision.ts';
import type { ClusterSelectorTerm } from '../../api/cluster-selector.ts';
import type { MemberCluster } from '../../api/member-cluster.ts';
import { annotations, finalizers, labels } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import type { KubeObject, Labels } from '../../api/object.ts';
import type { PlacementPolicy } from '../../api/placement-policy.ts';
import type { PolicySnapshotStatus } from '../../api/policy-snapshot.ts';
import type { SpecProblem } from '../../api/spec-problem.ts';
import { kubeTime } from '../../base/clock.ts';
import { isObject } from '../../base/json.ts';
import type { Action, Decision } from '../../runtime/controller.ts';
import { clusterFamily, type PlacementFamily } from '../families.ts';
import { decideFor, type Observed } from './decide.ts';

export const NOW = Date.parse('2026-01-01T00:00:00Z');
export const MINUTE = 60_000;

// ---- members

export interface MemberSetup {
  readonly labels?: Labels;
  readonly taints?: readonly string[];
  /** undefined = never. */
  readonly heartbeat?: number | undefined;
  readonly healthy?: { readonly status: 'True' | 'False'; readonly since: number };
  readonly leaving?: boolean;
  /** undefined = the member reports none. */
  readonly namespaces?: readonly string[];
  readonly isDegraded?: boolean;
  /** By name. */
  readonly properties?: Readonly<Record<string, string>>;
  readonly usage?: NonNullable<MemberCluster['status']>['resourceUsage'];
}

export function aMember(name: string, setup: MemberSetup = {}): MemberCluster {
  const { taints = [], leaving = false, namespaces, isDegraded = false } = setup;
  const heartbeat = 'heartbeat' in setup ? setup.heartbeat : NOW;
  const healthy = setup.healthy ?? { status: 'True', since: NOW };
  const condition = (type: string, status: 'True' | 'False', since = NOW, reason = 'Because') => ({
    type,
    status,
    reason,
    message: '',
    lastTransitionTime: kubeTime(since),
  });
  return {
    apiVersion: 'cluster.kubernetes-fleet.io/v1beta1',
    kind: 'MemberCluster',
    metadata: {
      name,
      uid: `uid-${name}`,
      resourceVersion: '1',
      labels: setup.labels ?? {},
      ...(leaving ? { deletionTimestamp: kubeTime(NOW) } : {}),
    },
    spec: {
      identity: { kind: 'User', name },
      heartbeatPeriodSeconds: 60,
      taints: taints.map((text) => {
        const [key = '', value = ''] = text.split('=');
        return { key, value, effect: 'NoSchedule' };
      }),
    },
    status: {
      conditions:
        namespaces === undefined
          ? []
          : [
              condition(
                'NamespaceCollectionSucceeded',
                isDegraded ? 'False' : 'True',
                NOW,
                isDegraded ? 'Degraded' : 'Succeeded',
              ),
            ],
      ...(setup.properties === undefined ? {} : { properties: propertiesOf(setup.properties) }),
      ...(setup.usage === undefined ? {} : { resourceUsage: setup.usage }),
      ...(namespaces === undefined ? {} : { namespaces: Object.fromEntries(namespaces.map((each) => [each, ''])) }),
      agentStatus:
        heartbeat === undefined
          ? []
          : [
              {
                type: 'MemberAgent',
                lastReceivedHeartbeat: kubeTime(heartbeat),
                conditions: [condition('Joined', 'True'), condition('Healthy', healthy.status, healthy.since)],
              },
            ],
    },
  };
}

const propertiesOf = (values: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value, observationTime: kubeTime(NOW) }]));

/** The fleet of the acceptance rows, by short name. */
export const NAMES = {
  c1: 'cluster-1-east-prod',
  c2: 'cluster-2-east-prod',
  c3: 'cluster-3-east-canary',
  c4: 'cluster-4-central-prod',
  c5: 'cluster-5-central-prod',
  c6: 'cluster-6-west-prod',
  c7: 'cluster-7-west-canary',
  c8: 'unhealthy-cluster-east-prod',
  c9: 'left-cluster-central-prod',
} as const;
export type Short = keyof typeof NAMES;
export const shorts = Object.keys(NAMES) as Short[];
const SHORT_OF = new Map<string, string>(Object.entries(NAMES).map(([short, name]) => [name, short]));
export const short = (name: string): string => SHORT_OF.get(name) ?? name;
export const long = (name: string): string => NAMES[name as Short] ?? name;

export const NODES = 'kubernetes-fleet.io/node-count';
export const RATING = 'test.only/energy-efficiency-rating';

/** Nodes, rating; then total, allocatable and available CPU and memory (Gi). */
const MEASURES: Readonly<
  Partial<Record<Short, readonly (readonly [number, number, number] | readonly [number, number])[]>>
> = {
  c1: [
    [2, 100],
    [4, 3, 2],
    [4, 3, 2],
  ],
  c2: [
    [4, 60],
    [8, 7, 4],
    [8, 7, 4],
  ],
  c3: [
    [6, 40],
    [12, 11, 6],
    [12, 11, 6],
  ],
  c4: [
    [2, 80],
    [8, 6, 2],
    [4, 2, 1],
  ],
  c5: [
    [8, 40],
    [32, 30, 8],
    [16, 14, 4],
  ],
  c6: [
    [2, 60],
    [4, 2, 1],
    [8, 6, 4],
  ],
  c7: [
    [8, 20],
    [16, 14, 4],
    [32, 30, 16],
  ],
  c8: [
    [1, 100],
    [8, 6, 0],
    [8, 6, 0],
  ],
};

export const usageOf = (cpu: readonly number[], memory: readonly number[]) => {
  const at = (index: number) => ({ cpu: String(cpu[index]), memory: `${memory[index]}Gi` });
  return { capacity: at(0), allocatable: at(1), available: at(2) };
};

function measuresOf(cluster: Short): Pick<MemberSetup, 'properties' | 'usage'> {
  const measures = MEASURES[cluster];
  if (measures === undefined) return {};
  const [[nodes, rating] = [], cpu = [], memory = []] = measures;
  return { properties: { [NODES]: String(nodes), [RATING]: String(rating) }, usage: usageOf(cpu, memory) };
}

/** The fleet with some members changed or added. */
export function theFleet(changes: Readonly<Record<string, MemberSetup>> = {}): MemberCluster[] {
  const setups = new Map<string, MemberSetup>(
    shorts.map((each) => {
      const [env = '', region = ''] = NAMES[each].split('-').reverse();
      return [
        each,
        {
          labels: { region, env },
          ...measuresOf(each),
          ...(each === 'c8' ? { heartbeat: undefined } : {}),
          ...(each === 'c9' ? { leaving: true } : {}),
        },
      ];
    }),
  );
  for (const [name, setup] of Object.entries(changes)) setups.set(name, { ...setups.get(name), ...setup });
  return [...setups]
    .map(([name, setup]) => aMember(long(name), setup))
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
}

// ---- policies, in short

export const key = (key: string, operator: 'In' | 'NotIn', ...values: readonly string[]) => ({ key, operator, values });
export const term = (...matchExpressions: readonly ReturnType<typeof key>[]) => ({
  labelSelector: { matchExpressions },
});

export const requires = (...clusterSelectorTerms: readonly ClusterSelectorTerm[]): Partial<PlacementPolicy> => ({
  affinity: { clusterAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { clusterSelectorTerms } } },
});

/** A term with comparisons such as `kubernetes-fleet.io/node-count Ge 4`. */
export const having = (...comparisons: readonly string[]): ClusterSelectorTerm => ({
  propertySelector: {
    matchExpressions: comparisons.map((text) => {
      const [name = '', operator = '', value = ''] = text.split(' ');
      return { name, operator: operator as 'Gt', values: [value] };
    }),
  },
});

export const prefers = (
  ...terms: readonly (readonly [weight: number, preference: ClusterSelectorTerm])[]
): Partial<PlacementPolicy> => ({
  affinity: {
    clusterAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: terms.map(([weight, preference]) => ({ weight, preference })),
    },
  },
});

export const sortedBy = (name: string, sortOrder: 'Ascending' | 'Descending'): ClusterSelectorTerm => ({
  propertySorter: { name, sortOrder },
});

/** Combines required and preferred terms. */
export const both = (...parts: readonly Partial<PlacementPolicy>[]): Partial<PlacementPolicy> => ({
  affinity: { clusterAffinity: Object.assign({}, ...parts.map(({ affinity }) => affinity?.clusterAffinity)) },
});

export const spreads = (
  ...keys: readonly (readonly [key: string, when: 'DoNotSchedule' | 'ScheduleAnyway', maxSkew: number])[]
): Partial<PlacementPolicy> => ({
  topologySpreadConstraints: keys.map(([topologyKey, whenUnsatisfiable, maxSkew]) => ({
    topologyKey,
    whenUnsatisfiable,
    maxSkew,
  })),
});

// ---- the hub

export interface BindingSetup {
  readonly state?: BindingState;
  readonly previous?: 'Scheduled' | 'Bound';
  /** Index of the policy snapshot. */
  readonly under?: number;
  readonly score?: ClusterDecision['clusterScore'];
  readonly deleting?: boolean;
}

export interface HubSetup {
  readonly family?: PlacementFamily;
  readonly members?: readonly MemberCluster[];
  readonly policy?: PlacementPolicy;
  readonly numberOfClusters?: number;
  /** By short name of the cluster. */
  readonly bindings?: Readonly<Record<string, BindingSetup>>;
  /** Index of the policy snapshot. */
  readonly snapshot?: number;
  readonly specProblem?: SpecProblem;
}

export class Hub {
  readonly family: PlacementFamily;
  members: readonly MemberCluster[];
  leaving: ReadonlyMap<string, number> = new Map();
  now = NOW;
  failure: Observed['failure'];
  specProblem: SpecProblem | undefined;
  isSettled = false;
  placement: KubeObject | undefined;
  snapshot: KubeObject;
  bindings: KubeObject[];
  #revision = 10;

  constructor(setup: HubSetup = {}) {
    this.family = setup.family ?? clusterFamily;
    this.members = setup.members ?? theFleet();
    this.specProblem = setup.specProblem;
    const namespace = this.family.placement.namespaced ? { namespace: 'ns' } : {};
    this.placement = {
      apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
      kind: this.family.placement.kind,
      metadata: {
        name: 'web',
        ...namespace,
        uid: 'uid-web',
        resourceVersion: '1',
        generation: 1,
        finalizers: [finalizers.placementCleanup, finalizers.schedulerCleanup],
      },
      spec: {},
    };
    this.snapshot = this.#snapshot(setup.snapshot ?? 0, setup.policy, setup.numberOfClusters);
    this.bindings = Object.entries(setup.bindings ?? {}).map(([cluster, each]) => this.#binding(long(cluster), each));
  }

  #snapshot(index: number, policy: PlacementPolicy | undefined, numberOfClusters: number | undefined): KubeObject {
    return {
      apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
      kind: this.family.policySnapshot.kind,
      metadata: {
        name: `web-${index}`,
        ...this.#namespace(),
        uid: `uid-web-${index}`,
        resourceVersion: String(this.#revision++),
        generation: 1,
        labels: { [labels.parentPlacement]: 'web', [labels.isLatestSnapshot]: 'true' },
        annotations: {
          [annotations.placementGeneration]: String(index + 1),
          ...(numberOfClusters === undefined ? {} : { [annotations.numberOfClusters]: String(numberOfClusters) }),
        },
      },
      spec: { ...(policy === undefined ? {} : { policy }), policyHash: '' },
    };
  }

  #namespace() {
    return this.family.placement.namespaced ? { namespace: 'ns' } : {};
  }

  #binding(cluster: string, setup: BindingSetup): KubeObject {
    const { state = 'Scheduled', previous, under = 0, deleting = false } = setup;
    return {
      apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
      kind: this.family.binding.kind,
      metadata: {
        name: `old-${cluster}`,
        ...this.#namespace(),
        uid: `uid-old-${cluster}`,
        resourceVersion: String(this.#revision++),
        generation: 1,
        labels: { [labels.parentPlacement]: 'web' },
        finalizers: [finalizers.schedulerBindingCleanup],
        ...(previous === undefined ? {} : { annotations: { [annotations.previousBindingState]: previous } }),
        ...(deleting ? { deletionTimestamp: kubeTime(NOW) } : {}),
      },
      spec: {
        state,
        targetCluster: cluster,
        resourceSnapshotName: state === 'Bound' || previous === 'Bound' ? 'web-0-snapshot' : '',
        schedulingPolicySnapshotName: `web-${under}`,
        clusterDecision: {
          clusterName: cluster,
          selected: true,
          reason: 'earlier',
          ...('score' in setup && setup.score === undefined
            ? {}
            : { clusterScore: setup.score ?? { affinityScore: 0, priorityScore: 0 } }),
        },
      },
    };
  }

  // ---- what other controllers and users do

  newPolicy(index: number, policy: PlacementPolicy | undefined, numberOfClusters?: number): void {
    this.snapshot = this.#snapshot(index, policy, numberOfClusters);
  }

  annotate(name: string, value: string): void {
    this.snapshot = merged(this.snapshot, { metadata: { annotations: { [name]: value } } }) as KubeObject;
  }

  /** The rollout starts on a cluster. */
  bind(...clusters: readonly string[]): void {
    this.bindings = this.bindings.map((each) =>
      clusters.map(long).includes(specOf(each).targetCluster)
        ? (merged(each, { spec: { state: 'Bound', resourceSnapshotName: 'web-0-snapshot' } }) as KubeObject)
        : each,
    );
  }

  delete(cluster: string): void {
    this.bindings = this.bindings.map((each) =>
      specOf(each).targetCluster === long(cluster)
        ? (merged(each, { metadata: { deletionTimestamp: kubeTime(this.now) } }) as KubeObject)
        : each,
    );
  }

  // ---- what the scheduler does

  observed(): Observed {
    const { family, placement } = this;
    return {
      ...(placement === undefined ? {} : { placement: project(family.placements, placement) }),
      snapshots: [project(family.policySnapshots, this.snapshot)],
      bindings: this.bindings.map((each) => project(family.bindings, each)),
      members: this.members,
      leaving: this.leaving,
      ...(this.specProblem === undefined ? {} : { specProblem: this.specProblem }),
      ...(this.failure === undefined ? {} : { failure: this.failure }),
      isSettled: this.isSettled,
      now: this.now,
    };
  }

  decide(): Decision {
    return decideFor(this.family)(this.observed());
  }

  /** One reconcile; returns its writes in words. */
  pass(): readonly string[] {
    const { steps } = this.decide();
    for (const step of steps) for (const action of step) this.perform(action);
    return steps.flat().map(inWords);
  }

  /** Reconciles until nothing is left to do. */
  settle(): void {
    for (let round = 0; this.pass().length > 0; round++) if (round > 20) throw new Error('does not settle');
  }

  perform(action: Action): void {
    if (action.do === 'event') return;
    if (action.do === 'create') {
      const { name } = action.object.metadata;
      if (this.bindings.some(({ metadata }) => metadata.name === name)) throw new Error(`${name} exists`);
      const uid = `uid-${name}-${this.#revision}`;
      const metadata = { ...action.object.metadata, uid, resourceVersion: String(this.#revision++), generation: 1 };
      this.bindings = [...this.bindings, { ...action.object, metadata }];
      return;
    }
    const { plural } = action.of.resource;
    const next = (object: KubeObject): KubeObject => {
      if (object.metadata.resourceVersion !== action.of.resourceVersion) throw new Error('conflict');
      // A write without changes creates no new revision.
      if (action.do === 'json-patch') throw new Error('not written here');
      if (action.do === 'patch' && Object.keys(action.merge as object).length === 0) return object;
      const resourceVersion = String(this.#revision++);
      const patch = action.do === 'delete' ? { metadata: { deletionTimestamp: kubeTime(this.now) } } : action.merge;
      return merged(merged(object, patch), { metadata: { resourceVersion } }) as KubeObject;
    };
    const isOver = ({ metadata }: KubeObject) =>
      metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0;
    if (plural === this.family.policySnapshot.plural) this.snapshot = next(this.snapshot);
    if (plural === this.family.placement.plural) {
      const changed = next(this.placement as KubeObject);
      this.placement = isOver(changed) ? undefined : changed;
    }
    if (plural === this.family.binding.plural) {
      this.bindings = this.bindings
        .map((each) => (each.metadata.name === action.of.name ? next(each) : each))
        .filter((each) => !isOver(each));
    }
  }

  // ---- what tests read

  /** `c7 Bound web-1`, `c5 Unscheduled (Bound) web-0`, `c3 deleting`. */
  get words(): readonly string[] {
    return this.bindings.map(bindingInWords).sort();
  }

  get live(): readonly string[] {
    return this.bindings
      .filter((each) => each.metadata.deletionTimestamp === undefined && specOf(each).state !== 'Unscheduled')
      .map((each) => short(specOf(each).targetCluster))
      .sort();
  }

  get status(): PolicySnapshotStatus {
    return this.snapshot.status as PolicySnapshotStatus;
  }

  /** `True/Scheduled 7`, with the first number of the message. */
  get condition(): string | undefined {
    const found = conditionOf(this.status?.conditions, 'Scheduled');
    return found && `${found.status}/${found.reason} ${/\d+/.exec(found.message)?.[0]}`;
  }

  /** `c7 (-1,0)` for each picked cluster, sorted by name: (topology, affinity). */
  get selected(): readonly string[] {
    return (this.status?.targetClusters ?? []).filter(({ selected }) => selected).map(scoreInWords);
  }

  /** In the order of the status. Filtered clusters have no score. */
  get unselected(): readonly string[] {
    return (this.status?.targetClusters ?? []).filter(({ selected }) => !selected).map(scoreInWords);
  }

  reasonOf(cluster: string): string | undefined {
    return this.status?.targetClusters?.find(({ clusterName }) => clusterName === long(cluster))?.reason;
  }
}

const project = <T>(source: { project?(object: KubeObject): T }, object: KubeObject): T =>
  source.project?.(object) as T;

export const specOf = (binding: KubeObject) => binding.spec as NonNullable<Binding['spec']>;

function bindingInWords(binding: KubeObject): string {
  const { targetCluster, state, schedulingPolicySnapshotName } = specOf(binding);
  if (binding.metadata.deletionTimestamp !== undefined) return `${short(targetCluster)} deleting`;
  const previous = binding.metadata.annotations?.[annotations.previousBindingState];
  return `${short(targetCluster)} ${state}${previous === undefined ? '' : ` (${previous})`} ${schedulingPolicySnapshotName}`;
}

const scoreInWords = ({ clusterName, clusterScore }: ClusterDecision): string =>
  clusterScore === undefined
    ? short(clusterName)
    : `${short(clusterName)} (${clusterScore.priorityScore},${clusterScore.affinityScore})`;

export function inWords(action: Action): string {
  switch (action.do) {
    case 'create':
      return `create ${short((action.object.spec as Binding['spec'])?.targetCluster ?? '')}`;
    case 'patch':
    case 'json-patch':
      return `patch ${action.of.resource.kind}${action.subresource === undefined ? '' : ' status'}`;
    case 'delete':
      return `delete ${action.of.resource.kind}`;
    case 'event':
      return `event ${action.reason}`;
  }
}

/** A JSON merge patch. */
function merged(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: Record<string, unknown> = { ...(isObject(target) ? target : {}) };
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete result[field];
    else if (value !== undefined) result[field] = merged(result[field], value);
  }
  return result;
}
