// Steps before an apply: remove left-overs, and record the objects that may exist from now on.
//
// Guarantee: the Work's status or the AppliedWork names every object that exists because of a Work, even while one of
// them is about to drop it.

import type { AppliedWork } from '../../api/applied-work.ts';
import type { LiveCatalogue } from '../../api/catalogue.ts';
import { conditionOf } from '../../api/next-condition.ts';
import type { OwnerReference } from '../../api/object.ts';
import type { Work } from '../../api/work.ts';
import { ApiError } from '../../base/errors.ts';
import { mapLimit } from '../../base/map-limit.ts';
import type { Random } from '../../base/random.ts';
import type { WorkerClient } from '../../runtime/controller.ts';
import type { HubWork } from './hub-work.ts';
import { leftOvers, release, unanswered } from './left-overs.ts';
import { anyResourceOf, type Identifier, identityOf, inSpec, isSilent, type Order, placed } from './manifest.ts';
import type { MemberView } from './member-view.ts';
import { failureDelayMs, type Memory } from './memory.ts';
import { heldBack, type Outcome, refused } from './outcome.ts';
import { isSameOwner, ownersOf } from './ownership.ts';
import { keepRecord } from './record.ts';
import type { Siblings } from './siblings.ts';
import { writeAhead } from './summarise.ts';
import { keepsTakenOver } from './taken-over.ts';
import { targetOf } from './targets.ts';
import { inWaves, LAST_WAVE, waveOf } from './waves.ts';

/** The part of the reconcile's input that this file needs. */
interface Preparing {
  readonly client: WorkerClient;
  readonly catalogue: LiveCatalogue;
  readonly memory: Memory;
  readonly random: Random;
  readonly now: number;
  /** Only used for its annotation to keep taken-over objects. */
  readonly work: Pick<Work, 'metadata'>;
  readonly siblings?: Siblings;
  readonly onMember: MemberView;
}

/** How many objects are handled in parallel. */
export const AT_A_TIME = 4;

export interface Preparation {
  readonly hub: HubWork;
  readonly record: AppliedWork;
  readonly owner: OwnerReference;
  readonly orders: readonly Order[];
}

/** Removes left-overs, and records the objects that may exist from now on. */
export async function prepare(input: Preparing, { hub, record, owner, orders }: Preparation) {
  const { client, now } = input;
  const status = hub.now.status;
  const old = leftOvers(inSpec(orders), status, record.status);
  const claimed = old.filter((each) => input.siblings?.isClaimed(each) ?? false);
  const handing = await stillOwned(input, claimed, owner);
  const { staying, leaving } = await releaseAll(
    input,
    old.filter((each) => !claimed.includes(each)),
    owner,
  );
  const remaining = [...staying.map(({ identifier }) => identifier), ...leaving, ...handing];
  let kept = record;
  if (remaining.length > 0) {
    const names = remaining;
    const known = record.status?.appliedResources ?? [];
    const news = names.filter((name) => !known.some((each) => identityOf(each) === identityOf(name)));
    // The next status of the Work no longer names them.
    if (news.length > 0) kept = await keepRecord(client, record, [...known, ...news]);
  }
  const { generation } = hub.now.metadata;
  if (conditionOf(status?.conditions, 'Applied')?.observedGeneration !== generation) {
    const manifestConditions = writeAhead(orders, status, now);
    await hub.report({ conditions: status?.conditions ?? [], manifestConditions }, 'always');
  }
  return { staying, kept, handing, remaining };
}

/** Objects that another Work has not taken over yet. */
export async function stillOwned(
  { client, catalogue }: Pick<Preparing, 'client' | 'catalogue'>,
  claimed: readonly Identifier[],
  owner: OwnerReference,
): Promise<readonly Identifier[]> {
  const found = await mapLimit(claimed, AT_A_TIME, async (identifier) => {
    const resource = anyResourceOf(catalogue, identifier);
    if (resource === undefined) return isSilent(catalogue, identifier) ? [identifier] : [];
    try {
      const { object } = await client.call('member', { verb: 'get', at: targetOf(resource, identifier) });
      return object !== undefined && ownersOf(object).some((each) => isSameOwner(each, owner)) ? [identifier] : [];
    } catch (error) {
      if (error instanceof ApiError && error.reason === 'NotFound') return [];
      throw error;
    }
  });
  return found.flat();
}

interface Released {
  /** Left-overs that the status names: refused, or kept by finalizers of other clients. */
  readonly staying: readonly Outcome[];
  /** All others that are being deleted. */
  readonly leaving: readonly Identifier[];
}

/** Removes dependents before the objects they depend on. Failed removals are retried with back-off. */
async function releaseAll(
  input: Preparing,
  identifiers: readonly Identifier[],
  owner: OwnerReference,
): Promise<Released> {
  if (identifiers.length === 0) return { staying: [], leaving: [] };
  const { catalogue, memory, now, random, client, onMember } = input;
  const isKnown = (identifier: Identifier) => anyResourceOf(catalogue, identifier) !== undefined;
  if (!identifiers.every(isKnown)) await catalogue.refresh();
  // A kind that is not served in any version, while all API servers respond, was deleted with its
  // CustomResourceDefinition, and so were its objects.
  const there = identifiers.flatMap((identifier) => {
    const resource = anyResourceOf(catalogue, identifier);
    return resource === undefined && !isSilent(catalogue, identifier) ? [] : [{ identifier, resource }];
  });
  const staying: Outcome[] = [];
  const leaving: Identifier[] = [];
  const waveIn = ({ resource }: (typeof there)[number]) => (resource === undefined ? LAST_WAVE : waveOf(resource));
  for (const group of inWaves(there, waveIn).reverse()) {
    await mapLimit(group, AT_A_TIME, async ({ identifier, resource }) => {
      const key = `left over|${identityOf(identifier)}`;
      const before = memory.get(key);
      if (before?.notBefore !== undefined && now < before.notBefore) {
        staying.push(before.outcome);
        return;
      }
      memory.delete(key);
      const refusal =
        resource === undefined
          ? unanswered(identifier)
          : await release(client, identifier, resource, { owner, keeps: keepsTakenOver(input.work.metadata) });
      if (refusal === undefined) return;
      if ('leaving' in refusal) {
        // Subscribes to the object, so that its deletion wakes the Work.
        if (resource !== undefined) onMember.known(resource, placed(identifier, resource));
        const held = heldBack(identifier, refusal.leaving);
        if (held === undefined) leaving.push(identifier);
        else staying.push(held);
        return;
      }
      const failures = (before?.failures ?? 0) + 1;
      const outcome = refused(identifier, refusal);
      const notBefore = now + failureDelayMs(failures, random);
      memory.set(key, { outcome, basis: key, context: '', desiredHash: '', failures, notBefore });
      staying.push(outcome);
    });
  }
  return {
    staying: staying.sort((a, b) => (identityOf(a.identifier) < identityOf(b.identifier) ? -1 : 1)),
    leaving,
  };
}
