// `flotilla drain CLUSTER` and `kubectl fleet draincluster`: taints a cluster, then evicts every
// ClusterResourcePlacement from it, within the budgets. What cannot be evicted (PickFixed and namespaced placements,
// blocked evictions) is listed with the next step.
import { type Binding, binding } from '../../api/binding.ts';
import { type Eviction, eviction } from '../../api/eviction.ts';
import { labels } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import { apiVersionOf, type KubeObject } from '../../api/object.ts';
import { type Placement, placement } from '../../api/placement.ts';
import { type Clock, until } from '../../base/clock.ts';
import { by } from '../../base/compare.ts';
import { formatDuration } from '../../base/duration.ts';
import { AbortError, ApiError } from '../../base/errors.ts';
import type { Connected } from '../server/connect.ts';
import { follow } from '../server/follow.ts';
import type { Print } from '../server/target.ts';
import { EXIT } from '../terminal/showing.ts';
import { cordon } from './cordon.ts';

type Server = Pick<Connected, 'transport' | 'catalogue'>;

export interface DrainOptions {
  readonly cluster: string;
  readonly timeoutMs: number;
  /** How often blocked evictions are tried; absent = until the timeout. */
  readonly maxRounds?: number;
  /** Eight hexadecimal digits that make the name of an eviction unique. */
  suffix(): string;
  readonly clock: Clock;
}

const RETRY_MS = 5000;

export interface Left {
  readonly what: string;
  readonly next: string;
}

/** Prints the progress; returns what is left on the cluster. */
export async function drain(server: Server, options: DrainOptions, print: Print): Promise<readonly Left[]> {
  const { cluster, timeoutMs, maxRounds = Number.POSITIVE_INFINITY, clock } = options;
  const over = new AbortController();
  const cancel = clock.at(clock.now() + timeoutMs, 'drain gives up', () => over.abort());
  const said = new Set<string>();
  const sayOnce = (line: string) => {
    if (!said.has(line)) print.line(line);
    said.add(line);
  };
  try {
    const isNew = await cordon(server, cluster);
    print.line(`membercluster/${cluster} ${isNew ? 'cordoned' : 'is cordoned already'}`);
    for (let round = 1; round <= maxRounds; round++) {
      const found = await clusterBindings(server, cluster);
      for (const each of found.evictable) sayOnce(await evict(server, each, options, over.signal));
      if (found.evictable.length === 0 && found.leaving.length === 0) break;
      for (const each of found.leaving) sayOnce(`${titleOf(each)}: is being removed from the cluster`);
      const isLast = round >= maxRounds || over.signal.aborted;
      if (isLast || (await until(clock, clock.now() + RETRY_MS, 'drain', over.signal)) === 'aborted') break;
    }
  } catch (error) {
    if (!(error instanceof AbortError && over.signal.aborted)) throw error;
    print.warning(`gave up after ${formatDuration(timeoutMs)}`);
  } finally {
    cancel();
  }
  return leftOn(server, cluster);
}

/** Prints what is left; returns the exit code. */
export function tellLeft(cluster: string, left: readonly Left[], print: Print): number {
  if (left.length === 0) {
    print.line(`membercluster/${cluster} drained; "flotilla uncordon ${cluster}" allows placements again`);
    return EXIT.complete;
  }
  print.line(`${left.length} ${left.length === 1 ? 'placement is' : 'placements are'} left on cluster "${cluster}":`);
  for (const { what, next } of left) print.line(`  ${what}: ${next}`);
  return EXIT.waiting;
}

// ---- what is on the cluster

const placementOf = ({ metadata }: Binding): string => metadata.labels?.[labels.parentPlacement] ?? '';
const titleOf = (each: Binding): string =>
  `${each.metadata.namespace === undefined ? placement.cluster.kind : placement.namespaced.kind} "${
    each.metadata.namespace === undefined ? '' : `${each.metadata.namespace}/`
  }${placementOf(each)}"`;
const isLeaving = ({ metadata }: Binding): boolean => metadata.deletionTimestamp !== undefined;

async function bindingsOn({ transport }: Server, cluster: string, scope: 'cluster' | 'namespaced') {
  const { list } = await transport.call({ verb: 'list', at: { resource: binding[scope] } });
  return ((list?.items ?? []) as readonly Binding[])
    .filter(({ spec }) => spec?.targetCluster === cluster)
    .toSorted(by((each) => `${each.metadata.namespace ?? ''}/${each.metadata.name ?? ''}`));
}

async function findPlacement({ transport }: Server, name: string): Promise<Placement | undefined> {
  try {
    return (await transport.call({ verb: 'get', at: { resource: placement.cluster, name } })).object as Placement;
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return undefined;
    throw error;
  }
}

const isPickFixed = (found: Placement | undefined): boolean => found?.spec?.policy?.placementType === 'PickFixed';

const isGone = (found: Placement | undefined): boolean => found?.metadata.deletionTimestamp !== undefined;

interface Evictable {
  readonly binding: Binding;
  readonly placement: Placement | undefined;
}

async function clusterBindings(server: Server, cluster: string) {
  const evictable: Evictable[] = [];
  const leaving: Binding[] = [];
  for (const each of await bindingsOn(server, cluster, 'cluster')) {
    const found = isLeaving(each) ? undefined : await findPlacement(server, placementOf(each));
    // The bindings of a placement that is being deleted are deleted with it, and an eviction would be refused.
    if (isLeaving(each) || isGone(found)) leaving.push(each);
    else if (!isPickFixed(found)) evictable.push({ binding: each, placement: found });
  }
  return { evictable, leaving };
}

async function leftOn(server: Server, cluster: string): Promise<readonly Left[]> {
  const left: Left[] = [];
  for (const each of await bindingsOn(server, cluster, 'cluster')) {
    const found = isLeaving(each) ? undefined : await findPlacement(server, placementOf(each));
    if (isLeaving(each) || isGone(found)) left.push({ what: titleOf(each), next: 'is still being removed; wait' });
    else if (isPickFixed(found))
      left.push({ what: titleOf(each), next: `PickFixed; remove "${cluster}" from its spec.policy.clusterNames` });
    else left.push({ what: titleOf(each), next: 'its eviction was blocked; see the line above, then drain again' });
  }
  const namespaced = (await bindingsOn(server, cluster, 'namespaced')).filter((each) => !isLeaving(each));
  return [
    ...left,
    ...namespaced.map((each) => ({
      what: titleOf(each),
      next: 'namespaced placements cannot be evicted; change its policy, the taint keeps it from coming back',
    })),
  ];
}

// ---- evicting

/** Creates one eviction and waits for its outcome; returns a message about it. */
async function evict(
  server: Server,
  { binding: each, placement: found }: Evictable,
  options: DrainOptions,
  signal: AbortSignal,
): Promise<string> {
  const { cluster, suffix, clock } = options;
  const placementName = placementOf(each);
  const name = `drain-eviction-${placementName}-${cluster}-${suffix()}`;
  const object: KubeObject = {
    apiVersion: apiVersionOf(eviction.group, eviction.version),
    kind: eviction.kind,
    metadata: { name },
    spec: { placementName, clusterName: cluster },
  };
  try {
    await server.transport.call({ verb: 'create', at: { resource: eviction }, object, manager: 'flotilla' }, signal);
  } catch (error) {
    // The placement may have been deleted meanwhile; the others are still evicted.
    if (!(error instanceof ApiError && error.reason === 'Invalid')) throw error;
    return `${titleOf(each)}: not evicted (${error.message})`;
  }
  for await (const now of follow(server.transport, { resource: eviction, name }, { clock, signal })) {
    const conditions = (now as Eviction | undefined)?.status?.conditions;
    const [valid, executed] = ['Valid', 'Executed'].map((type) => conditionOf(conditions, type));
    if (now === undefined) return `${titleOf(each)}: the eviction was deleted`;
    if (executed !== undefined) {
      const isEvicted = executed.status === 'True';
      // It is retried under another name, and evictions are never garbage collected.
      if (!isEvicted && options.maxRounds === undefined) {
        await server.transport.call({ verb: 'delete', at: { resource: eviction, name } }, signal);
      }
      const outcome = `${titleOf(each)}: ${isEvicted ? 'evicted' : 'not evicted'} (${executed.message})`;
      return isEvicted ? [outcome, ...clusterScopedOf(found)].join('\n') : outcome;
    }
    if (valid?.status === 'False') return `${titleOf(each)}: not evicted (${valid.message})`;
  }
  throw new AbortError('given up');
}

const MAX_NAMED = 20;

/** Cluster-scoped objects that also leave the cluster, which a user may not expect. */
function clusterScopedOf(found: Placement | undefined): readonly string[] {
  const all = (found?.status?.selectedResources ?? []).filter(({ namespace }) => namespace === undefined);
  if (all.length === 0) return [];
  const named = all.slice(0, MAX_NAMED).map(({ kind, name }) => `${kind} "${name}"`);
  const more = all.length > named.length ? ` and ${all.length - named.length} more` : '';
  return [`  removes from the cluster: ${named.join(', ')}${more}`];
}
