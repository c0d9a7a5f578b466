// A StatefulSet: numbered Pods. With OrderedReady one at a time, upwards when scaling up, downwards when scaling down
// or updating, and each waits until its neighbor is available. Parallel creates and deletes all at once; in both cases
// updates go downwards one at a time.

import type {
  ControllerRevision,
  Pod,
  PodTemplate,
  StatefulSet,
  StatefulSetSpec,
  StatefulSetStatus,
} from '../../../api/builtin/shapes.ts';
import type { KubeObject } from '../../../api/object.ts';
import { isActive, isAvailable, isFinished, isReady, managedPods, nextAvailable } from '../pods.ts';
import { isDeleting } from '../reading.ts';
import { claims, pods, statefulSets } from '../resources.ts';
import { earliest, managedBy, nothing, type Outcome, type Rule, statusWrites, type Write } from '../rule.ts';
import { positive } from './deployment.ts';
import type { PodsRelated } from './replica-set.ts';
import { type History, historyOf, templateIn, trimHistory } from './revisions.ts';

export interface StatefulSetRelated extends PodsRelated {
  /** The revisions that it manages. */
  readonly revisions: readonly ControllerRevision[];
  /** Names of the claims in its namespace that begin with a claim template's name. */
  readonly claims: ReadonlySet<string>;
}

export const REVISION_LABEL = 'controller-revision-hash';
const INDEX_LABEL = 'apps.kubernetes.io/pod-index';
const NAME_LABEL = 'statefulset.kubernetes.io/pod-name';
const HASH_LABEL = 'controller.kubernetes.io/hash';

export const statefulSet: Rule<StatefulSet, StatefulSetRelated> = (object, related, now) => {
  const { spec } = object;
  if (spec === undefined) return nothing;
  const history = historyOf(
    { resource: statefulSets, object, template: spec.template, hashLabel: HASH_LABEL },
    related.revisions,
  );
  const mine = managedPods(related.pods, object.metadata.uid);
  const set: View = {
    object,
    spec,
    now,
    history,
    pods: new Map(mine.map((pod) => [ordinalOf(pod), pod])),
    current: object.status?.currentRevision ?? history.name,
    related,
  };
  const step = isDeleting(object) ? [] : nextStep(set);
  const writes = [...history.writes, ...step];
  // The writes appear in the counts in the next run, which follows immediately.
  if (writes.length > 0) return { writes };
  const status = statusOf(set);
  const used = new Set([status.currentRevision ?? '', status.updateRevision ?? '', ...mine.map(revisionOf)]);
  return {
    writes: [
      ...statusWrites(statefulSets, object, { status, because: `${mine.length} Pods` }),
      ...trimHistory(related.revisions, used, spec.revisionHistoryLimit),
    ],
    ...earliest(nextAvailable(mine, spec.minReadySeconds, now)),
  } satisfies Outcome;
};

interface View {
  readonly object: StatefulSet;
  readonly spec: StatefulSetSpec;
  readonly now: number;
  readonly history: History;
  readonly pods: ReadonlyMap<number, Pod>;
  readonly current: string;
  readonly related: StatefulSetRelated;
}

const ordinalOf = ({ metadata }: Pod): number => Number(/-(\d{1,9})$/.exec(metadata.name ?? '')?.[1] ?? -1);
const revisionOf = ({ metadata }: Pod): string => metadata.labels?.[REVISION_LABEL] ?? '';
const isHealthy = (set: View, pod: Pod): boolean =>
  isActive(pod) && isAvailable(pod, set.spec.minReadySeconds, set.now);
const firstOf = ({ spec }: View): number => spec.ordinals?.start ?? 0;
const remove = (of: Pod, because: string): Write => ({ do: 'delete', resource: pods, of, because });

function nextStep(set: View): readonly Write[] {
  const { spec } = set;
  const isOrdered = spec.podManagementPolicy !== 'Parallel';
  const first = firstOf(set);
  const writes: Write[] = [];
  for (let ordinal = first; ordinal < first + spec.replicas; ordinal++) {
    const pod = set.pods.get(ordinal);
    if (pod === undefined) writes.push(...create(set, ordinal));
    else if (isFinished(pod) && !isDeleting(pod)) writes.push(remove(pod, 'finished Pods are replaced'));
    else if (!isOrdered || isHealthy(set, pod)) continue;
    if (isOrdered) return writes;
  }
  const extra = [...set.pods.keys()]
    .filter((each) => each < first || each >= first + spec.replicas)
    .toSorted((a, b) => b - a);
  for (const ordinal of extra) {
    const pod = set.pods.get(ordinal);
    if (pod === undefined) continue;
    if (!isDeleting(pod)) writes.push(remove(pod, `ordinal ${ordinal} is not wanted`));
    if (isOrdered) return writes;
  }
  return writes.length > 0 || extra.length > 0 || spec.updateStrategy.type !== 'RollingUpdate' ? writes : update(set);
}

/** Deletes the highest Pod of an older revision if all Pods above it are healthy. */
function update(set: View): readonly Write[] {
  const { spec, history } = set;
  const first = firstOf(set);
  const lowest = first + (spec.updateStrategy.rollingUpdate?.partition ?? 0);
  for (let ordinal = first + spec.replicas - 1; ordinal >= lowest; ordinal--) {
    const pod = set.pods.get(ordinal);
    if (pod === undefined) return [];
    if (revisionOf(pod) !== history.name && !isDeleting(pod)) return [remove(pod, `to be made from ${history.name}`)];
    if (!isHealthy(set, pod)) return [];
  }
  return [];
}

function create(set: View, ordinal: number): readonly Write[] {
  const { object, spec, history, current, related } = set;
  const { name: owner = '', namespace = '' } = object.metadata;
  const name = `${owner}-${ordinal}`;
  // A Pod of a deleted predecessor still has the name: its deletion enqueues the key again.
  if (related.pods.some((pod) => pod.metadata.name === name)) return [];
  const isPartitioned = ordinal < firstOf(set) + (spec.updateStrategy.rollingUpdate?.partition ?? 0);
  const older = isPartitioned ? related.revisions.find((each) => each.metadata.name === current) : undefined;
  const template: PodTemplate = (older && templateIn(older)) ?? spec.template;
  const volumes = (spec.volumeClaimTemplates ?? []).map((claim) => ({
    name: claim.metadata.name ?? '',
    persistentVolumeClaim: { claimName: `${claim.metadata.name}-${name}` },
  }));
  const others = ((template.spec['volumes'] ?? []) as readonly { readonly name: string }[]).filter(
    (volume) => !volumes.some((each) => each.name === volume.name),
  );
  const pod: KubeObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      generateName: `${owner}-`,
      namespace,
      ...template.metadata,
      labels: {
        ...template.metadata?.labels,
        [INDEX_LABEL]: String(ordinal),
        [REVISION_LABEL]: older?.metadata.name ?? history.name,
        [NAME_LABEL]: name,
      },
      ownerReferences: [managedBy(statefulSets, object)],
    },
    spec: {
      ...template.spec,
      hostname: name,
      ...(spec.serviceName ? { subdomain: spec.serviceName } : {}),
      ...(volumes.length + others.length === 0 ? {} : { volumes: [...volumes, ...others] }),
    },
  };
  return [
    ...(spec.volumeClaimTemplates ?? [])
      .filter((claim) => !related.claims.has(`${claim.metadata.name}-${name}`))
      .map(
        (claim): Write => ({
          do: 'create',
          resource: claims,
          because: `the volume of ${name}`,
          object: {
            apiVersion: 'v1',
            kind: 'PersistentVolumeClaim',
            metadata: {
              name: `${claim.metadata.name}-${name}`,
              namespace,
              labels: { ...claim.metadata.labels, ...spec.selector.matchLabels },
              ...(claim.metadata.annotations === undefined ? {} : { annotations: claim.metadata.annotations }),
            },
            spec: claim.spec,
          },
        }),
      ),
    { do: 'create', resource: pods, object: pod, because: `ordinal ${ordinal} is missing` },
  ];
}

function statusOf({ object, spec, now, history, pods: numbered, current }: View): StatefulSetStatus {
  const all = [...numbered.values()];
  const count = (matches: (pod: Pod) => boolean) => all.filter(matches).length;
  const ready = count(isReady);
  const updated = count((pod) => !isDeleting(pod) && revisionOf(pod) === history.name);
  // The update is complete when every Pod has the new revision and is ready; only then it becomes the current one.
  const isOver = spec.updateStrategy.type === 'RollingUpdate' && updated === all.length && ready === all.length;
  return {
    observedGeneration: object.metadata.generation ?? 0,
    replicas: all.length,
    ...positive({
      readyReplicas: ready,
      currentReplicas: isOver ? updated : count((pod) => !isDeleting(pod) && revisionOf(pod) === current),
      updatedReplicas: updated,
    }),
    availableReplicas: count((pod) => isAvailable(pod, spec.minReadySeconds, now)),
    currentRevision: isOver ? history.name : current,
    updateRevision: history.name,
    collisionCount: object.status?.collisionCount ?? 0,
  };
}
