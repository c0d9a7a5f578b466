// How the members of a simulated fleet join their hub: with the same objects that `flotilla join` creates; and the
// progress of that.
import { setImmediate as nextTick } from 'node:timers/promises';
import { joinObjects } from '../api/join.ts';
import { memberCluster } from '../api/member-cluster.ts';
import { memberTokenSecret, SYSTEM_NAMESPACE } from '../api/names.ts';
import { groupVersionOf, type KubeObject } from '../api/object.ts';
import type { Transport } from '../api/transport.ts';
import { wallClock } from '../base/clock.ts';
import { ApiError } from '../base/errors.ts';
import { mapLimit } from '../base/map-limit.ts';
import type { FleetMember } from './fleet.ts';

const JOINS_AT_A_TIME = 64;

export const joinFleet = async (hub: Transport, fleet: readonly FleetMember[]): Promise<void> =>
  void (await mapLimit(fleet, JOINS_AT_A_TIME, (member) => joinMember(hub, member)));

async function joinMember(hub: Transport, member: FleetMember): Promise<void> {
  const objects = joinObjects({
    name: member.name,
    labels: member.labels,
    ...(member.heartbeatPeriodSeconds === undefined ? {} : { heartbeatPeriodSeconds: member.heartbeatPeriodSeconds }),
  });
  for (const object of [objects.namespace, objects.serviceAccount, objects.tokenSecret, objects.memberCluster]) {
    await createIfAbsent(hub, object);
    // An in-memory hub answers without ever yielding to the event loop.
    await nextTick();
  }
}

const PLURALS: Readonly<Record<string, string>> = {
  Namespace: 'namespaces',
  ServiceAccount: 'serviceaccounts',
  Secret: 'secrets',
  MemberCluster: memberCluster.plural,
};

async function createIfAbsent(hub: Transport, object: KubeObject): Promise<void> {
  const { namespace } = object.metadata;
  const plural = PLURALS[object.kind] as string;
  const resource = {
    ...groupVersionOf(object.apiVersion),
    kind: object.kind,
    plural,
    namespaced: namespace !== undefined,
  };
  try {
    await hub.call({
      verb: 'create',
      at: { resource, ...(namespace === undefined ? {} : { namespace }) },
      object,
      manager: 'flotilla-join',
    });
  } catch (error) {
    if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) throw error;
  }
}

const SECRETS = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true } as const;

/** The tokens of the members, once the hub has added them to their Secrets. */
export async function tokensOf(hub: Transport, fleet: readonly FleetMember[]): Promise<Record<string, string>> {
  const memberOf = new Map(fleet.map(({ name }) => [memberTokenSecret(name), name]));
  const tokens = new Map<string, string>();
  const ending = new AbortController();
  for await (const batch of hub.watch({ at: { resource: SECRETS, namespace: SYSTEM_NAMESPACE } }, ending.signal)) {
    for (const { object } of batch) {
      const member = memberOf.get(object.metadata.name ?? '');
      const token = (object['data'] as Readonly<Record<string, string>> | undefined)?.['token'];
      if (member !== undefined && token) tokens.set(member, Buffer.from(token, 'base64').toString());
    }
    if (tokens.size === fleet.length) break;
  }
  ending.abort();
  return Object.fromEntries(tokens);
}

/** The members of the hub that are not being deleted. */
export async function joinedIn(hub: Transport): Promise<readonly string[]> {
  const { list } = await hub.call({ verb: 'list', at: { resource: memberCluster } });
  return (list?.items ?? [])
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata.name ?? '');
}

const PATIENCE_MS = 60_000;
const PATIENCE_PER_MEMBER_MS = 200;
/** Without a terminal, progress is printed in this many parts; small fleets are too fast for that. */
const PARTS_TOLD = 4;
const WORTH_TELLING = 50;

/**
 * Waits until every member has joined, and reports how many have; a member that was still leaving joins again after
 * that. Stops waiting after a while, but the members keep trying. False if it was stopped before.
 */
export async function allJoined(
  hub: Transport,
  fleet: readonly FleetMember[],
  stopped: Promise<void>,
): Promise<boolean> {
  const waiting = new Set(fleet.map(({ name }) => name));
  const progress = telling(fleet.length);
  const ending = new AbortController();
  let isStopped = false;
  void stopped.then(() => {
    isStopped = true;
    ending.abort();
  });
  const patienceEnds = wallClock.now() + PATIENCE_MS + fleet.length * PATIENCE_PER_MEMBER_MS;
  const cancel = wallClock.at(patienceEnds, 'join patience', () => ending.abort());
  try {
    for await (const batch of hub.watch({ at: { resource: memberCluster } }, ending.signal)) {
      const before = waiting.size;
      for (const { type, object } of batch) {
        const { name = '', deletionTimestamp } = object.metadata;
        const left = type === 'DELETED' ? fleet.find((member) => member.name === name) : undefined;
        if (left !== undefined) {
          waiting.add(name);
          await joinMember(hub, left);
        } else if (isJoined(object) && deletionTimestamp === undefined) waiting.delete(name);
      }
      if (waiting.size !== before) progress.tell(fleet.length - waiting.size);
      if (waiting.size === 0) break;
    }
  } finally {
    cancel();
    progress.end();
  }
  if (waiting.size > 0 && isStopped) return false;
  if (waiting.size > 0)
    console.log(`flotilla: still waiting for ${[...waiting].slice(0, 5).join(', ')}${waiting.size > 5 ? ' …' : ''}`);
  return true;
}

function telling(total: number) {
  const isTty = process.stdout.isTTY;
  let toldPart = 0;
  return {
    tell(joined: number) {
      if (isTty) process.stdout.write(`\r${joined} of ${total} joined `);
      const part = Math.floor((joined * PARTS_TOLD) / total);
      if (isTty || total <= WORTH_TELLING || part === toldPart || joined === total) return;
      toldPart = part;
      console.log(`flotilla: ${joined} of ${total} joined`);
    },
    end: () => void (isTty && process.stdout.write('\r\u001b[K')),
  };
}

const isJoined = ({ status }: KubeObject): boolean =>
  ((status as { conditions?: readonly { type: string; status: string }[] } | undefined)?.conditions ?? []).some(
    (condition) => condition.type === 'Joined' && condition.status === 'True',
  );
