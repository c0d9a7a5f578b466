// Writes the Events of decisions as core/v1 objects. Best effort: an Event never blocks a reconcile and is never
// written after `stop`. A repeated Event only increments its count, at a bounded rate.
import type { Resource } from '../api/kind.ts';
import type { KubeObject } from '../api/object.ts';
import type { Transport } from '../api/transport.ts';
import { kubeTime } from '../base/clock.ts';
import { ApiError, messageOf } from '../base/errors.ts';
import { sha256 } from '../base/hash.ts';
import { canonicalJson } from '../base/json.ts';
import { createDeadlines } from './deadlines.ts';
import type { Deps } from './deps.ts';
import { Fifo } from './fifo.ts';
import { transportOf } from './informers.ts';
import type { RuntimeMetrics } from './metrics.ts';
import type { EventAction } from './perform.ts';
import { placeText } from './place.ts';

export interface Recorder {
  record(reporter: string, event: EventAction): void;
  /** Events that are queued or being written. */
  readonly pending: number;
  /** Events that are remembered, so that repeats increment their count. */
  readonly known: number;
  /** Drops queued Events; resolves once the requests in flight have ended. */
  stop(): Promise<void>;
}

export interface RecorderOptions {
  readonly deps: Deps;
  readonly manager: string;
  readonly metrics: Pick<RuntimeMetrics, 'events'>;
  mayWrite(): boolean;
  readonly signal: AbortSignal;
  /** How many different Events are remembered. */
  readonly max?: number;
  /** The minimum time between two writes of the same Event. */
  readonly repeatMs?: number;
  /** The Events that one object may have at once; after that one per `refillMs`. */
  readonly burst?: number;
  readonly refillMs?: number;
}

interface Known {
  readonly name: string;
  readonly reporter: string;
  readonly event: EventAction;
  readonly firstAt: number;
  lastAt: number;
  /** The count that the server has. */
  written: number;
  count: number;
  writtenAt: number;
  queued: boolean;
}

interface Allowance {
  left: number;
  refilledAt: number;
}

const EVENTS: Resource = { group: '', version: 'v1', kind: 'Event', plural: 'events', namespaced: true };
const LONGEST_MESSAGE = 1024;
const LONGEST_NAME = 253;

export function createRecorder(options: RecorderOptions): Recorder {
  const { deps, metrics, max = 1000, repeatMs = 60_000, burst = 25, refillMs = 300_000 } = options;
  const { clock } = deps;
  const known = new Map<string, Known>();
  const allowances = new Map<string, Allowance>();
  const ready = new Fifo<Known>();
  const repeats = createDeadlines(clock, 'event repeat', (text) => {
    const entry = known.get(text);
    if (entry !== undefined) queue(entry);
  });
  let isStopped = false;
  let sending: Promise<void> | undefined;

  function queue(entry: Known): void {
    if (entry.queued || isStopped) return;
    entry.queued = true;
    ready.push(entry);
    sending ??= send();
  }

  async function send(): Promise<void> {
    // One send loop per burst of decisions, started after them.
    await undefined;
    for (let entry = ready.shift(); entry !== undefined; entry = ready.shift()) {
      entry.queued = false;
      if (isStopped || !options.mayWrite()) continue;
      const { count, lastAt } = entry;
      try {
        await write(transportOf(deps, entry.event.on), entry);
        entry.written = count;
        metrics.events('written');
      } catch (error) {
        if (isStopped) break;
        // No retry: the next Event of this kind writes the higher count.
        metrics.events('failed');
        deps.log.warn('event not written', { event: entry.name, error: messageOf(error) });
      }
      entry.writtenAt = lastAt;
    }
    // Reset in the same turn as the last check of the queue, so that a later Event starts a new loop.
    sending = undefined;
  }

  async function write(transport: Transport, entry: Known): Promise<void> {
    const namespace = namespaceOf(entry.event);
    const { manager } = options;
    const at = { resource: EVENTS, namespace, name: entry.name };
    const bump = async (count: number) => {
      const body = { count, lastTimestamp: kubeTime(entry.lastAt) };
      await transport.call({ verb: 'patch', at, patch: { type: 'merge', body }, manager }, options.signal);
    };
    const create = async () => {
      const object = eventObject(entry);
      await transport.call({ verb: 'create', at: { resource: EVENTS, namespace }, object, manager }, options.signal);
    };
    try {
      if (entry.written > 0) await bump(entry.count);
      else await create();
    } catch (error) {
      const reason = error instanceof ApiError ? error.reason : '';
      // The Event has expired, or a former process of ours created it.
      if (reason === 'NotFound' && entry.written > 0) return create();
      if (reason !== 'AlreadyExists') throw error;
      const { object } = await transport.call({ verb: 'get', at }, options.signal);
      entry.count += countOf(object);
      await bump(entry.count);
    }
  }

  function mayAdd(about: string): boolean {
    const now = clock.now();
    let allowance = allowances.get(about);
    if (allowance === undefined) {
      allowance = { left: burst, refilledAt: now };
      allowances.set(about, allowance);
      evict(allowances, max);
    }
    const refills = Math.floor((now - allowance.refilledAt) / refillMs);
    if (refills > 0) {
      allowance.left = Math.min(burst, allowance.left + refills);
      allowance.refilledAt += refills * refillMs;
    }
    if (allowance.left === 0) return false;
    allowance.left--;
    return true;
  }

  return {
    get pending() {
      return ready.size + (sending === undefined ? 0 : 1);
    },
    get known() {
      return known.size;
    },
    record(reporter, event) {
      if (isStopped) return;
      const now = clock.now();
      const about = placeText({ on: event.on, resource: { ...EVENTS, plural: event.about.kind }, ...event.about });
      const text = `${about}@${eventHash(reporter, event)}`;
      let entry = known.get(text);
      const isNew = entry === undefined;
      if (entry === undefined) {
        if (!mayAdd(about)) return metrics.events('dropped');
        const name = eventName(reporter, event);
        entry = { name, reporter, event, firstAt: now, lastAt: now, written: 0, count: 0, writtenAt: 0, queued: false };
      }
      known.delete(text);
      known.set(text, entry);
      for (const gone of evict(known, max)) repeats.clear(gone);
      entry.count++;
      entry.lastAt = now;
      if (isNew || now - entry.writtenAt >= repeatMs) queue(entry);
      else if (!entry.queued) repeats.set(text, entry.writtenAt + repeatMs);
    },
    async stop() {
      isStopped = true;
      repeats.stop();
      ready.clear();
      await sending;
    },
  };
}

function evict<V>(entries: Map<string, V>, max: number): string[] {
  const gone: string[] = [];
  for (const oldest of entries.keys()) {
    if (entries.size <= max) break;
    entries.delete(oldest);
    gone.push(oldest);
  }
  return gone;
}

const countOf = (object: KubeObject | undefined): number => {
  const count = object?.['count'];
  return typeof count === 'number' ? count : 0;
};

// Events about cluster-scoped objects are in the namespace `default`, as in Kubernetes.
const namespaceOf = ({ about }: EventAction): string => about.namespace ?? 'default';

const eventHash = (reporter: string, { about, type, reason, message }: EventAction): string =>
  sha256(canonicalJson([reporter, about.apiVersion, about.kind, about.uid ?? '', type, reason, message])).slice(0, 16);

/**
 * Deterministic: the same Event about the same object gets the same name, so that a restarted process increments its
 * count.
 */
export const eventName = (reporter: string, event: EventAction): string =>
  `${event.about.name.slice(0, LONGEST_NAME - 17).replace(/[^a-z0-9]+$/, '')}.${eventHash(reporter, event)}`;

function eventObject({ name, reporter, event, firstAt, lastAt, count }: Known): KubeObject {
  const { about, type, reason, message } = event;
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace: namespaceOf(event) },
    involvedObject: {
      apiVersion: about.apiVersion,
      kind: about.kind,
      name: about.name,
      ...(about.namespace === undefined ? {} : { namespace: about.namespace }),
      ...(about.uid === undefined ? {} : { uid: about.uid }),
    },
    reason,
    message: message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE - 3)}...` : message,
    type,
    count,
    firstTimestamp: kubeTime(firstAt),
    lastTimestamp: kubeTime(lastAt),
    source: { component: reporter },
    reportingComponent: reporter,
    reportingInstance: '',
  };
}
