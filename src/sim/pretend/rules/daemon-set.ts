// A DaemonSet: one Pod on every node that accepts it. An update replaces them within maxUnavailable, or with maxSurge
// creates the new Pod before the old one is deleted.

import type {
  ControllerRevision,
  DaemonSet,
  DaemonSetSpec,
  Node,
  Pod,
  PodSpec,
  Toleration,
} from '../../../api/builtin/shapes.ts';
import type { KubeObject } from '../../../api/object.ts';
import { by } from '../../../base/compare.ts';
import { countRoundedUp } from '../../../base/int-or-percent.ts';
import { lettersOf } from '../names.ts';
import { byCreation, isActive, isAvailable, isFinished, isReady, managedPods, nextAvailable } from '../pods.ts';
import { isDeleting } from '../reading.ts';
import { daemonSets, pods } from '../resources.ts';
import { earliest, managedBy, nothing, type Outcome, type Rule, statusWrites, type Write } from '../rule.ts';
import { positive } from './deployment.ts';
import { matchesNode, repels } from './node-fit.ts';
import type { PodsRelated } from './replica-set.ts';
import { type History, historyOf, trimHistory } from './revisions.ts';
import { REVISION_LABEL } from './stateful-set.ts';

export interface DaemonSetRelated extends PodsRelated {
  readonly revisions: readonly ControllerRevision[];
  readonly nodes: readonly Node[];
}

const GENERATION = 'deprecated.daemonset.template.generation';

/** Taints that keep ordinary Pods away, and that daemons tolerate. */
const TOLERATED: readonly Toleration[] = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
];
const HOST_NETWORK: Toleration = {
  key: 'node.kubernetes.io/network-unavailable',
  operator: 'Exists',
  effect: 'NoSchedule',
};

export const daemonSet: Rule<DaemonSet, DaemonSetRelated> = (object, related, now) => {
  const { spec } = object;
  if (spec === undefined) return nothing;
  const generation = object.metadata.annotations?.[GENERATION];
  const history = historyOf(
    {
      resource: daemonSets,
      object,
      template: spec.template,
      hashLabel: REVISION_LABEL,
      ...(generation === undefined ? {} : { annotations: { [GENERATION]: generation } }),
    },
    related.revisions,
  );
  const mine = managedPods(related.pods, object.metadata.uid);
  const places = placesOf(spec, related.nodes, mine);
  const view: View = {
    object,
    spec,
    now,
    history,
    places,
    taken: new Set(related.pods.map((pod) => pod.metadata.name ?? '')),
  };
  const steps = isDeleting(object)
    ? []
    : [...settle(view, mine), ...(spec.updateStrategy.type === 'RollingUpdate' ? update(view) : [])];
  const writes = [...history.writes, ...steps];
  if (writes.length > 0) return { writes };
  return {
    writes: [
      ...statusWrites(daemonSets, object, { status: statusOf(view), because: `${places.length} nodes` }),
      ...trimHistory(related.revisions, usedBy(mine, object, history), spec.revisionHistoryLimit),
    ],
    ...earliest(nextAvailable(mine, spec.minReadySeconds, now)),
  } satisfies Outcome;
};

interface Place {
  readonly node: string;
  readonly shouldRun: boolean;
  /** False: an existing Pod must be deleted. */
  readonly mayStay: boolean;
  /** Not deleting, oldest first. */
  readonly pods: readonly Pod[];
  readonly isLeaving: boolean;
}

interface View {
  readonly object: DaemonSet;
  readonly spec: DaemonSetSpec;
  readonly now: number;
  readonly history: History;
  readonly places: readonly Place[];
  readonly taken: ReadonlySet<string>;
}

const usedBy = (mine: readonly Pod[], { metadata }: DaemonSet, { name }: History): ReadonlySet<string> =>
  new Set([name, ...mine.map((pod) => `${metadata.name}-${hashOf(pod)}`)]);

const hashOf = ({ metadata }: Pod): string => metadata.labels?.[REVISION_LABEL] ?? '';

/** The node of a daemon's Pod: where it runs, or to which its affinity pins it. */
export function nodeOf({ spec }: { readonly spec?: PodSpec | undefined }): string {
  if (spec?.nodeName) return spec.nodeName;
  for (const term of spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ??
    []) {
    for (const field of term.matchFields ?? []) if (field.key === 'metadata.name') return field.values?.[0] ?? '';
  }
  return '';
}

const tolerationsOf = ({ template }: DaemonSetSpec): readonly Toleration[] => {
  const own = template.spec.tolerations ?? [];
  const added = [...TOLERATED, ...(template.spec.hostNetwork ? [HOST_NETWORK] : [])];
  return [
    ...own,
    ...added.filter(
      (each) => !own.some((other) => other.key === each.key && other.effect === each.effect && !other.value),
    ),
  ];
};

function placesOf(spec: DaemonSetSpec, nodes: readonly Node[], mine: readonly Pod[]): readonly Place[] {
  const tolerations = tolerationsOf(spec);
  return nodes.toSorted(by((node: Node) => node.metadata.name ?? '')).map((node) => {
    const name = node.metadata.name ?? '';
    const here = mine.filter((pod) => nodeOf(pod) === name);
    const isMatch = matchesNode(spec.template.spec, node);
    return {
      node: name,
      shouldRun: isMatch && !repels(node, tolerations, ['NoSchedule', 'NoExecute']),
      mayStay: isMatch && !repels(node, tolerations, ['NoExecute']),
      pods: here.filter((pod) => !isDeleting(pod)).toSorted(byCreation),
      isLeaving: here.some(isDeleting),
    };
  });
}

const remove = (of: Pod, because: string): Write => ({ do: 'delete', resource: pods, of, because });

/** One Pod on each node that should have one, none on the others. */
function settle(view: View, mine: readonly Pod[]): readonly Write[] {
  const writes: Write[] = [];
  const surge = surgeOf(view);
  for (const place of view.places) {
    const failed = place.pods.filter(isFinished);
    const alive = place.pods.filter((pod) => !isFinished(pod));
    for (const pod of failed) writes.push(remove(pod, 'finished Pods are replaced'));
    if (place.shouldRun && place.pods.length === 0 && !place.isLeaving) writes.push(create(view, place.node));
    if (!place.mayStay) for (const pod of alive) writes.push(remove(pod, `${place.node} does not take it`));
    else if (alive.length > 1 && surge === 0)
      for (const pod of alive.slice(1)) writes.push(remove(pod, 'one too many'));
  }
  const known = new Set(view.places.map((place) => place.node));
  for (const pod of mine) {
    if (!isDeleting(pod) && !known.has(nodeOf(pod))) writes.push(remove(pod, 'its node is gone'));
  }
  return writes;
}

const wanted = ({ places }: View): number => places.filter((place) => place.shouldRun).length;
const surgeOf = (view: View): number =>
  countRoundedUp(view.spec.updateStrategy.rollingUpdate?.maxSurge ?? 0, wanted(view));

function update(view: View): readonly Write[] {
  const { spec, history, now, places } = view;
  const isCurrent = (pod: Pod) => hashOf(pod) === history.hash;
  const isUp = (pod: Pod) => isActive(pod) && isAvailable(pod, spec.minReadySeconds, now);
  const running = places.filter((place) => place.shouldRun);
  const surge = surgeOf(view);
  if (surge > 0) {
    let room =
      surge - running.filter((place) => place.pods.some(isCurrent) && place.pods.some((pod) => !isCurrent(pod))).length;
    return running.flatMap((place) => {
      const old = place.pods.filter((pod) => !isCurrent(pod));
      const next = place.pods.find(isCurrent);
      if (old.length === 0) return [];
      if (next !== undefined) return isUp(next) ? old.map((pod) => remove(pod, 'its successor is up')) : [];
      if (!old.some(isUp)) return old.map((pod) => remove(pod, 'it is broken and outdated'));
      return room-- > 0 && !place.isLeaving ? [create(view, place.node)] : [];
    });
  }
  const down = running.filter((place) => !place.pods.some(isUp));
  let room = countRoundedUp(spec.updateStrategy.rollingUpdate?.maxUnavailable ?? 1, running.length) - down.length;
  return running.flatMap((place) => {
    const [old] = place.pods.filter((pod) => !isCurrent(pod) && !isFinished(pod));
    if (old === undefined) return [];
    // Replacing a broken Pod costs no budget.
    if (!isUp(old)) return [remove(old, 'it is broken and outdated')];
    return room-- > 0 ? [remove(old, `to be made from ${history.name}`)] : [];
  });
}

function create({ object, spec, history, taken }: View, node: string): Write {
  const { name: owner = '', namespace = '' } = object.metadata;
  const { template } = spec;
  const generation = object.metadata.annotations?.[GENERATION];
  let name = '';
  for (let attempt = 0; name === '' || taken.has(name); attempt++) {
    name = `${owner.slice(0, 57)}-${lettersOf(`${node}/${history.hash}/${attempt}`, 5)}`;
  }
  const pinned = { key: 'metadata.name', operator: 'In', values: [node] };
  const terms = template.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const object_: KubeObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      generateName: `${owner}-`,
      namespace,
      ...template.metadata,
      labels: {
        ...template.metadata?.labels,
        [REVISION_LABEL]: history.hash,
        ...(generation === undefined ? {} : { 'pod-template-generation': generation }),
      },
      ownerReferences: [managedBy(daemonSets, object)],
    },
    spec: {
      ...template.spec,
      affinity: {
        ...template.spec.affinity,
        nodeAffinity: {
          ...template.spec.affinity?.nodeAffinity,
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: terms?.length
              ? terms.map((term) => ({ ...term, matchFields: [pinned] }))
              : [{ matchFields: [pinned] }],
          },
        },
      },
      tolerations: tolerationsOf(spec),
    },
  };
  return { do: 'create', resource: pods, object: object_, because: `${node} has none` };
}

function statusOf({ object, spec, now, history, places }: View): object {
  const running = places.filter((place) => place.shouldRun);
  const first = (place: Place, matches: (pod: Pod) => boolean) => place.pods.filter(isActive).some(matches);
  const count = (matches: (pod: Pod) => boolean) => running.filter((place) => first(place, matches)).length;
  const available = count((pod) => isAvailable(pod, spec.minReadySeconds, now));
  return {
    observedGeneration: object.metadata.generation ?? 0,
    desiredNumberScheduled: running.length,
    currentNumberScheduled: count(() => true),
    numberMisscheduled: places.filter((place) => !place.shouldRun && place.pods.length > 0).length,
    numberReady: count(isReady),
    ...positive({
      updatedNumberScheduled: count((pod) => hashOf(pod) === history.hash),
      numberAvailable: available,
      numberUnavailable: running.length - available,
    }),
  };
}
