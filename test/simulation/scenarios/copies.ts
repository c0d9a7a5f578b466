// Tests the runtime without a fleet: a controller keeps a copy of every source. Sources are created, changed, deleted
// and recreated under the same name. A copy never goes back to an older text, is deleted only when its source is, and
// in the end all copies are correct. With two copiers, each with its own cache, the same rules hold.
import type { KubeObject } from '../../../src/api/object.ts';
import type { Transport } from '../../../src/api/transport.ts';
import { create, patch, recordEvent, remove, seen } from '../../../src/runtime/actions.ts';
import { type Controller, type Decision, type FullRef, idle } from '../../../src/runtime/controller.ts';
import type { Deps } from '../../../src/runtime/deps.ts';
import { startManager } from '../../../src/runtime/manager.ts';
import { type Checker, changeChecker, looksAfterLoss, noWriteLost } from '../../../src/sim/check.ts';
import { usualRates } from '../../../src/sim/faults.ts';
import type { Scenario } from '../../../src/sim/scenario.ts';
import type { Readable } from '../../../src/sim/server.ts';
import type { Stop } from '../../../src/sim/world.ts';
import { administrator, apiServer } from './api-server.ts';
import { aConfigMap, configMapAt, configMaps, configMapsAs, dataOf, keyOfConfigMap } from './config-maps.ts';
import { person } from './person.ts';

const SOURCES = 'default';
const COPIES = 'kube-public';
const NAMES = ['a', 'b', 'c', 'd'];
const OF = 'source-uid';
const NO_KINDS = [] as const;
const FAULT_MS = 90_000;

export const copiesScenario = ({ copiers }: { readonly copiers: 1 | 2 }): Scenario => ({
  name: copiers === 1 ? 'copies' : 'two-copiers',
  faultMs: FAULT_MS,
  healMs: 1_200_000,
  steps: 60_000,
  ciRuns: copiers === 1 ? 100 : 60,
  // Two copiers with different views undo each other's writes until both have the same view. That must end, but five
  // minutes of a silent watch would be too long.
  ...(copiers === 1 ? {} : { rates: { ...usualRates, watch: { ...usualRates.watch, silence: 0 } } }),
  set(world) {
    world.server('hub', apiServer({ kinds: NO_KINDS }));
    const servers = { hub: { server: 'hub', as: administrator } };
    world.actor('user', person({ forMs: FAULT_MS - 5_000, pauseMs: 3_000, deed: changeASource() }), {
      servers,
      steady: true,
    });
    const names = ['copier-1', 'copier-2'].slice(0, copiers);
    for (const name of names) world.actor(name, copier({ isAlone: copiers === 1 }), { servers });
    world.check(noWriteLost());
    world.check(looksAfterLoss(names));
    world.check(copiesNeverGoBack);
    world.check(copiesStayWithTheirSource());
    return () => {
      const store = world.store('hub');
      return store === undefined ? 'the hub is down' : wrongCopy(store);
    };
  },
});

/** Each text is newer than all before it. */
function changeASource() {
  let number = 0;
  return async (hub: Transport, roll: (sides: number) => number): Promise<void> => {
    const name = NAMES[roll(NAMES.length)] as string;
    const at = configMapAt(SOURCES, name);
    const data = { text: String(++number) };
    switch (roll(4)) {
      case 0: {
        const object = aConfigMap({ namespace: SOURCES, name }, 'source', data);
        await hub.call({ verb: 'create', at: { resource: configMaps, namespace: SOURCES }, object, manager: 'user' });
        return;
      }
      case 1:
        await hub.call({ verb: 'delete', at });
        return;
      default:
        await hub.call({ verb: 'patch', at, patch: { type: 'merge', body: { data } }, manager: 'user' });
    }
  };
}

// ---- the controller

const sources = configMapsAs('source', SOURCES);
const copies = configMapsAs('copy', COPIES);

interface Observed {
  readonly name: string;
  readonly source?: KubeObject;
  readonly copy?: KubeObject;
  readonly isAlone: boolean;
}

const copying = (isAlone: boolean): Controller<Observed> => ({
  name: 'copying',
  eventSource: 'copying',
  watches: [
    { source: sources, toKeys: ({ metadata }) => [metadata.name ?? ''] },
    { source: copies, toKeys: ({ metadata }) => [metadata.name ?? ''] },
  ],
  observe(view, name) {
    const source = view.get(sources, name);
    const copy = view.get(copies, name);
    if (!isAlone && (source === undefined) !== (copy === undefined)) {
      // One of two copiers may have a stale cache, so the source is read live before a copy is created or deleted.
      const ref: FullRef = { on: 'hub', resource: configMaps, group: '', kind: 'ConfigMap', namespace: SOURCES, name };
      const whole = view.getFull(ref);
      if (whole === undefined) return { need: [ref] };
      if ((whole === null) !== (source === undefined)) return undefined; // the cache will soon show the same
    }
    return { name, isAlone, ...(source ? { source } : {}), ...(copy ? { copy } : {}) };
  },
  decide,
});

function decide({ name, source, copy, isAlone }: Observed): Decision {
  if (source === undefined) {
    if (copy === undefined) return idle('neither source nor copy');
    return { ...idle('the source is gone'), steps: [[remove(seen(copies, copy), 'its source is gone')]] };
  }
  const data = dataOf(source);
  const told = recordEvent(sources, source, { type: 'Normal', reason: 'Copied', message: 'there is a copy of it' });
  if (copy === undefined) {
    const made = aConfigMap({ namespace: COPIES, name }, 'copy', data, { [OF]: source.metadata.uid ?? '' });
    return { ...idle('there is no copy'), steps: [[create('hub', configMaps, made, 'is new')], [told]] };
  }
  // With two copiers a copy may be newer than this copier's view of the source.
  const isAhead = Number(dataOf(copy)['text']) > Number(data['text']);
  if (!isAlone && isAhead) return idle('another copier knows more');
  if (copy.metadata.annotations?.[OF] !== source.metadata.uid) {
    return { ...idle('the source is another one'), steps: [[remove(seen(copies, copy), 'its source was replaced')]] };
  }
  if (dataOf(copy)['text'] === data['text']) return idle('the copy is right');
  return {
    ...idle('the source has changed'),
    steps: [[patch(seen(copies, copy), { data }, 'its source has changed')]],
  };
}

const copier =
  ({ isAlone }: { readonly isAlone: boolean }) =>
  (deps: Deps): Stop => {
    const manager = startManager(deps, { controllers: [copying(isAlone)] });
    return () => manager.stop();
  };

// ---- invariants

const isCopy = (key: string): boolean => key.startsWith(keyOfConfigMap(COPIES, '')) && NAMES.includes(key.at(-1) ?? '');

const copiesNeverGoBack = changeChecker('copies never go back', ({ key, stored, previous, deleted }) => {
  if (!isCopy(key) || deleted || !previous) return undefined;
  const [before, after] = [dataOf(previous.object())['text'], dataOf(stored.object())['text']];
  return Number(after) < Number(before) ? `${key} went from ${before} to ${after}` : undefined;
});

const copiesStayWithTheirSource = (): Checker =>
  changeChecker('copies stay with their source', ({ key, stored, deleted }, server, sight) => {
    if (!isCopy(key) || !deleted) return undefined;
    const source = sight
      .store(server)
      ?.get(keyOfConfigMap(SOURCES, key.at(-1) ?? ''))
      ?.object();
    const uid = stored.object().metadata.annotations?.[OF];
    return source?.metadata.uid === uid ? `${key} was deleted though its source is there` : undefined;
  });

function wrongCopy(store: Readable): string | undefined {
  for (const name of NAMES) {
    const source = store.get(keyOfConfigMap(SOURCES, name))?.object();
    const copy = store.get(keyOfConfigMap(COPIES, name))?.object();
    if (source === undefined && copy !== undefined) return `${name} has a copy but no source`;
    if (source !== undefined && copy === undefined) return `${name} has no copy`;
    if (copy?.metadata.annotations?.[OF] !== source?.metadata.uid) return `the copy of ${name} is of another source`;
    if (dataOf(copy)['text'] !== dataOf(source)['text']) return `the copy of ${name} is old`;
  }
  return undefined;
}
