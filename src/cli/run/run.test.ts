// `flotilla run` against the real API server over https; the test acts as the hub.
import { describe, expect, test } from 'vitest';
import { admin, testClock } from '../../../test/cluster.ts';
import type { User } from '../../api/object.ts';
import { wallClock } from '../../base/clock.ts';
import {
  approval,
  aRequest,
  aRun,
  aStage,
  DONE,
  INITIALIZED,
  inRun,
  onRequest,
  type RunParts,
  said,
} from '../../insight/staged-run.testing.ts';
import { whichRun } from '../../insight/which-run.ts';
import { overheard, printing, serving } from '../served.testing.ts';
import type { ShowOptions } from '../terminal/showing.ts';
import { showRun } from './run.ts';

const WAITING = 'Progressing:False:StageUpdatingWaiting';
const gate = (text: string) => ({ afterStageTaskStatus: [approval('r-after-one', text)] });
const waiting: RunParts = {
  says: `${INITIALIZED} Progressing:False:UpdateRunWaiting`,
  message: 'stage "one" waits',
  stages: [aStage('one', WAITING, [inRun('a', DONE)], gate('ApprovalRequestCreated'))],
  holds: [onRequest('r-after-one', 'one', 'after')],
};
const over = (text: string): RunParts => ({
  says: `${INITIALIZED} ${text}`,
  message: 'so it ended',
  stages: [
    aStage(
      'one',
      `${WAITING} Succeeded:True:StageUpdatingSucceeded`,
      [inRun('a', DONE)],
      gate('ApprovalRequestCreated ApprovalRequestApproved'),
    ),
  ],
});
const done = over('Progressing:False:UpdateRunSucceeded Succeeded:True:UpdateRunSucceeded');
const failed = over('Progressing:False:UpdateRunFailed Succeeded:False:UpdateRunFailed');

interface Around {
  readonly as?: User;
  /** A user created the request of its gate before the hub could. */
  readonly isMadeByHand?: boolean;
}

async function showing(parts: RunParts, { as = admin, isMadeByHand = false }: Around = {}) {
  const { subject, write, server } = await serving([aRun(parts)]);
  const made = await subject.cluster.get('clusterstagedupdateruns', undefined, 'r');
  await write(aRequest('r-after-one', 'one', isMadeByHand ? {} : { owner: made.metadata.uid }));
  const { print, ...printed } = printing();
  const calls: string[] = [];
  const stop = new AbortController();
  const counted = overheard(await server(as), ({ verb, at }) => calls.push(`${verb} ${at.resource.plural}`));
  const ann = { name: 'ann', groups: ['system:masters'] };
  return {
    ...printed,
    cluster: subject.cluster,
    stop,
    calls,
    become: (next: RunParts) => write(aRun(next)),
    /** As ann, so that the server records her as the approver. */
    approve: () =>
      subject.cluster.as(ann).call({
        verb: 'patch',
        at: { ...subject.cluster.at('clusterapprovalrequests', undefined, 'r-after-one'), subresource: 'status' },
        patch: { type: 'merge', body: { status: { conditions: said('Approved') } } as never },
        manager: 'test',
      }),
    remove: () =>
      subject.cluster.call({ verb: 'delete', at: subject.cluster.at('clusterstagedupdateruns', undefined, 'r') }),
    show: (options: Partial<ShowOptions> = {}, which = whichRun('r')) =>
      showRun(counted, which, { clock: wallClock, signal: stop.signal, ...options }, print),
  };
}

describe('a run', () => {
  test.each([
    {
      it: 'that waits',
      parts: waiting,
      code: 2,
      says: 'waits for r-after-one: flotilla approve r --stage one --after',
    },
    { it: 'that has succeeded', parts: done, code: 0, says: 'succeeded, 1 of 1 cluster done' },
    { it: 'that has failed', parts: failed, code: 3, says: 'Failed: so it ended' },
    {
      it: 'that could not begin',
      parts: { says: 'Initialized:False:UpdateRunInitializedFailed', message: 'no strategy' },
      code: 3,
      says: 'Failed: no strategy',
    },
  ])('$it ends with $code', async ({ parts, code, says }) => {
    const { show, out } = await showing(parts);
    expect(await show()).toBe(code);
    expect(out.join('\n')).toContain(says);
  });

  test('for programs is one document with the same facts', async () => {
    const it = await showing(waiting);
    expect(await it.show({ output: 'json' })).toBe(2);
    expect(JSON.parse(it.out.join('\n'))).toEqual({
      kind: 'ClusterStagedUpdateRun',
      name: 'r',
      placement: 'web',
      strategy: 's',
      revision: '1',
      phase: 'Waiting',
      isOver: false,
      says: 'stage "one" waits',
      done: 1,
      skipped: 0,
      total: 1,
      stages: [
        {
          stage: 'one',
          removes: false,
          state: 'Waiting',
          started: '2026-01-01T11:55:00Z',
          done: 1,
          skipped: 0,
          total: 1,
          clusters: [{ cluster: 'a', state: 'Done', since: '2026-01-01T11:55:00Z', message: '' }],
          gates: [{ when: 'after', type: 'Approval', state: 'AwaitingApproval', request: 'r-after-one' }],
        },
      ],
      holds: [
        expect.objectContaining({
          code: 'ApprovalMissing',
          sentence: 'ClusterApprovalRequest "r-after-one" is not approved yet',
        }),
      ],
    });
  });

  test('watched tells every change and who made it, until it is over, without asking again and again', async () => {
    const it = await showing(waiting);
    const begun = it.told();
    const watching = it.show({ watch: true });
    await begun;
    it.out.length = 0;
    const changed = it.told();
    await it.become({ ...waiting, message: 'stage "one" waits, still' });
    await changed;
    const approved = it.told();
    await it.approve();
    await approved;
    await it.become(done);
    expect(await watching).toBe(0);
    expect(it.out).toEqual([
      'ClusterStagedUpdateRun "r", revision 1 of placement "web": waits, 1 of 1 cluster done',
      'Waits: stage "one" waits, still',
      expect.stringMatching(
        /^gate after one: Approved \(approved by "ann" at .*Z; the hub has not processed it yet\)$/,
      ),
      'stage one: Waiting -> Done (1 of 1 done)',
      expect.stringMatching(/^gate after one: Open \(approved by "ann" at .*Z\)$/),
      'ClusterStagedUpdateRun "r", revision 1 of placement "web": succeeded, 1 of 1 cluster done',
    ]);
    expect(it.calls).toEqual([
      'get clusterstagedupdateruns',
      'get clusterstagedupdateruns',
      'list clusterapprovalrequests',
      'list clusterapprovalrequests',
      'list clusterapprovalrequests',
    ]);
  });

  test('does not take a request that was made by hand, labels and all, for its own', async () => {
    const it = await showing(waiting, { isMadeByHand: true });
    await it.approve();
    expect(await it.show()).toBe(2);
    expect(it.out.join('\n')).toMatch(
      /after one +AwaitingApproval +waits for r-after-one: flotilla approve r --stage one --after/,
    );
  });

  test('watched for programs is one object per line, and ends with 3 when it fails', async () => {
    const it = await showing(waiting);
    const begun = it.told();
    const watching = it.show({ watch: true, output: 'json' });
    await begun;
    await it.become(failed);
    expect(await watching).toBe(3);
    expect(it.out.map((line) => (JSON.parse(line) as { phase: string }).phase)).toEqual(['Waiting', 'Failed']);
    expect(JSON.parse(it.out[1] ?? '')).toMatchObject({ stages: [{ gates: [{ state: 'Open', by: 'unknown' }] }] });
  });

  test('watched on a terminal is drawn again, with a bar for each stage', async () => {
    const it = await showing(waiting);
    const pictures: string[] = [];
    let drawn = () => {};
    const first = new Promise<void>((resolve) => {
      drawn = resolve;
    });
    const draw = (text: string) => {
      pictures.push(text);
      drawn();
    };
    const watching = it.show({ watch: true, terminal: { columns: 80, rows: 24, draw } });
    await first;
    await it.become(done);
    expect(await watching).toBe(0);
    expect(it.out).toEqual([]);
    expect(pictures).toHaveLength(2);
    expect(pictures[1]).toContain(`one     Done    1 of 1   [${'#'.repeat(30)}]`);
  });

  test('watched for too long says how far it came', async () => {
    const clock = testClock();
    const it = await showing(waiting);
    const begun = it.told();
    const watching = it.show({ watch: true, timeoutMs: 90_000, clock });
    await begun;
    clock.advance(90_000);
    expect(await watching).toBe(2);
    expect(it.errors).toEqual([
      'not complete after 1m30s: ClusterStagedUpdateRun "r", revision 1 of placement "web": waits, 1 of 1 cluster done',
    ]);
  });

  test('watched is stopped by Ctrl-C without a word, and ends when it is deleted', async () => {
    const it = await showing(waiting);
    const begun = it.told();
    const watching = it.show({ watch: true });
    await begun;
    it.stop.abort();
    expect(await watching).toBe(130);
    expect(it.errors).toEqual([]);
    const other = await showing(waiting);
    const again = other.told();
    const deleted = other.show({ watch: true });
    await again;
    await Promise.all([expect(deleted).rejects.toThrow('ClusterStagedUpdateRun "r" was deleted'), other.remove()]);
  });

  test('whose requests may not be read says so once, and shows the rest', async () => {
    const dev: User = { name: 'dev', groups: ['system:authenticated'] };
    const it = await showing(done, { as: dev });
    await it.cluster.create('clusterroles', undefined, {
      metadata: { name: 'runs' },
      rules: [{ apiGroups: ['placement.kubernetes-fleet.io'], resources: ['clusterstagedupdateruns'], verbs: ['get'] }],
    });
    await it.cluster.create('clusterrolebindings', undefined, {
      metadata: { name: 'runs' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'runs' },
      subjects: [{ kind: 'User', name: 'dev', apiGroup: 'rbac.authorization.k8s.io' }],
    });
    expect(await it.show()).toBe(0);
    expect(it.out.join('\n')).toContain('approved by unknown at 2026-01-01T11:55:00Z');
    expect(it.errors).toEqual([expect.stringContaining('the approvers are unknown: the requests could not be read')]);
  });

  test.each([
    {
      which: whichRun('x'),
      says: 'ClusterStagedUpdateRun "x" not found (known: r); a StagedUpdateRun needs its namespace: -n',
    },
    {
      which: whichRun('r', 'default'),
      says: 'StagedUpdateRun "default/r" not found (there are none); omit -n for a ClusterStagedUpdateRun',
    },
  ])('that is not there is told with those that are: $which.name', async ({ which, says }) => {
    const { show } = await showing(waiting);
    await expect(show({}, which)).rejects.toThrow(says);
  });
});
