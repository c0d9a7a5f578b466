// A run reacts to changes immediately: the only timers are those that coalesce writes, and it makes no unnecessary
// writes.
import { describe, expect } from 'vitest';
import { hubBasicRules, hubSystemRules } from '../../src/api/rights.ts';
import { families } from '../../src/hub/families.ts';
import { CONFIG_MAPS, configMap, type Delivery, DONE, scenario, theNamespace } from '../delivery.ts';
import type { Fleet } from '../fleet.ts';
import { DONE_RUN, EVERYBODY, EXTERNAL, labelled, prepared } from '../staged.ts';

const MEMBERS = Object.fromEntries(
  Array.from({ length: 12 }, (_, at) => [
    `c${String(at + 1).padStart(2, '0')}`,
    { ring: at < 2 ? 'a' : at < 6 ? 'b' : 'c' },
  ]),
);
/** 2, 4 and 6 clusters, half of each at a time: six waves. */
const RINGS = ['a', 'b', 'c'].map((ring) => ({ name: ring, ...labelled({ ring }), maxConcurrency: '50%' }));
const WAVES = 6;
const STAGES = 3;
const GATHERING_MS = 100;

const isGathering = (name: string): boolean => name === 'coalesce';

/** Advances time only from one timer for coalesced writes to the next. Returns how much. */
async function gathers({ clock, settles }: Fleet, isOver: () => Promise<boolean>): Promise<number> {
  const begin = clock.now();
  await settles();
  while (!(await isOver())) {
    const next = clock.next(isGathering);
    if (next === undefined) throw new Error('nothing gathers, and it is not over');
    expect(next - clock.now()).toBeLessThanOrEqual(GATHERING_MS);
    clock.advance(Math.max(0, next - clock.now()));
    await settles();
  }
  return clock.now() - begin;
}

/**
 * `hub patch works/status`: whether the roles of the hub's controllers permit it. Verifying an object is a patch
 * without changes.
 */
function isGranted(what: string): boolean {
  const [, did = '', resource = ''] = what.split(' ');
  const verb = did === 'ascertains' ? 'patch' : did;
  return [...hubBasicRules, ...hubSystemRules].some(
    ({ resources, verbs }) => resources.includes(resource) && verbs.includes(verb),
  );
}

/** Other content to place; returns its selector. */
async function contentOfTheirs(it: Delivery): Promise<object> {
  if (it.namespace === undefined) {
    await it.fleet.hub.create('namespaces', undefined, { metadata: { name: 'market' } });
    return theNamespace({ name: 'market' });
  }
  await it.give(configMap('1', 'other'));
  return { ...CONFIG_MAPS, name: 'other' };
}

/** `who controller key`: placements, runs, and objects named after a placement: snapshots, bindings, Works. */
const isTheirs = (pass: string): boolean => /bystander|theirs|waiting/.test(pass);

describe('a run', () => {
  scenario.for(families)(
    'goes from its start to its end without waiting for any moment',
    { members: MEMBERS },
    async (it) => {
      const run = await prepared(it, RINGS);
      const fired: string[] = [];
      it.fleet.clock.hear((name) => fired.push(name));
      const isOver = async () => (await run.said())['Succeeded'] !== undefined;
      await run.run();
      const spent = await gathers(it.fleet, isOver);
      expect(await run.said()).toEqual(DONE_RUN);
      expect([...it.fleet.writes.keys()].filter((what) => what.startsWith('hub ') && !isGranted(what))).toEqual([]);
      expect(new Set(Object.values(await it.values()))).toEqual(new Set(['1']));
      expect(fired.filter((name) => !isGathering(name))).toEqual([]);
      expect(spent).toBeLessThanOrEqual(GATHERING_MS * (WAVES + STAGES));
      // The status of the placement follows in the same way.
      await gathers(it.fleet, async () => (await it.said())['Available'] === DONE.Available);
      expect(new Set(fired)).toEqual(new Set(['coalesce']));
    },
  );

  scenario.for(families)('whose clusters have it all already passes in one write', { members: MEMBERS }, async (it) => {
    const run = await prepared(it, RINGS);
    await run.run();
    await it.runs();
    it.forget();
    await run.run({}, 'again');
    await it.runs();
    expect(await run.said('again')).toEqual(DONE_RUN);
    expect(it.writes()).toEqual({
      [`hub patch ${it.family.run.plural}`]: 1,
      [`hub patch ${it.family.run.plural}/status`]: 1,
    });
  });

  scenario.for(families)(
    'writes each binding once and its status once, and its own status at most ten times a second',
    { members: MEMBERS },
    async (it) => {
      const run = await prepared(it, [{ name: 'all', ...EVERYBODY, maxConcurrency: 1 }]);
      await it.give(configMap('1', 'other'));
      await it.place(EXTERNAL, 'bystander');
      await it.runs(2000);
      it.forget();
      await run.run({ placementName: 'bystander', state: 'Initialize' }, 'waiting');
      await it.runs(1000);
      const waiting = await run.runOf('waiting');
      const begin = it.fleet.clock.now();
      it.forget();
      await run.run();
      await gathers(it.fleet, async () => (await run.said())['Succeeded'] !== undefined);
      const seconds = (it.fleet.clock.now() - begin) / 1000;
      const writes = it.writes();
      const count = Object.keys(MEMBERS).length;
      // The run makes one write each: the spec and RolloutStarted. The work generator reports the outcome of the Work
      // in another one.
      expect(writes[`hub patch ${it.family.binding.plural}`]).toBe(count);
      expect(writes[`hub patch ${it.family.binding.plural}/status`]).toBe(2 * count);
      expect(writes[`hub patch ${it.family.run.plural}/status`]).toBeLessThanOrEqual(10 * (1 + Math.floor(seconds)));
      expect(writes[`hub create ${it.family.resourceSnapshot.plural}`]).toBe(1);
      expect((await run.runOf('waiting')).metadata.resourceVersion).toBe(waiting.metadata.resourceVersion);
    },
  );

  scenario.for(families)(
    'has nobody look at anything that belongs to another placement',
    { members: MEMBERS },
    async (it) => {
      const run = await prepared(it, [{ name: 'all', ...EVERYBODY, maxConcurrency: '25%' }], {
        ...(it.namespace === undefined ? {} : { resourceSelectors: [{ ...CONFIG_MAPS, name: 'app' }] }),
      });
      const theirs = await contentOfTheirs(it);
      await it.place({ ...EXTERNAL, resourceSelectors: [theirs] }, 'bystander');
      await run.run({ placementName: 'bystander' }, 'theirs');
      await it.runs();
      expect(await run.said('theirs')).toEqual(DONE_RUN);
      await run.run({ placementName: 'bystander', state: 'Initialize' }, 'waiting');
      await it.runs();
      const { passes } = it.fleet;
      expect([...passes.keys()].filter(isTheirs).length).toBeGreaterThan(2 * Object.keys(MEMBERS).length);
      passes.clear();
      await run.run();
      await gathers(it.fleet, async () => (await run.said())['Succeeded'] !== undefined);
      await it.fleet.settles();
      expect(await run.said()).toEqual(DONE_RUN);
      expect([...passes].filter(([what]) => isTheirs(what))).toEqual([]);
      // The run is reconciled when a cluster was updated, when its status was written, and when it has reported.
      const { kind } = it.family.run;
      const own = passes.get(`hub staged/${kind} ${it.namespace === undefined ? '' : `${it.namespace}/`}r`) ?? 0;
      expect(own).toBeGreaterThan(0);
      expect(own).toBeLessThanOrEqual(10 * Object.keys(MEMBERS).length);
    },
  );
});
