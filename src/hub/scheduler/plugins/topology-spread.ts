// TopologySpreadConstraints: picks are spread over the values of a label. Each pick changes the counts for the next
// one, so there is one pick per round.
//
// Domains are all values that any member has, even members that cannot be picked: an unreachable domain stays at zero
// and keeps the others from growing (DoNotSchedule).
import type { PlacementPolicy } from '../../../api/placement-policy.ts';
import { type Plugin, pass, type Run, unfit, type Verdict } from '../plugin.ts';

type Constraint = NonNullable<PlacementPolicy['topologySpreadConstraints']>[number];

/** The effect of one more pick in a domain on a constraint. */
export interface Placing {
  /** The change of the skew. */
  readonly change: number;
  readonly isViolated: boolean;
}

/** Not a valid label value. */
const NOWHERE = '-';

/** Subtracted from the score for a violation with ScheduleAnyway. */
const PENALTY = 1000;

export const topologySpread: Plugin = {
  name: 'TopologySpreadConstraints',
  prepare(run) {
    const constraints = run.policy.topologySpreadConstraints ?? [];
    if (constraints.length === 0) return undefined;
    const terrains = constraints.map((constraint) => terrainOf(constraint, run));
    return {
      batchLimit: 1,
      alike({ metadata }) {
        let text = '';
        for (const { topologyKey } of constraints) text += `${domainIn(metadata.labels, topologyKey) ?? NOWHERE},`;
        return text;
      },
      round(present) {
        const spreads = terrains.map((terrain) => spreadOf(terrain, present));
        return {
          filter(member) {
            for (const { refuses } of spreads) {
              const refusal = refuses(member.metadata.labels);
              if (refusal !== undefined) return refusal;
            }
            return pass;
          },
          score(member) {
            let topology = 0;
            for (const { scores } of spreads) topology += scores(member.metadata.labels);
            return { topology };
          },
        };
      },
    };
  },
};

type Labels = Readonly<Record<string, string>> | undefined;

/** The domains of the members, which picks do not change. */
interface Terrain {
  readonly constraint: Constraint;
  readonly domains: ReadonlySet<string>;
  domainOf(cluster: string): string | undefined;
}

function terrainOf(constraint: Constraint, { members, find }: Run): Terrain {
  const { topologyKey } = constraint;
  const domains = new Set<string>();
  for (const { metadata } of members) {
    const domain = domainIn(metadata.labels, topologyKey);
    if (domain !== undefined) domains.add(domain);
  }
  return { constraint, domains, domainOf: (cluster) => domainIn(find(cluster)?.metadata.labels, topologyKey) };
}

const domainIn = (labels: Labels, key: string): string | undefined =>
  labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;

interface Spread {
  refuses(labels: Labels): Verdict | undefined;
  scores(labels: Labels): number;
}

function spreadOf({ constraint, domains, domainOf }: Terrain, present: ReadonlySet<string>): Spread {
  const { topologyKey, maxSkew, whenUnsatisfiable } = constraint;
  const counts = new Map<string, number>();
  for (const domain of domains) counts.set(domain, 0);
  for (const cluster of present) {
    const domain = domainOf(cluster);
    if (domain !== undefined) counts.set(domain, (counts.get(domain) ?? 0) + 1);
  }
  const sizes = sizesOf([...counts.values()]);
  const placings = new Map([...counts].map(([domain, count]) => [domain, placing(sizes, count, maxSkew)]));
  const isStrict = whenUnsatisfiable !== 'ScheduleAnyway';
  const refusal = unfit(`violates topology spread constraint "${topologyKey}" (max skew: ${maxSkew})`);
  // A cluster without the label does not take part in the spread.
  const at = (labels: Labels): Placing | undefined => {
    const domain = domainIn(labels, topologyKey);
    return domain === undefined ? undefined : placings.get(domain);
  };
  return {
    refuses: (labels) => (isStrict && at(labels)?.isViolated ? refusal : undefined),
    scores(labels) {
      const found = at(labels);
      if (found === undefined) return 0;
      return found.isViolated ? -PENALTY : 0 - found.change;
    },
  };
}

interface Sizes {
  readonly smallest: number;
  /** The same as the smallest if two domains have it, or if there is only one domain. */
  readonly second: number;
  readonly largest: number;
}

function sizesOf(counts: readonly number[]): Sizes {
  let smallest = Number.POSITIVE_INFINITY;
  let second = Number.POSITIVE_INFINITY;
  let largest = 0;
  for (const count of counts) {
    if (count < smallest) [smallest, second] = [count, smallest];
    else if (count < second) second = count;
    if (count > largest) largest = count;
  }
  return { smallest, second: Number.isFinite(second) ? second : smallest, largest };
}

function placing({ smallest, second, largest }: Sizes, count: number, maxSkew: number): Placing {
  const skew = largest - smallest;
  const change = changeBy({ smallest, second, largest }, count);
  return { change, isViolated: skew + change > maxSkew };
}

function changeBy({ smallest, second, largest }: Sizes, count: number): number {
  if (largest === smallest) return 1;
  if (count === smallest && smallest !== second) return -1;
  return count === largest ? 1 : 0;
}

/** For tests: the effect of one more pick in a domain of this size. */
export const placingOf = (counts: readonly number[], into: number, maxSkew: number): Placing =>
  placing(sizesOf(counts), into, maxSkew);
