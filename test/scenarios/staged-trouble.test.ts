// Runs with failures: conflicting runs, clusters that do not become available, hubs that crash. Numbers are those of
// the acceptance scenarios.
import { describe, expect, test } from 'vitest';
import type { Binding } from '../../src/api/binding.ts';
import type { Transport, WatchEvent } from '../../src/api/transport.ts';
import { ApiError } from '../../src/base/errors.ts';
import { seededRandom } from '../../src/base/random.ts';
import { families } from '../../src/hub/families.ts';
import { startHub } from '../../src/main/parts.ts';
import { silentLog } from '../../src/runtime/deps.ts';
import { theHub } from '../cluster.ts';
import { aDelivery, configMap, DONE, deployment, SHOP, scenario } from '../delivery.ts';
import {
  ABORTED,
  AT_ONCE,
  CANARY_FIRST,
  DONE_CLUSTER,
  DONE_RUN,
  DONE_STAGE,
  EXTERNAL,
  labelled,
  OF_FLEET,
  prepared,
  SLOW,
  staging,
  UNDER_WAY,
  underWay,
} from '../staged.ts';

describe('trouble', () => {
  scenario.for(families)('22: another run that takes a cluster over ends the first', SLOW, async (it) => {
    const run = await underWay(it);
    await it.give(deployment('web:2'));
    await run.run({}, 'r2');
    await it.runs(1000);
    expect(await run.said()).toEqual(ABORTED);
    expect(await run.clusters('all')).toMatchObject({
      c1: { ...UNDER_WAY, Succeeded: 'False/ClusterUpdatingFailed' },
    });
    expect(await run.stage('all')).toEqual({
      Progressing: 'False/StageUpdatingFailed',
      Succeeded: 'False/StageUpdatingFailed',
    });
    expect(await run.message('Succeeded')).toContain('failed to process the request due to a client error');
    await it.runs(40_000);
    expect(await run.said('r2')).toEqual(DONE_RUN);
    expect(await it.images()).toEqual({ c1: 'web:2', c2: 'web:2' });
  });

  scenario.for(families)(
    '23: a cluster that does not come up is named, and a fix on the member lets the run go on',
    {
      ...OF_FLEET,
      async prepare(member, name) {
        if (name !== 'c2') return;
        await member.create('namespaces', undefined, { metadata: { name: SHOP } }).catch(() => {});
        await member.create('configmaps', SHOP, { metadata: { name: 'app' }, data: { value: 'own' }, immutable: true });
      },
    },
    async (it) => {
      const run = await prepared(it, [
        { name: 'canary', ...labelled({ env: 'canary' }) },
        { name: 'prod', ...labelled({ env: 'prod' }) },
      ]);
      await run.run();
      await it.runs(290_000);
      expect(await run.said()).toMatchObject({ Progressing: 'True/UpdateRunProgressing' });
      expect(await run.clusters('canary')).toEqual({ c2: UNDER_WAY });
      await it.runs(20_000);
      expect(await run.said()).toMatchObject({ Progressing: 'False/UpdateRunStuck' });
      expect(await run.message('Progressing')).toMatch(/"c2" not done after 5m0s: .*ConfigMap "shop\/app"/);
      expect(await run.message('Progressing')).toContain(`see ${it.family.placement.kind} "web"`);
      await it.removeOn('c2', 'configmaps', 'app');
      await it.runs(600_000);
      expect(await run.said()).toEqual(DONE_RUN);
      expect(await it.values()).toEqual({ c1: '1', c2: '1', c3: '1' });
    },
  );

  scenario.for(families)('26: a hub that dies between two writes goes on where it was', OF_FLEET, async (it) => {
    const run = await prepared(it);
    // The cluster gets its revision, and the run does not learn of it.
    it.fleet.meddle = (who, { verb, at }) =>
      who === 'hub' &&
      verb === 'patch' &&
      at.resource.kind === it.family.run.kind &&
      at.subresource === 'status' &&
      wasMoved
        ? new ApiError(500, 'InternalError', 'down')
        : undefined;
    let wasMoved = false;
    const { meddle } = it.fleet;
    it.fleet.meddle = (who, request) => {
      if (who === 'hub' && request.verb === 'patch' && request.at.resource.kind === it.family.binding.kind)
        wasMoved = true;
      return meddle(who, request);
    };
    await run.run();
    await it.runs(500);
    expect(await run.bound()).toEqual({ c1: '', c2: 'web-0-snapshot', c3: '' });
    expect(await run.clusters('canary')).toEqual({ c2: {} });
    const { generation } = ((await it.bindings())[1] as Binding).metadata;
    await it.fleet.stopHub();
    it.fleet.meddle = undefined;
    await it.fleet.restartHub();
    await it.runs(7000);
    expect(await run.clusters('canary')).toEqual({ c2: DONE_CLUSTER });
    expect(((await it.bindings())[1] as Binding).metadata.generation).toBe(generation);
    await run.approve('r-after-canary');
    await it.runs(1000);
    await run.approve('r-before-prod');
    await it.runs();
    expect(await run.said()).toEqual(DONE_RUN);
    expect(await it.said()).toEqual(DONE);
  });

  scenario.for(families)(
    '27: a run that is deleted half-way leaves the clusters as they are, and no request',
    OF_FLEET,
    async (it) => {
      const run = await prepared(it);
      await run.run();
      await it.runs(7000);
      const before = await it.bindings();
      expect(await run.request('r-after-canary')).toBeDefined();
      await run.remove();
      await it.runs(1000);
      expect(await it.fleet.exists(it.family.run.plural, it.namespace, 'r')).toBe(false);
      expect(await run.request('r-after-canary')).toBeUndefined();
      expect(await it.bindings()).toEqual(before);
    },
  );

  scenario.for(families)(
    '28: a wait takes its time, whatever is approved meanwhile, stopped or restarted',
    OF_FLEET,
    async (it) => {
      const [canary, prod] = CANARY_FIRST;
      const tasks = [{ type: 'Approval' }, { type: 'TimedWait', waitTime: '30s' }];
      const run = await prepared(it, [
        { ...canary, afterStageTasks: tasks },
        { ...prod, beforeStageTasks: [] },
      ]);
      await run.run();
      await it.runs(200);
      const since = it.fleet.clock.now();
      expect(await run.clusters('canary')).toEqual({ c2: DONE_CLUSTER });
      await it.runs(5000);
      await run.approve('r-after-canary');
      await it.runs(1000);
      await run.state('Stop');
      await it.runs(5000);
      await run.state('Run');
      await it.fleet.restartHub();
      await it.runs(17_500);
      expect(it.fleet.clock.now() - since).toBeLessThan(29_000);
      expect(await run.stage('canary')).toEqual({ Progressing: 'False/StageUpdatingWaiting' });
      await it.runs(since + 31_000 - it.fleet.clock.now());
      expect(await run.stage('canary')).toEqual(DONE_STAGE);
      await it.runs();
      expect(await run.said()).toEqual(DONE_RUN);
    },
  );

  scenario.for(families)('28: a wait takes its time also if its start is edited', OF_FLEET, async (it) => {
    const [canary, prod] = CANARY_FIRST;
    const run = await prepared(it, [
      { ...canary, afterStageTasks: [{ type: 'TimedWait', waitTime: '2m' }] },
      { ...prod, beforeStageTasks: [] },
    ]);
    await run.run();
    await it.runs(200);
    const since = it.fleet.clock.now();
    expect(await run.clusters('canary')).toEqual({ c2: DONE_CLUSTER });
    const { stagesStatus = [] } = await run.status();
    const [first, ...others] = stagesStatus;
    const conditions = first?.conditions?.map((each) => ({ ...each, lastTransitionTime: '2020-01-01T00:00:00Z' }));
    const { hub } = it.fleet;
    const at = { ...hub.at(it.family.run.plural, it.namespace, 'r'), subresource: 'status' as const };
    const body = { status: { stagesStatus: [{ ...first, conditions }, ...others] } };
    await hub.call({ verb: 'patch', at, patch: { type: 'merge', body: body as never }, manager: 'somebody' });
    await it.runs(110_000);
    expect(await run.stage('canary')).toEqual({ Progressing: 'False/StageUpdatingWaiting' });
    await it.runs(since + 122_000 - it.fleet.clock.now());
    expect(await run.stage('canary')).toEqual(DONE_STAGE);
    await it.runs();
    expect(await run.said()).toEqual(DONE_RUN);
  });
});

describe('a hub that dies', () => {
  const TWO_STAGES = [
    { name: 'first', ...labelled({ env: 'canary' }), afterStageTasks: [{ type: 'Approval' }] },
    { name: 'rest', ...labelled({ env: 'prod' }) },
  ];
  for (const family of families) {
    test(`at any of its writes leaves a run that goes on to the same end (${family.run.kind})`, async () => {
      let isComplete = false;
      for (let max = 0; !isComplete; max += family.run.namespaced ? 5 : 2) {
        await using it = await aDelivery(family, { members: { c1: { env: 'canary' }, c2: { env: 'prod' } } });
        const run = await prepared(it, TWO_STAGES);
        let writes = 0;
        isComplete = true;
        it.fleet.meddle = (who, { verb }) => {
          if (who !== 'hub' || verb === 'get' || verb === 'list' || ++writes <= max) return undefined;
          isComplete = false;
          return new ApiError(500, 'InternalError', 'it is dying');
        };
        await run.run();
        await it.runs(300);
        if ((await run.request('r-after-first')) !== undefined) await run.approve('r-after-first');
        await it.runs(300);
        await it.fleet.stopHub();
        it.fleet.meddle = undefined;
        await it.fleet.restartHub();
        await it.runs(1000);
        const [, other] = await it.bindings();
        const request = await run.request('r-after-first');
        const isApproved = request?.status?.conditions?.some(({ type }) => type === 'Approved') ?? false;
        if (!isApproved) {
          expect(other?.spec.resourceSnapshotName).toBe('');
          await run.approve('r-after-first');
        }
        await it.runs();
        expect(await run.said()).toEqual(DONE_RUN);
        expect(await it.values()).toEqual({ c1: '1', c2: '1' });
        expect(await run.snapshots()).toEqual(['web-0-snapshot']);
        expect((await it.bindings()).map(({ metadata }) => metadata.generation)).toEqual([2, 2]);
        expect(await it.said()).toEqual(DONE);
      }
    });
  }
});

describe('two hubs at once', () => {
  scenario.for(families)('both believe that they lead, and the run is carried out once', OF_FLEET, async (it) => {
    const run = await prepared(it, [
      { name: 'canary', ...labelled({ env: 'canary' }), afterStageTasks: [{ type: 'Approval' }] },
      { name: 'prod', ...labelled({ env: 'prod' }) },
    ]);
    const { hub, clock } = it.fleet;
    const second = startHub({
      clock,
      random: seededRandom(12),
      servers: { hub: hub.as(theHub) },
      catalogues: { hub: hub.running.catalogue },
      log: silentLog,
    });
    try {
      await second.synced;
      await run.run();
      await it.runs(10_000);
      expect(await run.said()).toMatchObject({ Progressing: 'False/UpdateRunWaiting' });
      expect(await run.bound()).toEqual({ c1: '', c2: 'web-0-snapshot', c3: '' });
      await run.approve('r-after-canary');
      await it.runs(10_000);
      expect(await run.said()).toEqual(DONE_RUN);
      expect(await run.snapshots()).toEqual(['web-0-snapshot']);
      expect((await it.bindings()).map(({ metadata }) => metadata.generation)).toEqual([2, 2, 2]);
    } finally {
      await second.stop();
    }
  });
});

describe('a hub that is behind', () => {
  scenario.for(families)('on runs keeps the revision that one of them needs', { members: { c1: {} } }, async (it) => {
    const run = staging(it);
    await it.give(configMap('0'));
    await it.place({ ...EXTERNAL, revisionHistoryLimit: 2 });
    await run.strategy(AT_ONCE);
    await it.runs(1000);
    for (const value of ['0', '1', '2']) {
      await it.give(configMap(value));
      await run.run({}, `r${value}`);
      await it.runs();
    }
    expect(await run.snapshots()).toEqual(['web-1-snapshot', 'web-2-snapshot']);
    await it.fleet.stopHub();
    const { hub, clock } = it.fleet;
    const heard = hub.as(theHub);
    let mayCapture = true;
    let isMute = false;
    const { run: runs, resourceSnapshot } = it.family;
    const deaf: Transport = {
      call: (request, signal) =>
        !mayCapture && request.verb === 'create' && request.at.resource === resourceSnapshot
          ? Promise.reject(new ApiError(500, 'InternalError', 'not now'))
          : heard.call(request, signal),
      watch: (request, signal) =>
        request.at.resource === runs ? until(heard.watch(request, signal)) : heard.watch(request, signal),
    };
    /** Delivers nothing from then on, and does not end. */
    async function* until(batches: AsyncIterable<readonly WatchEvent[]>): AsyncGenerator<readonly WatchEvent[]> {
      for await (const batch of batches) {
        if (isMute) await new Promise<never>(() => {});
        yield batch;
      }
    }
    const behind = startHub({
      clock,
      random: seededRandom(12),
      servers: { hub: deaf },
      catalogues: { hub: hub.running.catalogue },
      log: silentLog,
    });
    try {
      await behind.synced;
      mayCapture = false;
      await it.give(configMap('3'));
      await run.run({}, 'r3');
      await it.runs(1000);
      isMute = true;
      await run.run({ state: 'Initialize', resourceSnapshotIndex: '1' }, 'unheard');
      mayCapture = true;
      await it.runs();
      expect(await run.snapshots()).toEqual(['web-1-snapshot', 'web-2-snapshot', 'web-3-snapshot']);
    } finally {
      await behind.stop();
    }
  });
});

describe('a revision', () => {
  scenario.for(families)('that somebody deletes ends the run that still needs it', SLOW, async (it) => {
    const run = await underWay(it);
    const at = it.fleet.hub.at(it.family.resourceSnapshot.plural, it.namespace, 'web-0-snapshot');
    await it.fleet.hub.call({ verb: 'delete', at });
    await it.runs(1000);
    expect(await run.said()).toEqual(ABORTED);
    expect(await run.message('Succeeded')).toContain('its revision was deleted: resource snapshot "web-0-snapshot"');
  });
});
