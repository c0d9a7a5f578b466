// The chain of evidence behind a cause, as far as the caller may read it: the blocking object, its member, its binding,
// its Works, and the member's report about workloads that do not start or are not deleted.
import { memberCluster } from '../../api/member-cluster.ts';
import type { ObjectRef } from '../../api/object.ts';
import type { Placement } from '../../api/placement.ts';
import { work } from '../../api/work.ts';
import type { HubBinding } from '../../hub/placement-sources.ts';
import type { Progress } from '../progress/placement-progress.ts';
import { ifRead, type Reader } from '../reader.ts';
import { NAME, type WhichPlacement } from '../which-placement.ts';
import {
  bindingEvidence,
  type Evidence,
  memberEvidence,
  sayCondition,
  sayFailed,
  workEvidence,
} from './explanation.ts';

/** The state of a chain: what was read and reported so far. */
export interface Chain {
  readonly which: WhichPlacement;
  /** The title of the placement. */
  readonly title: string;
  /** Absent = it does not exist, or may not be read. */
  readonly placement?: Placement;
  readonly reader: Reader;
  readonly now: number;
  /** Objects that were reported already, so that nothing is reported twice. */
  readonly told: Set<string>;
}

/** The chain with the placement and its progress. */
export interface Looking extends Chain {
  readonly placement: Placement;
  readonly progress: Progress;
}

/** The chain is followed for at most this many objects; other causes have only their message. */
export const MAX_CHAINS = 5;

export const clusterRef = (name: string): ObjectRef => ({ group: memberCluster.group, kind: memberCluster.kind, name });

export async function chainFrom(chain: Chain, on: ObjectRef): Promise<readonly Evidence[]> {
  const { which, placement, reader, now, told } = chain;
  // The names are from a status, where any client with write access may have written anything.
  if (!NAME.test(on.name) || (on.namespace !== undefined && !NAME.test(on.namespace))) return [];
  const { family } = which;
  if (on.kind === memberCluster.kind) return clusterChain(chain, on.name);
  if (told.size >= MAX_CHAINS) return [];
  if (on.kind === family.binding.kind) {
    const binding = ifRead(await reader.bindings())?.find(({ metadata }) => metadata.name === on.name);
    // The chain of its cluster includes all its bindings.
    if (binding === undefined || isTold(chain, clusterRef(binding.spec.targetCluster))) return [];
    return once(chain, on, () => bindingChain(chain, binding));
  }
  if (on.kind === work.kind && on.namespace !== undefined) {
    const found = ifRead(await reader.work(on.namespace, on.name));
    return found === undefined ? [] : [workEvidence(found, now), ...(await reader.behind(found, now))];
  }
  if (on.kind === family.placement.kind) {
    const open = (placement?.status?.conditions ?? []).filter(({ status }) => status !== 'True');
    return open.length === 0
      ? []
      : once(chain, on, async () => [{ about: chain.title, says: open.map((each) => sayCondition(each, now)) }]);
  }
  return [];
}

const bindingRef = ({ which: { family } }: Chain, { metadata: { name = '' } }: HubBinding): ObjectRef => ({
  group: family.binding.group,
  kind: family.binding.kind,
  name,
});

const keyOf = ({ kind, name }: ObjectRef): string => `${kind} ${name}`;

export const isTold = ({ told }: Chain, on: ObjectRef | undefined): boolean => on !== undefined && told.has(keyOf(on));

async function once(
  { told }: Chain,
  on: ObjectRef,
  read: () => Promise<readonly Evidence[]>,
): Promise<readonly Evidence[]> {
  const key = keyOf(on);
  if (told.has(key) || told.size >= MAX_CHAINS) return [];
  told.add(key);
  return read();
}

export const bindingsOf = async ({ reader }: Chain, cluster: string): Promise<readonly HubBinding[]> =>
  (ifRead(await reader.bindings()) ?? []).filter(({ spec }) => spec.targetCluster === cluster);

export const clusterChain = (chain: Chain, cluster: string): Promise<readonly Evidence[]> =>
  once(chain, clusterRef(cluster), async () => {
    const { reader, now } = chain;
    const member = await reader.member(cluster);
    const links = 'value' in member ? [memberEvidence(member.value, cluster, now)] : [];
    const bindings = await bindingsOf(chain, cluster);
    // Bindings are links of this chain and do not count themselves, or a few clusters would use up the maximum.
    const untold = bindings.filter((each) => !isTold(chain, bindingRef(chain, each)));
    for (const binding of untold) links.push(...(await bindingChain(chain, binding)));
    return bindings.length > 0 ? links : [...links, ...reported(chain, cluster)];
  });

async function bindingChain({ which, reader, now }: Chain, binding: HubBinding): Promise<readonly Evidence[]> {
  const works = ifRead(await reader.worksOf(binding)) ?? [];
  const own = bindingEvidence(which.family.binding.kind, binding, now);
  const said = new Set((binding.failedPlacements ?? []).map(({ condition }) => condition.message));
  const links = [own];
  for (const each of works) links.push(workEvidence(each, now, said), ...(await reader.behind(each, now)));
  return links;
}

/** What the placement reports about a binding that may not be read. */
function reported({ placement, title, now }: Chain, cluster: string): readonly Evidence[] {
  const state = placement?.status?.placementStatuses?.find(({ clusterName }) => clusterName === cluster);
  if (state === undefined) return [];
  const { conditions = [], failedPlacements = [] } = state;
  const says = [
    ...conditions.filter(({ status }) => status !== 'True').map((each) => sayCondition(each, now)),
    ...failedPlacements.slice(0, MAX_CHAINS).map((each) => sayFailed(each, now)),
  ];
  return says.length === 0 ? [] : [{ about: `${title} on cluster "${cluster}"`, says }];
}
