// Leader election with a Lease: one of several replicas may write. No replica compares its clock with that of another.
//
// Guarantee: if every clock measures time spans with an error of at most `slackMs` (see below), `mayWrite` is true in
// at most one process at any time. The holder counts from the moment it *sent* its renewal and stops at
// `renewDeadlineMs` minus the margin. A candidate counts from the moment it *saw* the record change, which is later
// than the send, and waits the whole `leaseMs`. Acquiring the Lease is conditional on the resourceVersion that was
// seen, so a renewal in between makes it fail.
// slackMs = (leaseMs − renewDeadlineMs + marginMs) / 2
//
// When stopping: first the manager, then the leader; the release lets a standby lead at once.
import type { Resource } from '../api/kind.ts';
import type { KubeObject } from '../api/object.ts';
import type { Target, Transport } from '../api/transport.ts';
import { type Clock, kubeMicroTime, until } from '../base/clock.ts';
import { ApiError, messageOf } from '../base/errors.ts';
import { isObject } from '../base/json.ts';
import type { Random } from '../base/random.ts';
import type { Log } from './deps.ts';

export interface LeaderDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly transport: Transport;
  readonly log: Log;
}

export interface LeaderOptions {
  readonly namespace: string;
  readonly name: string;
  /** Unique to this process: two processes with one identity would both lead. */
  readonly identity: string;
  readonly leaseMs?: number;
  readonly renewDeadlineMs?: number;
  readonly retryMs?: number;
  /** The longest time that a write may take from the check of `mayWrite` to its arrival. */
  readonly marginMs?: number;
  /** Called when this process starts and stops leading. */
  onChange?(isLeading: boolean): void;
}

export interface Leader {
  /** False from the local deadline minus the margin on, even if the server does not answer. */
  mayWrite(): boolean;
  isLeading(): boolean;
  /** The holder of the Lease, as last seen. */
  holder(): string | undefined;
  /** Stops writing at once and releases the Lease if we hold it. */
  stop(): Promise<void>;
}

export const LEASES: Resource = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};

interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

export function startLeader(deps: LeaderDeps, options: LeaderOptions): Leader {
  const { clock, random, transport, log } = deps;
  const { namespace, name, identity, leaseMs = 15_000, renewDeadlineMs = 10_000 } = options;
  const { retryMs = 2000, marginMs = 2000 } = options;
  const at: Target = { resource: LEASES, namespace, name };
  const stopping = new AbortController();
  /** The record as last seen, and when it changed, by our clock. */
  let seen: { readonly lease: KubeObject; readonly since: number } | undefined;
  /** Until when we may lead, by our clock. */
  let deadline: number | undefined;
  let cancelEnd = () => {};
  /** The value that `onChange` was called with last. */
  let isTold = false;
  /** The leader in the last "standing by" log line. */
  let standsByFor = '';

  const isLeading = () => deadline !== undefined && clock.now() < deadline - marginMs;

  function lead(sentAt: number): void {
    // The response arrived while we were stopping: the Lease is about to be released.
    if (stopping.signal.aborted) return;
    deadline = sentAt + renewDeadlineMs;
    cancelEnd();
    if (!isLeading()) {
      end('the answer to our renewal came too late');
      return;
    }
    cancelEnd = clock.at(deadline - marginMs, 'leader deadline', () => end('the lease could not be renewed in time'));
    if (isTold) return;
    isTold = true;
    standsByFor = '';
    log.info('leading', { lease: `${namespace}/${name}`, identity });
    options.onChange?.(true);
  }

  function end(because: string): void {
    cancelEnd();
    deadline = undefined;
    if (!isTold) return;
    isTold = false;
    log.warn('no longer the leader', { lease: `${namespace}/${name}`, identity, because });
    options.onChange?.(false);
  }

  function look(lease: KubeObject): void {
    if (seen?.lease.metadata.resourceVersion === lease.metadata.resourceVersion) return;
    seen = { lease, since: clock.now() };
    const { holderIdentity } = specOf(lease);
    if (holderIdentity !== identity) end(`${holderIdentity || 'no process'} holds the lease`);
  }

  /** A call is aborted after half the renew deadline, so that a hanging server does not block renewals. */
  async function call(request: Parameters<Transport['call']>[0]): Promise<KubeObject> {
    const giveUp = new AbortController();
    const cancel = clock.at(clock.now() + renewDeadlineMs / 2, 'lease call', () => giveUp.abort());
    const onStop = () => giveUp.abort();
    stopping.signal.addEventListener('abort', onStop, { once: true });
    try {
      return (await transport.call(request, giveUp.signal)).object as KubeObject;
    } finally {
      cancel();
      stopping.signal.removeEventListener('abort', onStop);
    }
  }

  async function attempt(): Promise<void> {
    // While we lead, no read is needed: a renewal is conditional on the state that the last one wrote.
    if (!isLeading() || seen === undefined) {
      const found = await call({ verb: 'get', at }).catch(nullIfMissing);
      if (found === null) return createLease();
      look(found);
    }
    const { lease, since } = seen as NonNullable<typeof seen>;
    const { holderIdentity = '', leaseDurationSeconds = leaseMs / 1000 } = specOf(lease);
    const isOurs = holderIdentity === identity;
    const isFree = holderIdentity === '' || clock.now() >= since + Math.max(leaseMs, leaseDurationSeconds * 1000);
    if (isOurs || isFree) await take(lease, isOurs);
    else standBy(holderIdentity);
  }

  /** Logged once per leader: otherwise the log does not show that this replica only waits. */
  function standBy(leader: string): void {
    if (leader === standsByFor) return;
    standsByFor = leader;
    log.info('standing by', { lease: `${namespace}/${name}`, identity, leader });
  }

  async function createLease(): Promise<void> {
    const sentAt = clock.now();
    const object: KubeObject = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace },
      spec: { ...held(sentAt), acquireTime: kubeMicroTime(sentAt), leaseTransitions: 0 },
    };
    look(await call({ verb: 'create', at: { resource: LEASES, namespace }, object, manager: identity }));
    lead(sentAt);
  }

  async function take(lease: KubeObject, isOurs: boolean): Promise<void> {
    const sentAt = clock.now();
    const transitions = specOf(lease).leaseTransitions ?? 0;
    const spec = isOurs
      ? held(sentAt)
      : { ...held(sentAt), acquireTime: kubeMicroTime(sentAt), leaseTransitions: transitions + 1 };
    look(await patch(lease, spec));
    lead(sentAt);
  }

  const held = (now: number): LeaseSpec => ({
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(leaseMs / 1000),
    renewTime: kubeMicroTime(now),
  });

  const patch = ({ metadata }: KubeObject, spec: LeaseSpec): Promise<KubeObject> => {
    const { uid = '', resourceVersion = '' } = metadata;
    const body = { metadata: { uid, resourceVersion }, spec: { ...spec } };
    return call({ verb: 'patch', at, patch: { type: 'merge', body }, manager: identity });
  };

  async function run(): Promise<void> {
    let lastError = '';
    while (!stopping.signal.aborted) {
      try {
        await attempt();
        lastError = '';
      } catch (error) {
        if (stopping.signal.aborted) break;
        // A Conflict or AlreadyExists means a lost election: the cached record is stale.
        if (isElectionLost(error)) seen = undefined;
        const text = messageOf(error);
        if (!isElectionLost(error) && text !== lastError) log.warn('lease not renewed', { identity, error: text });
        lastError = text;
      }
      await until(clock, nextAttempt(clock.now()), 'lease retry', stopping.signal);
    }
  }

  /**
   * The leader renews at a fixed interval. Candidates retry with jitter, and exactly when the Lease expires, so that
   * one of them leads at most `leaseMs` plus one `retryMs` after the last renewal.
   */
  function nextAttempt(now: number): number {
    if (isLeading()) return now + retryMs;
    const next = now + retryMs * (1 - random.next() / 5);
    if (seen === undefined) return next;
    const { leaseDurationSeconds = 0 } = specOf(seen.lease);
    const freeAt = seen.since + Math.max(leaseMs, leaseDurationSeconds * 1000);
    return freeAt > now ? Math.min(freeAt, next) : next;
  }

  const done = run();

  async function release(): Promise<void> {
    const wasLeading = isLeading();
    end('stopping');
    stopping.abort();
    await done;
    if (!wasLeading) return;
    try {
      // Live read: a renewal may have been in flight when we stopped.
      const lease = (await transport.call({ verb: 'get', at })).object as KubeObject;
      if (specOf(lease).holderIdentity !== identity) return;
      const { uid = '', resourceVersion = '' } = lease.metadata;
      const spec = { holderIdentity: '', leaseDurationSeconds: 1, renewTime: kubeMicroTime(clock.now()) };
      const body = { metadata: { uid, resourceVersion }, spec };
      await transport.call({ verb: 'patch', at, patch: { type: 'merge', body }, manager: identity });
    } catch (error) {
      // The standbys wait until the Lease expires.
      log.warn('lease not released', { identity, error: messageOf(error) });
    }
  }

  let released: Promise<void> | undefined;
  return {
    mayWrite: isLeading,
    isLeading,
    holder: () => (seen === undefined ? undefined : specOf(seen.lease).holderIdentity || undefined),
    stop() {
      released ??= release();
      return released;
    },
  };
}

const specOf = ({ spec }: KubeObject): LeaseSpec => (isObject(spec) ? (spec as LeaseSpec) : {});

const isElectionLost = (error: unknown): boolean =>
  error instanceof ApiError && (error.reason === 'Conflict' || error.reason === 'AlreadyExists');

function nullIfMissing(error: unknown): null {
  if (error instanceof ApiError && error.reason === 'NotFound') return null;
  throw error;
}
