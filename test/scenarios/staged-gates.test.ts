// Users who let a run continue: by approval, or by setting its state. Numbers are those of the acceptance scenarios.
import { describe, expect } from 'vitest';
import { labels } from '../../src/api/names.ts';
import { families } from '../../src/hub/families.ts';
import { configMap, deployment, scenario } from '../delivery.ts';
import {
  ABORTED,
  AT_ONCE,
  DONE_CLUSTER,
  DONE_RUN,
  DONE_STAGE,
  EVERYBODY,
  OF_FLEET,
  prepared,
  SLOW,
  underWay,
} from '../staged.ts';

describe('an approval', () => {
  scenario.for(families)('4: of another generation does not count, and is told so', OF_FLEET, async (it) => {
    const run = await prepared(it);
    await run.run();
    await it.runs(7000);
    for (const generation of [0, 2]) {
      await run.approve('r-after-canary', generation);
      await it.runs(15_000);
      expect(await run.said()).toMatchObject({ Progressing: 'False/UpdateRunWaiting' });
      expect((await run.request('r-after-canary'))?.status?.conditions).toMatchObject([
        { type: 'Approved', observedGeneration: generation },
        {
          type: 'ApprovalAccepted',
          status: 'False',
          reason: 'ApprovalRequestGenerationMismatch',
          message: expect.stringContaining('approve again with observedGeneration 1'),
        },
      ]);
    }
    expect(await it.values()).toEqual({ c1: '-', c2: '1', c3: '-' });
    expect(await run.message('Progressing')).toContain('observedGeneration 2');
    await run.approve('r-after-canary', 1);
    await it.runs(1000);
    expect(await run.stage('canary')).toEqual(DONE_STAGE);
  });

  scenario.for(families)(
    'that is refused holds the run and says why, until it is given after all',
    OF_FLEET,
    async (it) => {
      const run = await prepared(it);
      await run.run();
      await it.runs(7000);
      const { hub, family, namespace } = { ...it, hub: it.fleet.hub };
      const rejected = {
        type: 'Approved',
        status: 'False',
        reason: 'ApprovalRequestRejected',
        message: 'rejected by "ann": the error rate doubled',
        lastTransitionTime: '2026-01-01T00:00:00Z',
        observedGeneration: 1,
      };
      const body = { status: { conditions: [rejected] } };
      const at = {
        ...hub.at(family.approvalRequest.plural, namespace, 'r-after-canary'),
        subresource: 'status' as const,
      };
      await hub.call({ verb: 'patch', at, patch: { type: 'merge', body: body as never }, manager: 'somebody' });
      await it.runs(15_000);
      expect(await run.message('Progressing')).toContain('the error rate doubled');
      expect((await run.request('r-after-canary'))?.status?.conditions).toMatchObject([
        { type: 'Approved', status: 'False' },
        { type: 'ApprovalAccepted', status: 'False', reason: 'ApprovalRequestRejected' },
      ]);
      expect(await it.values()).toEqual({ c1: '-', c2: '1', c3: '-' });
      await run.approve('r-after-canary');
      await it.runs(1000);
      expect(await run.stage('canary')).toEqual(DONE_STAGE);
    },
  );

  scenario.for(families)(
    'names who gave it, where the server vouches for that, and else nobody',
    OF_FLEET,
    async (it) => {
      const run = await prepared(it);
      await run.run();
      await it.runs(7000);
      const accepted = async (request: string) =>
        (await run.request(request))?.status?.conditions?.find(({ type }) => type === 'ApprovalAccepted')?.message;
      await run.approve('r-after-canary');
      await it.runs(1000);
      const user = (await run.request('r-after-canary'))?.status?.approval?.user;
      expect(user).toBeTruthy();
      expect(await accepted('r-after-canary')).toContain(`"${user}"`);
      // Any client could have written it.
      await it.fleet.restartHub({ delivers: {}, runs: { isSigned: false } });
      await run.approve('r-before-prod');
      await it.runs(1000);
      expect((await run.request('r-before-prod'))?.status?.approval?.user).toBe(user);
      expect(await accepted('r-before-prod')).toContain('an unknown user');
    },
  );

  scenario.for(families)('5: that is taken back after it was accepted stays accepted', OF_FLEET, async (it) => {
    const run = await prepared(it);
    await run.run();
    await it.runs(7000);
    await run.approve('r-after-canary');
    await run.approve('r-after-canary', 1, 'False');
    await it.runs(1000);
    await run.approve('r-before-prod');
    // A patch that replaces all conditions, as kubectl patch does.
    const at = {
      ...it.fleet.hub.at(it.family.approvalRequest.plural, it.namespace, 'r-before-prod'),
      subresource: 'status' as const,
    };
    const condition = {
      type: 'Approved',
      status: 'False',
      reason: 'no',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const body = { status: { conditions: [condition] } };
    await it.fleet.hub.call({ verb: 'patch', at, patch: { type: 'merge', body }, manager: 'somebody' });
    await it.runs();
    expect(await run.said()).toEqual(DONE_RUN);
    expect(
      (await run.request('r-before-prod'))?.status?.conditions?.map(({ type, status }) => `${type} ${status}`),
    ).toEqual(['Approved False', 'ApprovalAccepted True']);
  });

  scenario.for(families)('6: whose request is deleted is asked for anew', OF_FLEET, async (it) => {
    const run = await prepared(it);
    await run.run();
    await it.runs(7000);
    const first = await run.request('r-after-canary');
    const { hub } = it.fleet;
    await hub.call({ verb: 'delete', at: hub.at(it.family.approvalRequest.plural, it.namespace, 'r-after-canary') });
    await it.runs(100);
    const second = await run.request('r-after-canary');
    expect(second?.metadata.uid).not.toBe(first?.metadata.uid);
    expect(second?.status?.conditions ?? []).toEqual([]);
    expect(await run.stage('canary')).toEqual({ Progressing: 'False/StageUpdatingWaiting' });
    await run.approve('r-after-canary');
    await it.runs(1000);
    expect(await run.stage('canary')).toEqual(DONE_STAGE);
    // After that it is not needed any more.
    await hub.call({ verb: 'delete', at: hub.at(it.family.approvalRequest.plural, it.namespace, 'r-after-canary') });
    await it.runs(1000);
    expect(await run.request('r-after-canary')).toBeUndefined();
  });

  scenario.for(families)('of an earlier run of the same name opens nothing', OF_FLEET, async (it) => {
    const run = await prepared(it);
    const { plural } = it.family.approvalRequest;
    await run.run();
    await it.runs(7000);
    // It outlives its run.
    await it.fleet.patch(plural, it.namespace, 'r-after-canary', { metadata: { finalizers: ['example.com/audit'] } });
    await run.approve('r-after-canary');
    await it.runs(1000);
    expect(await run.stage('canary')).toEqual(DONE_STAGE);
    await run.remove();
    await it.runs(1000);
    await it.give(configMap('2'));
    await run.run();
    await it.runs(20_000);
    expect(await run.stage('canary')).toEqual({ Progressing: 'False/StageUpdatingWaiting' });
    expect(await run.message('Progressing')).toContain('this run did not request it');
    expect(await it.values()).toEqual({ c1: '-', c2: '2', c3: '-' });
    await it.fleet.patch(plural, it.namespace, 'r-after-canary', { metadata: { finalizers: null } });
    await it.runs(1000);
    expect((await run.request('r-after-canary'))?.status?.conditions ?? []).toEqual([]);
    await run.approve('r-after-canary');
    await it.runs(1000);
    expect(await run.stage('canary')).toEqual(DONE_STAGE);
  });

  scenario.for(families)(
    'given to a request that somebody made is not taken: the run asks itself',
    OF_FLEET,
    async (it) => {
      const run = await prepared(it);
      const { plural } = it.family.approvalRequest;
      await it.fleet.hub.create(plural, it.namespace, {
        metadata: { name: 'r-after-canary' },
        spec: { parentStageRollout: 'r', targetStage: 'canary' },
      });
      await run.approve('r-after-canary');
      const made = await run.request('r-after-canary');
      await run.run();
      await it.runs(20_000);
      expect(await run.stage('canary')).toEqual({ Progressing: 'False/StageUpdatingWaiting' });
      const asked = await run.request('r-after-canary');
      expect(asked?.metadata.uid).not.toBe(made?.metadata.uid);
      expect(asked?.metadata.ownerReferences?.[0]?.uid).toBe((await run.runOf()).metadata.uid);
      expect(asked?.status?.conditions ?? []).toEqual([]);
    },
  );

  scenario.for(families)(
    'of another generation that nobody has asked for is told so, long before its turn',
    OF_FLEET,
    async (it) => {
      const run = await prepared(it);
      await run.run({ state: 'Initialize' });
      await it.runs(5000);
      await it.fleet.hub.create(it.family.approvalRequest.plural, it.namespace, {
        metadata: { name: 'r-after-canary', labels: { [labels.targetUpdateRun]: 'r' } },
        spec: { parentStageRollout: 'r', targetStage: 'canary' },
      });
      await run.approve('r-after-canary', 7);
      await it.runs(125_000);
      const said = async () =>
        (await run.request('r-after-canary'))?.status?.conditions?.find(({ type }) => type === 'ApprovalAccepted');
      expect(await said()).toMatchObject({ status: 'False' });
    },
  );

  scenario.for(families)('of something else that has the name ends the run', OF_FLEET, async (it) => {
    const run = await prepared(it);
    await it.fleet.hub.create(it.family.approvalRequest.plural, it.namespace, {
      metadata: { name: 'r-after-canary' },
      spec: { parentStageRollout: 'r', targetStage: 'prod' },
    });
    await run.run();
    await it.runs();
    expect(await run.said()).toEqual(ABORTED);
    expect(await run.message('Succeeded')).toContain('"r-after-canary" exists and is about something else');
  });
});

describe('the state of a run', () => {
  scenario.for(families)('15: Initialize prepares, Run starts, and there is no way back', OF_FLEET, async (it) => {
    const run = await prepared(it, AT_ONCE);
    await run.run({ state: 'Initialize' });
    await it.runs(15_000);
    expect(await run.said()).toEqual({ Initialized: DONE_RUN.Initialized });
    expect(await run.clusters('all')).toEqual({ c1: {}, c2: {}, c3: {} });
    expect(await run.message('Initialized')).toContain(`kubectl patch ${it.family.run.plural} r`);
    expect((await run.status()).holds).toMatchObject([{ code: 'RunNotStarted' }]);
    expect(await it.values()).toEqual({ c1: '-', c2: '-', c3: '-' });
    await expect(run.state('Stop')).rejects.toThrow('state cannot go from Initialize to Stop');
    await run.state('Run');
    await expect(run.state('Initialize')).rejects.toThrow('state cannot go from Run to Initialize');
    await it.runs();
    expect(await run.said()).toEqual(DONE_RUN);
    expect((await run.status()).conditions?.map(({ observedGeneration }) => observedGeneration)).toEqual([2, 2, 2]);
    await it.fleet.restartHub();
    await run.state('Stop');
    await expect(run.state('Initialize')).rejects.toThrow('state cannot go from Stop to Initialize');
    await it.runs();
    expect(await run.said()).toEqual(DONE_RUN);
    expect((await run.status()).conditions?.map(({ observedGeneration }) => observedGeneration)).toEqual([3, 3, 3]);
  });

  scenario.for(families)('16: Stop at a gate holds, approvals wait, and Run goes on', OF_FLEET, async (it) => {
    const run = await prepared(it);
    await run.run();
    await it.runs(1000);
    await run.approve('r-after-canary');
    await it.runs(7000);
    expect(await run.stage('prod')).toEqual({ Progressing: 'False/StageUpdatingWaiting' });
    await run.state('Stop');
    await it.runs(1000);
    const stopped = { Initialized: DONE_RUN.Initialized, Progressing: 'False/UpdateRunStopped' };
    expect(await run.said()).toEqual(stopped);
    expect(await run.stage('prod')).toEqual({ Progressing: 'False/StageUpdatingStopped' });
    const { resourceVersion } = (await run.runOf()).metadata;
    await run.approve('r-before-prod');
    await it.runs(15_000);
    expect((await run.runOf()).metadata.resourceVersion).toBe(resourceVersion);
    expect((await run.request('r-before-prod'))?.status?.conditions?.map(({ type }) => type)).toEqual(['Approved']);
    expect(await it.values()).toEqual({ c1: '-', c2: '1', c3: '-' });
    await run.state('Run');
    await it.runs();
    expect(await run.said()).toEqual(DONE_RUN);
  });

  scenario.for(families)('17: Stop waits for what is under way, and Run does only the rest', SLOW, async (it) => {
    const run = await underWay(it);
    await run.state('Stop');
    await it.runs(1000);
    expect(await run.said()).toMatchObject({ Progressing: 'Unknown/UpdateRunStopping' });
    expect(await run.stage('all')).toEqual({ Progressing: 'Unknown/StageUpdatingStopping' });
    expect(await run.message('Progressing')).toContain('c1');
    await it.runs(20_000);
    expect(await run.said()).toMatchObject({ Progressing: 'False/UpdateRunStopped' });
    expect(await run.clusters('all')).toEqual({ c1: DONE_CLUSTER, c2: {} });
    expect(await run.bound()).toEqual({ c1: 'web-0-snapshot', c2: '' });
    it.forget();
    await run.state('Run');
    await it.runs(20_000);
    expect(await run.said()).toEqual(DONE_RUN);
    expect(it.writes()[`hub patch ${it.family.binding.plural}`]).toBe(1);
  });

  scenario.for(families)('K14: Stop ends with clusters that are stuck, and names them', { members: 2 }, async (it) => {
    const run = await prepared(it, [{ name: 'all', ...EVERYBODY }]);
    await it.give(deployment('web:bad'));
    await run.run();
    await it.runs(60_000);
    await run.state('Stop');
    await it.runs(60_000);
    expect(await run.said()).toMatchObject({ Progressing: 'Unknown/UpdateRunStopping' });
    await it.runs(200_000);
    expect(await run.said()).toMatchObject({ Progressing: 'False/UpdateRunStopped' });
    expect(await run.message('Progressing')).toMatch(/"c1" not done after 5m0s: .*Deployment "shop\/web"/);
    const { resourceVersion } = (await run.runOf()).metadata;
    await it.runs(600_000);
    expect((await run.runOf()).metadata.resourceVersion).toBe(resourceVersion);
    expect(await run.bound()).toMatchObject({ c2: '' });
  });

  scenario.for(families)(
    '18: one that is created in Stop is prepared, and Run starts it',
    { members: { c1: {} } },
    async (it) => {
      const run = await prepared(it, AT_ONCE);
      await run.run({ state: 'Stop' });
      await it.runs();
      expect(await run.said()).toEqual({ Initialized: DONE_RUN.Initialized, Progressing: 'False/UpdateRunStopped' });
      expect(await it.values()).toEqual({ c1: '-' });
      await run.state('Run');
      await it.runs();
      expect(await run.said()).toEqual(DONE_RUN);
    },
  );
});
