// Clerks write into one ledger, each at its own pace, on a server whose disk can be torn. There is no controller: this
// tests only the API server, its log and the world. An acknowledged entry must stay in the ledger.
import type { Resource } from '../../../src/api/kind.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import type { Target, Transport } from '../../../src/api/transport.ts';
import { until } from '../../../src/base/clock.ts';
import { AbortError, ApiError, LostError } from '../../../src/base/errors.ts';
import type { Deps } from '../../../src/runtime/deps.ts';
import { type Checker, noWriteLost } from '../../../src/sim/check.ts';
import type { Scenario } from '../../../src/sim/scenario.ts';
import type { Readable } from '../../../src/sim/server.ts';
import type { Stop } from '../../../src/sim/world.ts';
import { administrator, apiServer } from './api-server.ts';

const configMaps: Resource = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const ledger: Target = { resource: configMaps, namespace: 'default', name: 'ledger' };
const LEDGER_KEY = '/configmaps/default/ledger';
const ENTRIES_PER_LIFE = 8;

export const ledgerScenario = (options: { readonly isDurable: boolean; readonly isLying?: boolean }): Scenario => ({
  name: options.isDurable ? 'durable-ledger' : 'ledger',
  faultMs: 60_000,
  healMs: 300_000,
  steps: 20_000,
  ciRuns: 60,
  set(world) {
    world.server('hub', apiServer({ kinds: NO_KINDS, ...options }));
    const servers = { hub: { server: 'hub', as: administrator } };
    for (const name of ['clerk-1', 'clerk-2', 'clerk-3']) world.actor(name, clerk, { servers });
    let read: ReadonlySet<string> = new Set();
    world.actor(
      'reader',
      reader((entries) => (read = entries)),
      { servers },
    );
    const acknowledged = new Set<string>();
    world.check(noWriteLost());
    world.check(entriesStay(acknowledged));
    return () => {
      const store = world.store('hub');
      if (store === undefined) return 'the hub is down';
      const written = entriesIn(store);
      if (acknowledged.size === 0) return 'nothing was written';
      const unread = [...written].filter((entry) => !read.has(entry));
      return unread.length > 0 ? `the reader has not read ${unread.length} of ${written.size} entries` : undefined;
    };
  },
});

const NO_KINDS = [] as const;

function entriesStay(acknowledged: Set<string>): Checker {
  return {
    name: 'entries stay in the ledger',
    hear(happening) {
      if (happening.what === 'acknowledged' && 'object' in happening.request) {
        for (const entry of entriesOf(happening.request.object)) acknowledged.add(entry);
      }
      return undefined;
    },
    look(sight) {
      const store = sight.store('hub');
      if (store === undefined) return undefined;
      const written = entriesIn(store);
      const lost = [...acknowledged].filter((entry) => !written.has(entry));
      return lost.length > 0 ? `${lost.join(', ')} left the ledger` : undefined;
    },
  };
}

const entriesOf = (object: KubeObject | undefined): ReadonlySet<string> =>
  new Set(Object.keys((object?.['data'] ?? {}) as object));

const entriesIn = (store: Readable): ReadonlySet<string> => entriesOf(store.get(LEDGER_KEY)?.object());

const clerk = (deps: Deps): Stop => {
  const stopped = new AbortController();
  const hub = deps.servers.hub as Transport;
  const work = async () => {
    for (let left = ENTRIES_PER_LIFE; left > 0; ) {
      const at = deps.clock.now() + deps.random.next() * 4_000;
      if ((await until(deps.clock, at, 'next entry', stopped.signal)) === 'aborted') return;
      try {
        await enter(hub, deps.random.uuid(), stopped.signal);
        left--;
      } catch (error) {
        // Retries with a new entry, because the old one may or may not exist.
        if (!isExpected(error)) throw error;
      }
    }
  };
  void work();
  return () => stopped.abort();
};

async function enter(hub: Transport, entry: string, signal: AbortSignal): Promise<void> {
  let object: KubeObject | undefined;
  try {
    ({ object } = await hub.call({ verb: 'get', at: ledger }, signal));
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 404)) throw error;
  }
  const data = { ...((object?.['data'] ?? {}) as Record<string, string>), [entry]: '' };
  if (object === undefined) {
    const created: KubeObject = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'ledger', namespace: 'default' },
      data,
    };
    const { name: _, ...at } = ledger;
    await hub.call({ verb: 'create', at, object: created, manager: 'clerk' }, signal);
  } else await hub.call({ verb: 'update', at: ledger, object: { ...object, data }, manager: 'clerk' }, signal);
}

/** Lists, then watches from there; starts again when the watch ends. */
const reader =
  (tell: (entries: ReadonlySet<string>) => void) =>
  (deps: Deps): Stop => {
    const stopped = new AbortController();
    const hub = deps.servers.hub as Transport;
    const at: Target = { resource: configMaps, namespace: 'default' };
    const read = async (signal: AbortSignal) => {
      const { list } = await hub.call({ verb: 'list', at, revision: '0' }, signal);
      tell(entriesOf(list?.items.find(isLedger)));
      const revision = list?.metadata.resourceVersion ?? '0';
      for await (const events of hub.watch({ at, revision, bookmarks: true }, signal)) {
        const last = events.findLast(({ object }) => isLedger(object));
        if (last) tell(entriesOf(last.object));
      }
    };
    const work = async () => {
      while (!stopped.signal.aborted) {
        // A dead connection may not be reported, so none is kept for long.
        const patience = new AbortController();
        const cancel = deps.clock.at(deps.clock.now() + 20_000, 'reader starts anew', () => patience.abort());
        try {
          await read(AbortSignal.any([stopped.signal, patience.signal]));
        } catch (error) {
          if (!isExpected(error)) throw error;
        }
        cancel();
        await until(deps.clock, deps.clock.now() + 1_000, 'reader pauses', stopped.signal);
      }
    };
    void work();
    return () => stopped.abort();
  };

const isExpected = (error: unknown): boolean =>
  error instanceof ApiError || error instanceof LostError || error instanceof AbortError;

const isLedger = (object: KubeObject): boolean => object.metadata.name === 'ledger';
