// A minimal rollout: items move to a new version one at a time, and an item that has moved must be ready before the
// next one may move. The limit spans several objects, so no precondition on a single write protects it: it relies on a
// runtime that reads its own writes, reads objects after lost responses, and never forgets. (A request that outlives
// its sender would break the limit whatever the sender does; there are none here.)
import type { KubeObject } from '../../../src/api/object.ts';
import type { Transport } from '../../../src/api/transport.ts';
import { patch, seen } from '../../../src/runtime/actions.ts';
import { type Controller, type Decision, idle } from '../../../src/runtime/controller.ts';
import type { Deps } from '../../../src/runtime/deps.ts';
import { startManager } from '../../../src/runtime/manager.ts';
import { type Checker, looksAfterLoss, noWriteLost } from '../../../src/sim/check.ts';
import { usualRates } from '../../../src/sim/faults.ts';
import type { Scenario } from '../../../src/sim/scenario.ts';
import type { Readable } from '../../../src/sim/server.ts';
import type { Stop } from '../../../src/sim/world.ts';
import { administrator, apiServer } from './api-server.ts';
import { aConfigMap, configMapAt, configMaps, configMapsAs, type Data, dataOf, keyOfConfigMap } from './config-maps.ts';
import { person } from './person.ts';

const PLACE = 'default';
const ITEMS = ['item-1', 'item-2', 'item-3', 'item-4', 'item-5'];
const GOAL = 'goal';
const NO_KINDS = [] as const;
const FAULT_MS = 90_000;

export const turnsScenario: Scenario = {
  name: 'turns',
  faultMs: FAULT_MS,
  healMs: 1_200_000,
  steps: 60_000,
  ciRuns: 80,
  rates: { ...usualRates, outlive: 0 },
  set(world) {
    world.server('hub', apiServer({ kinds: NO_KINDS }));
    const servers = { hub: { server: 'hub', as: administrator } };
    world.actor('user', person({ forMs: FAULT_MS - 5_000, pauseMs: 3_000, deed: setTheGoal() }), {
      servers,
      steady: true,
    });
    world.actor('mover', running(moving), { servers });
    world.actor('worker', running(working), { servers });
    world.check(noWriteLost());
    world.check(looksAfterLoss(['mover', 'worker']));
    world.check(oneAtATime);
    return () => {
      const store = world.store('hub');
      return store === undefined ? 'the hub is down' : unfinished(store);
    };
  },
};

/** Creates missing objects, then changes the goal from time to time, and in between changes items without effect. */
function setTheGoal() {
  let version = 0;
  const missing = new Set([...ITEMS, GOAL]);
  return async (hub: Transport, roll: (sides: number) => number): Promise<void> => {
    for (const name of missing) {
      const data: Data = name === GOAL ? { version: '0' } : { version: '0', ready: '0' };
      const object = aConfigMap({ namespace: PLACE, name }, name === GOAL ? 'goal' : 'item', data);
      await hub.call({ verb: 'create', at: { resource: configMaps, namespace: PLACE }, object, manager: 'user' });
      missing.delete(name);
    }
    const isTouch = roll(5) > 0;
    const name = isTouch ? (ITEMS[roll(ITEMS.length)] as string) : GOAL;
    const body = isTouch
      ? { metadata: { annotations: { touched: String(roll(1_000_000)) } } }
      : { data: { version: String(++version) } };
    await hub.call({ verb: 'patch', at: configMapAt(PLACE, name), patch: { type: 'merge', body }, manager: 'user' });
  };
}

// ---- the controllers

const items = configMapsAs('item', PLACE);
const goals = configMapsAs('goal', PLACE);
const isReady = (item: KubeObject): boolean => dataOf(item)['ready'] === dataOf(item)['version'];

interface Observed {
  readonly version: string;
  readonly items: readonly KubeObject[];
  readonly now: number;
}

const moving: Controller<Observed> = {
  name: 'moving',
  eventSource: 'moving',
  watches: [
    { source: items, toKeys: () => ['all'] },
    { source: goals, toKeys: () => ['all'] },
  ],
  observe(view) {
    const goal = view.get(goals, GOAL, PLACE);
    return goal && { version: dataOf(goal)['version'] ?? '', items: view.all(items), now: view.now };
  },
  decide: decideMove,
};

function decideMove({ version, items: all, now }: Observed): Decision {
  const behind = all.filter((item) => dataOf(item)['version'] !== version);
  if (behind.length === 0) return idle('all are where they should be');
  if (!all.every(isReady)) return idle('one is on its way');
  // Another item each time: a controller that forgets its last move would move a second one.
  const chosen = behind[now % behind.length] as KubeObject;
  return { ...idle('the next may move'), steps: [[patch(seen(items, chosen), { data: { version } }, 'is its turn')]] };
}

const working: Controller<KubeObject> = {
  name: 'working',
  eventSource: 'working',
  watches: [{ source: items, toKeys: ({ metadata }) => [metadata.name ?? ''] }],
  observe: (view, name) => view.get(items, name, PLACE),
  decide: (item) =>
    isReady(item)
      ? idle('is ready')
      : {
          ...idle('becomes ready'),
          steps: [[patch(seen(items, item), { data: { ready: dataOf(item)['version'] } }, 'has moved')]],
        },
};

const running =
  // biome-ignore lint/suspicious/noExplicitAny: as in the manager's own options.
    (controller: Controller<any>) =>
    (deps: Deps): Stop => {
      const manager = startManager(deps, { controllers: [controller] });
      return () => manager.stop();
    };

// ---- invariants

const itemsIn = (store: Readable): readonly KubeObject[] =>
  ITEMS.flatMap((name) => store.get(keyOfConfigMap(PLACE, name))?.object() ?? []);

const oneAtATime: Checker = {
  name: 'one at a time',
  look(sight) {
    const store = sight.store('hub');
    const moved = store === undefined ? [] : itemsIn(store).filter((item) => !isReady(item));
    return moved.length > 1 ? `${moved.map(({ metadata }) => metadata.name).join(' and ')} are not ready` : undefined;
  },
};

function unfinished(store: Readable): string | undefined {
  const version = dataOf(store.get(keyOfConfigMap(PLACE, GOAL))?.object())['version'];
  const late = itemsIn(store).find((item) => dataOf(item)['version'] !== version || !isReady(item));
  return late && `${late.metadata.name} is at ${JSON.stringify(dataOf(late))}, not at ${version}`;
}
