// What a person can do about objects that were refused on a member, or do not work there. Pure, from what a placement's status says of them; the
// words of the refusals are the agent's (member/apply/judge.ts). What several clusters have in common is said once.
import type { Placement } from '../api/placement.ts';
import type { ClusterPlacementState } from '../api/placement-state.ts';
import { objectName } from './explanation.ts';
import { NAME } from './which-placement.ts';

type Failed = NonNullable<ClusterPlacementState['failedPlacements']>[number];

interface Advice {
  /** Equal for those that can be said together. */
  readonly what: string;
  say(clusters: readonly string[]): string;
}

/** More than that nobody reads; `why --cluster` has the rest. */
const MOST = 5;

/** `about`: only these clusters; absent = all. */
export function adviceFor(placement: Placement | undefined, about?: readonly string[]): readonly string[] {
  const found = new Map<string, { readonly advice: Advice; readonly clusters: string[] }>();
  for (const { clusterName = '', failedPlacements = [] } of placement?.status?.placementStatuses ?? []) {
    if (!NAME.test(clusterName) || (about !== undefined && !about.includes(clusterName))) continue;
    for (const advice of failedPlacements.flatMap((each) => adviceOn(each) ?? [])) {
      const alike = found.get(advice.what) ?? { advice, clusters: [] };
      alike.clusters.push(clusterName);
      found.set(advice.what, alike);
    }
  }
  return [...found.values()].slice(0, MOST).map(({ advice, clusters }) => advice.say(clusters));
}

const OWNED = /is owned by (.+), and allowCoOwnership is not set$/;
const PLACED = /is already placed by another placement(?:, (.+))? \(AppliedWork /;
const FOUND = /, and whenToTakeOver is Never$/;

function adviceOn(failed: Failed): Advice | undefined {
  const { type, message } = failed.condition;
  const object = objectName(failed);
  if (type === 'Available') return lookAt(failed);
  const [, owners] = OWNED.exec(message) ?? [];
  if (owners !== undefined) {
    return {
      what: `${object} of ${owners}`,
      say: (clusters) =>
        `share ${object} with ${owners}: set spec.strategy.applyStrategy.allowCoOwnership of the placement to true; or take that owner out of its metadata.ownerReferences on ${named(clusters)}`,
    };
  }
  if (FOUND.test(message)) {
    return {
      what: `${object} was there`,
      say: (clusters) =>
        `let the placement take over ${object}: set its spec.strategy.applyStrategy.whenToTakeOver to Always; or delete it on ${named(clusters)}, and it is created anew`,
    };
  }
  const placed = PLACED.exec(message);
  if (placed === null) return undefined;
  const other = placed[1] ?? 'the other placement';
  return {
    what: `${object} of ${other}`,
    say: () =>
      `take ${object} out of the resourceSelectors of this placement, or of ${other}: only one of them may place it`,
  };
}

const WITH_PODS: readonly string[] = ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Job'];

/** With commands to copy: what stands in a status may have been written by anybody, so only what can be a name gets into one. */
function lookAt({ group = '', kind, namespace, name }: Failed): Advice | undefined {
  if (![name, ...(namespace === undefined ? [] : [namespace])].every((each) => NAME.test(each))) return undefined;
  if (!/^[A-Za-z]+$/.test(kind) || (group !== '' && !NAME.test(group))) return undefined;
  const object = objectName({ kind, name, ...(namespace === undefined ? {} : { namespace }) });
  const typed = `${kind.toLowerCase()}${group === '' || group === 'apps' || group === 'batch' ? '' : `.${group}`}/${name}`;
  return {
    what: `${object} does not work`,
    say([first = '', ...others]) {
      const kubectl = `kubectl --context ${first}${namespace === undefined ? '' : ` -n ${namespace}`}`;
      const pods = WITH_PODS.includes(kind) ? ` and \`${kubectl} get pods\`` : '';
      const also = others.length === 0 ? '' : ` (the same on ${listed(others)})`;
      return `look at ${object} on cluster "${first}": \`${kubectl} describe ${typed}\`${pods}${also}`;
    },
  };
}

const MOST_NAMES = 10;

const listed = (clusters: readonly string[]): string => {
  const more = clusters.length - MOST_NAMES;
  return `${clusters.slice(0, MOST_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
};

const named = (clusters: readonly string[]): string =>
  clusters.length === 1 ? `cluster "${clusters[0]}"` : `clusters ${listed(clusters)}`;
