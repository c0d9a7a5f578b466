// `flotilla why eviction/NAME`: how an eviction ended and why, or what it waits for. Reads the hub's API with the
// caller's permissions.
import { type DisruptionBudget, disruptionBudget } from '../../api/disruption-budget.ts';
import { type Eviction, eviction } from '../../api/eviction.ts';
import { conditionOf } from '../../api/next-condition.ts';
import { type Placement, placement } from '../../api/placement.ts';
import { ApiError, UserError } from '../../base/errors.ts';
import { type Evidence, type Explanation, sayCondition } from '../../insight/explain/explanation.ts';
import { NAME } from '../../insight/which-placement.ts';
import type { Connected } from '../server/connect.ts';
import { getOr404 } from '../server/not-found.ts';

const WORDS: readonly string[] = [
  'eviction',
  'evictions',
  eviction.kind.toLowerCase(),
  eviction.plural,
  ...(eviction.shortNames ?? []),
];

/** Whether the argument names an eviction: `eviction/…`, or the kind's own name. */
export const namesEviction = (argument: string): boolean =>
  argument.includes('/') && WORDS.includes(argument.split('/')[0]?.split('.')[0]?.toLowerCase() ?? '');

export function whichEviction(argument: string, namespace?: string): string {
  const name = argument.slice(argument.indexOf('/') + 1);
  if (!NAME.test(name)) throw new UserError('BadArgument', `"${argument}" cannot be the name of an eviction`);
  if (namespace !== undefined) throw new UserError('BadArgument', `a ${eviction.kind} is in no namespace: omit -n`);
  return name;
}

type Server = Pick<Connected, 'transport' | 'catalogue'>;

export async function readEviction(server: Server, name: string): Promise<EvictionCase> {
  const found = (await getOr404(server, { resource: eviction, name })) as Eviction;
  const target = found.spec?.placementName ?? '';
  const notes: string[] = [];
  const read = async <T>(resource: typeof disruptionBudget | typeof placement.cluster): Promise<T | undefined> => {
    if (!NAME.test(target)) return undefined;
    try {
      return (await server.transport.call({ verb: 'get', at: { resource, name: target } })).object as T;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code !== 404) notes.push(`${resource.kind} "${target}" could not be read: ${error.message}`);
      return undefined;
    }
  };
  return {
    eviction: found,
    placement: await read<Placement>(placement.cluster),
    budget: await read<DisruptionBudget>(disruptionBudget),
    notes,
  };
}

export interface EvictionCase {
  readonly eviction: Eviction;
  /** undefined = it does not exist, or `notes` say why it could not be read. */
  readonly placement: Placement | undefined;
  readonly budget: DisruptionBudget | undefined;
  readonly notes: readonly string[];
}

/** Pure. */
export function explainEviction(of: EvictionCase, now: number): Explanation {
  const { metadata, spec, status } = of.eviction;
  const conditions = status?.conditions ?? [];
  const about = `${eviction.kind} "${metadata.name}"`;
  const target = `${placement.cluster.kind} "${spec?.placementName}" from cluster "${spec?.clusterName}"`;
  const evidence: Evidence[] = [
    { about, says: [`evicts ${target}`, ...conditions.map((each) => sayCondition(each, now))] },
    ...budgetEvidence(of),
  ];
  const say = (isWaiting: boolean, sentence: string, next: readonly string[]): Explanation => ({
    about,
    isWaiting,
    sentence,
    causes: [{ sentence, evidence }],
    next,
    notes: of.notes,
  });
  const valid = conditionOf(conditions, 'Valid');
  const executed = conditionOf(conditions, 'Executed');
  if (valid?.status === 'False') {
    return say(true, `${about} is invalid and final: ${valid.message}`, adviceOnInvalid(of));
  }
  if (executed === undefined) {
    return say(true, `${about} is not carried out yet: the hub has not reported an outcome`, [
      'check that a hub is running and holds the lease: evictions of one placement are carried out one after the other',
    ]);
  }
  if (executed.status === 'True') {
    return say(false, `${about} was executed: ${executed.message}`, []);
  }
  return say(true, `${about} was blocked and is final: ${executed.message}`, adviceOnBlocked(of));
}

const AGAIN = 'an eviction is evaluated once: delete it and create it again when the cause is fixed';

function adviceOnInvalid({ placement: found }: EvictionCase): readonly string[] {
  if (found?.spec?.policy?.placementType !== 'PickFixed') return [AGAIN];
  return [`remove the cluster from spec.policy.clusterNames of ${placement.cluster.kind} "${found?.metadata.name}"`];
}

function adviceOnBlocked({ budget, placement: found }: EvictionCase): readonly string[] {
  const name = `${disruptionBudget.kind} "${budget?.metadata.name}"`;
  if (budget?.spec === undefined) return [AGAIN];
  const picksAll = found !== undefined && (found.spec?.policy?.placementType ?? 'PickAll') === 'PickAll';
  return picksAll && typeof budget.spec.minAvailable !== 'number'
    ? [`set minAvailable of ${name} to a number: the placement picks all clusters`, AGAIN]
    : [`wait until more clusters are available, or relax ${name}`, AGAIN];
}

function budgetEvidence({ budget }: EvictionCase): readonly Evidence[] {
  if (budget === undefined) return [];
  const { maxUnavailable, minAvailable } = budget.spec ?? {};
  const limits = Object.entries({ maxUnavailable, minAvailable }).flatMap(([field, value]) =>
    value === undefined ? [] : [`${field}: ${value}`],
  );
  return [
    {
      about: `${disruptionBudget.kind} "${budget.metadata.name}"`,
      says: limits.length === 0 ? ['sets no limit, so it allows no eviction'] : limits,
    },
  ];
}
