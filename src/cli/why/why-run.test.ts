// `flotilla why run/NAME` against the real API server over https. No hub runs: every answer comes from the API alone.
import { describe, expect, test } from 'vitest';
import { labels } from '../../api/names.ts';
import type { KubeObject, User } from '../../api/object.ts';
import { aPlacement, conditions, failed, aBinding as placed, still } from '../../insight/placement.testing.ts';
import {
  aMember,
  approval,
  aRequest,
  aRun,
  aSnapshot,
  aStage,
  DONE,
  INITIALIZED,
  inRun,
  onCluster,
  onRequest,
  onRun,
  type RunParts,
  SKIPPED,
  STARTED,
  said,
} from '../../insight/staged-run.testing.ts';
import { whichRun } from '../../insight/which-run.ts';
import { printing, serving } from '../served.testing.ts';
import { whyRun } from './why.ts';

interface Asked {
  readonly as?: User;
  readonly namespace?: string;
  readonly cluster?: string;
  readonly output?: string;
}

async function ask(objects: readonly KubeObject[], { as, namespace, ...options }: Asked = {}) {
  const { server } = await serving(objects);
  const { print, text } = printing();
  const which = whichRun('run/r', namespace);
  const code = await whyRun(await server(as), which, { ...options, clock: still }, print);
  return { code, text: text() };
}

const work: KubeObject = {
  apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
  kind: 'Work',
  metadata: {
    name: 'web-work',
    namespace: 'fleet-member-b',
    labels: { [labels.parentBinding]: 'web-b-1', [labels.parentPlacement]: 'web' },
  },
  spec: { workload: { manifests: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }] } },
  status: {
    conditions: conditions('Applied:T Available:F', '', 1),
    manifestConditions: [
      {
        identifier: { ordinal: 0, group: 'apps', version: 'v1', kind: 'Deployment', namespace: 'shop', name: 'web' },
        conditions: [{ ...conditions('Available:F', '', 1)[0], message: 'no Pod is ready' }],
      },
    ],
  },
};
/** Cluster b has its binding, its Work, and a Deployment that does not become available. */
const fleet: readonly KubeObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'fleet-member-b' } },
  aMember('b'),
  { ...aPlacement({ said: 'TF' }), spec: { ...aPlacement().spec, strategy: { type: 'External' } } } as KubeObject,
  placed('b', 'TTTTF', { more: { failedPlacements: [failed('no Pod is ready')] } }),
  work,
  aSnapshot(0, [], false),
  aSnapshot(1),
];

const WAITING = 'Progressing:False:StageUpdatingWaiting';
const stages = (first: string, second: string) => [
  aStage('one', first, [inRun('a', DONE)]),
  aStage('two', second, [inRun('b', second === '' ? '' : STARTED), inRun('c')]),
];
const ONE_DONE = 'Progressing:False:StageUpdatingSucceeded Succeeded:True:StageUpdatingSucceeded';
const UPDATING = 'Progressing:True:StageUpdatingStarted';
const going = (text: string, message: string, more: RunParts = {}): RunParts => ({
  says: `${INITIALIZED} ${text}`,
  message,
  stages: stages(ONE_DONE, UPDATING),
  holds: [
    onCluster('NotAvailable', 'b', {
      facts: { cause: 'starting', message: 'no Pod is ready' },
      next: 'mend cluster "b"',
    }),
    onCluster('ConcurrencyUsed', 'b', {
      facts: { stage: 'two', inFlight: 1, maxConcurrency: 1, cause: 'starting' },
      clusters: ['c'],
    }),
  ],
  ...more,
});
/** It waits before or after stage `one`. */
const waits = (holds: RunParts['holds'], own: RunParts['stages'] = stages(WAITING, '')): RunParts => ({
  says: `${INITIALIZED} Progressing:False:UpdateRunWaiting`,
  message: 'stage "one" waits',
  ...(own === undefined ? {} : { stages: own }),
  ...(holds === undefined ? {} : { holds }),
});
const behindOther = (more: object): RunParts =>
  waits(
    [
      {
        code: 'OtherRun',
        on: { group: 'placement.kubernetes-fleet.io', kind: 'ClusterStagedUpdateRun', name: 'other' },
        count: 0,
        ...more,
      },
    ],
    stages('', ''),
  );
const START = 'kubectl patch clusterstagedupdateruns r';

describe('why a run does not move', () => {
  test.each<{
    it: string;
    run: RunParts;
    more?: readonly KubeObject[];
    code?: number;
    says: string;
    also?: readonly string[];
  }>([
    {
      it: 'that the hub has not seen',
      run: {},
      says: 'ClusterStagedUpdateRun "r" waits: the hub has not processed it yet',
      also: ['check that the hub controllers are running'],
    },
    {
      it: 'that waits for scheduling',
      run: {
        says: 'Initialized:Unknown:UpdateRunInitializationPending',
        message: 'the run waits',
        holds: [
          {
            code: 'SchedulingPending',
            on: { group: 'placement.kubernetes-fleet.io', kind: 'ClusterResourcePlacement', name: 'web' },
            facts: { message: 'the scheduler has not decided yet' },
            next: 'wait, or see what ClusterResourcePlacement "web" says',
            count: 0,
          },
        ],
      },
      says: 'ClusterStagedUpdateRun "r" cannot begin yet: ClusterResourcePlacement "web" is not scheduled: the scheduler has not decided yet',
      also: [
        'ClusterResourcePlacementRolloutStarted False (NotFine)',
        'wait, or see what ClusterResourcePlacement "web" says',
      ],
    },
    {
      it: 'that could not begin',
      run: {
        says: 'Initialized:False:UpdateRunInitializedFailed',
        message: 'failed to process the request due to a client error: ClusterStagedUpdateStrategy "s" does not exist',
      },
      says: 'ClusterStagedUpdateRun "r" could not begin: ClusterStagedUpdateStrategy "s" does not exist',
      also: ['fix this and create a new run'],
    },
    {
      it: 'that is prepared',
      run: {
        says: INITIALIZED,
        state: 'Initialize',
        stages: stages('', ''),
        holds: [onRun('RunNotStarted', { next: `${START} …` })],
      },
      says: 'ClusterStagedUpdateRun "r" is prepared and has not been started',
      also: [START, 'show what it would do: flotilla plan run r'],
    },
    {
      it: 'at a gate that a person opens',
      run: waits(
        [onRequest('r-after-one', 'one', 'after')],
        [
          aStage('one', WAITING, [inRun('a', DONE)], {
            afterStageTaskStatus: [approval('r-after-one', 'ApprovalRequestCreated')],
          }),
        ],
      ),
      more: [aRequest('r-after-one', 'one')],
      says: 'ClusterStagedUpdateRun "r" waits: ClusterApprovalRequest "r-after-one" is not approved yet',
      also: ['requested', 'approve it: flotilla approve r --stage one --after'],
    },
    {
      it: 'at a gate with an approval that does not count',
      run: waits(
        [onRequest('r-after-one', 'one', 'after', { hint: 'approve again with observedGeneration 1' })],
        [aStage('one', WAITING, [inRun('a', DONE)])],
      ),
      more: [
        aRequest('r-after-one', 'one', {
          status: {
            conditions: [...said('ApprovalAccepted:False:ApprovalRequestGenerationMismatch', 'approve again')],
          },
        }),
      ],
      says: 'ClusterStagedUpdateRun "r" waits: ClusterApprovalRequest "r-after-one" is not approved yet: approve again with observedGeneration 1',
      also: ['ApprovalAccepted False (ApprovalRequestGenerationMismatch)'],
    },
    {
      it: 'that lets time pass',
      run: waits([
        onRun('TimedWait', { facts: { stage: 'one', waitTime: '1h' }, until: '2026-01-01T12:30:00Z', next: 'wait' }),
        onRun('EarlierStage', { facts: { stage: 'one' }, count: 2, clusters: ['b', 'c'] }),
      ]),
      says: 'ClusterStagedUpdateRun "r" waits: stage "one" of ClusterStagedUpdateRun "r" waits 1h after its last cluster',
      also: ['TimedWait, ends by itself in 30m', '2 clusters wait: b, c'],
    },
    {
      it: 'behind another run',
      run: behindOther({ next: 'wait until it has ended, or delete it' }),
      more: [aRun({ name: 'other', says: `${INITIALIZED} Progressing:True:UpdateRunProgressing`, message: 'goes on' })],
      says: 'ClusterStagedUpdateRun "r" waits: ClusterStagedUpdateRun "other" is under way on the same placement with another strategy',
      also: ['follows strategy "s"', 'Progressing True (UpdateRunProgressing), for 5m: goes on'],
    },
    {
      it: 'behind another run that is stopped',
      run: behindOther({ facts: { state: 'Stop' }, next: 'let it continue (kubectl patch …), or delete it' }),
      more: [aRun({ name: 'other', says: `${INITIALIZED} Progressing:False:UpdateRunStopped`, message: 'stopped' })],
      says: 'ClusterStagedUpdateRun "r" waits: ClusterStagedUpdateRun "other" is stopped half-way on the same placement with another strategy',
      also: [
        'Progressing False (UpdateRunStopped), for 5m: stopped',
        'let it continue (kubectl patch …), or delete it',
      ],
    },
    {
      it: 'that is under way',
      run: going('Progressing:True:UpdateRunProgressing', 'under way: b'),
      says: [
        'Updating: MemberCluster "b": no Pod is ready',
        'ClusterStagedUpdateRun "r" is under way: MemberCluster "b" is not available yet (starting)',
      ].join('\n'),
      also: [
        'MemberCluster "b"',
        'ClusterResourceBinding "web-b-1"',
        'Work "fleet-member-b/web-work"',
        'manifest 0, Deployment "shop/web": Available False',
        'stage "two" updates at most 1 cluster at a time (maxConcurrency), and 1 cluster is being updated',
        'mend cluster "b"',
      ],
    },
    {
      it: 'whose cluster has reported since its status was written',
      run: going('Progressing:True:UpdateRunProgressing', 'under way: b', {
        holds: [onCluster('NotAvailable', 'b', { facts: { cause: 'unknown' }, next: 'mend cluster "b"' })],
      }),
      says: [
        'Updating: MemberCluster "b": Available is not reached',
        'ClusterStagedUpdateRun "r" is under way: MemberCluster "b" is not available yet (starting)',
      ].join('\n'),
      also: ['to roll back, create a new run with resourceSnapshotIndex: "0"'],
    },
    {
      it: 'that is stuck',
      run: going('Progressing:False:UpdateRunStuck', 'stage "two": cluster "b" not done after 5m0s: no Pod is ready'),
      says: [
        'Blocked: MemberCluster "b": no Pod is ready',
        'ClusterStagedUpdateRun "r" is stuck: stage "two": cluster "b" not done after 5m0s: no Pod is ready',
      ].join('\n'),
      also: [
        'Work "fleet-member-b/web-work"',
        'to roll out a fix, create a new run, because the content of a run is fixed; without resourceSnapshotIndex it takes the newest state',
        'to roll back, create a new run with resourceSnapshotIndex: "0"',
        `before that, stop this one: ${START} --type merge -p '{"spec":{"state":"Stop"}}'`,
      ],
    },
    {
      it: 'whose cluster nobody hears',
      run: going('Progressing:True:UpdateRunProgressing', 'under way: b', {
        holds: [onCluster('Unreachable', 'b', { next: 'reconnect cluster "b"' })],
      }),
      says: 'Blocked: ClusterStagedUpdateRun "r" waits: MemberCluster "b" is unreachable',
      also: ['reconnect cluster "b"'],
    },
    {
      it: 'that is stopping',
      run: going(
        'Progressing:Unknown:UpdateRunStopping',
        'stage "two" waits for the updates in progress: b (starting)',
        {
          state: 'Stop',
          holds: [
            onRun('RunStopped', { next: `${START} …` }),
            onCluster('NotAvailable', 'b', { next: 'mend cluster "b"' }),
          ],
        },
      ),
      says: 'ClusterStagedUpdateRun "r" is stopping: stage "two" waits for the updates in progress: b (starting)',
      also: ['Work "fleet-member-b/web-work"', 'mend cluster "b"', `resume it: ${START}`],
    },
    {
      it: 'that was stopped',
      run: going('Progressing:False:UpdateRunStopped', 'stage "two": no cluster is being updated', {
        state: 'Stop',
        holds: [onRun('RunStopped', { next: `${START} …` })],
      }),
      says: 'ClusterStagedUpdateRun "r" is stopped: stage "two": no cluster is being updated',
      also: [START],
    },
    {
      it: 'that has failed',
      run: {
        says: `${INITIALIZED} Progressing:False:UpdateRunFailed Succeeded:False:UpdateRunFailed`,
        message: 'failed to process the request due to a client error: somebody else has changed cluster "b"',
        stages: [
          aStage('one', ONE_DONE, [inRun('a', DONE)]),
          aStage('two', 'Succeeded:False:StageUpdatingFailed', [
            inRun('b', `${STARTED} Succeeded:False:ClusterUpdatingFailed`, 'an edit of its binding'),
          ]),
        ],
      },
      says: 'ClusterStagedUpdateRun "r" has failed: somebody else has changed cluster "b"',
      also: [
        'cluster "b" of stage "two": an edit of its binding',
        'ClusterResourceBinding "web-b-1"',
        'create a new run: clusters that have been updated (1 of 2) stay as they are',
        'to roll back, create a new run with resourceSnapshotIndex: "0"',
      ],
    },
    {
      it: 'that is done',
      code: 0,
      run: {
        says: `${INITIALIZED} Progressing:False:UpdateRunSucceeded Succeeded:True:UpdateRunSucceeded`,
        stages: [
          aStage('one', ONE_DONE, [
            inRun('a', DONE),
            inRun('b', SKIPPED, 'the run continues without the cluster: it left'),
          ]),
        ],
      },
      says: 'ClusterStagedUpdateRun "r" is complete: 1 of 2 clusters have revision 1, 1 was skipped',
      also: ['cluster "b": the run continues without the cluster: it left'],
    },
  ])('is told of one $it', async ({ run, more = [], code = 2, says, also = [] }) => {
    const found = await ask([...fleet, ...more, aRun(run)]);
    expect(found.text.split('\n\n')[0]).toBe(says);
    for (const each of also) expect(found.text).toContain(each);
    expect(found.code).toBe(code);
  });

  const stopped: RunParts = going('Progressing:False:UpdateRunStopped', 'stage "two": no cluster is being updated', {
    state: 'Stop',
    holds: [onRun('RunStopped', { next: `${START} …` })],
  });
  const goes = (name: string) =>
    aRun({ name, says: `${INITIALIZED} Progressing:True:UpdateRunProgressing`, message: 'goes on' });
  const overtaken = [
    ...fleet.filter(({ kind }) => kind !== 'ClusterResourceBinding'),
    placed('b', 'TTTTT', { index: 2 }),
  ];

  test.each<{
    it: string;
    run?: RunParts;
    objects: readonly KubeObject[];
    says: readonly string[];
    not: readonly string[];
  }>([
    {
      it: 'whose cluster carries something else by now',
      objects: overtaken,
      says: [
        'leave it stopped, or delete it (kubectl delete clusterstagedupdateruns r): set to Run it would end at once, because cluster "b" carries web-2-snapshot by now',
        'create a new run for what is left',
      ],
      not: ['"state":"Run"', 'let it go on'],
    },
    {
      it: 'whose cluster another run has taken',
      objects: [...overtaken, goes('other')],
      says: [
        'set to Run it would end at once, because cluster "b" carries web-2-snapshot by now',
        'see what ClusterStagedUpdateRun "other" does on the same placement: flotilla why run/other',
      ],
      not: ['let it go on', 'create a new run'],
    },
    {
      it: 'beside another run',
      objects: [...fleet, goes('other')],
      says: [
        'leave it stopped, or delete it (kubectl delete clusterstagedupdateruns r): it and ClusterStagedUpdateRun "other" would take clusters from each other',
        'flotilla why run/other',
      ],
      not: ['let it go on'],
    },
    {
      it: 'that has failed beside another run',
      run: {
        says: `${INITIALIZED} Progressing:False:UpdateRunFailed Succeeded:False:UpdateRunFailed`,
        message: 'somebody else has changed cluster "b"',
        stages: stages(ONE_DONE, UPDATING),
      },
      objects: [...overtaken, goes('other')],
      says: ['flotilla why run/other'],
      not: ['create a new run'],
    },
    {
      it: 'beside one that waits for it',
      objects: [
        ...fleet,
        aRun({
          name: 'other',
          says: `${INITIALIZED} Progressing:False:UpdateRunWaiting`,
          holds: [onRun('OtherRun', { facts: { state: 'Stop' } })],
        }),
      ],
      says: [`resume it: ${START}`],
      not: ['run/other'],
    },
    {
      it: 'beside one that is over, one that is only prepared and one of another placement',
      objects: [
        ...fleet,
        aRun({ name: 'over', says: `${INITIALIZED} Succeeded:True:UpdateRunSucceeded` }),
        aRun({ name: 'prepared', says: INITIALIZED, state: 'Initialize' }),
        { ...goes('elsewhere'), spec: { ...goes('elsewhere').spec, placementName: 'api' } } as KubeObject,
      ],
      says: [`resume it: ${START}`],
      not: ['flotilla why run/'],
    },
  ])('is not advised to go on where that is no way out: one $it', async ({ run = stopped, objects, says, not }) => {
    const { text } = await ask([...objects, aRun(run)]);
    for (const each of says) expect(text).toContain(each);
    for (const each of not) expect(text).not.toContain(each);
  });

  const failedRun: RunParts = {
    says: `${INITIALIZED} Progressing:False:UpdateRunFailed Succeeded:False:UpdateRunFailed`,
    message: 'failed to process the request due to a client error: ClusterResourcePlacement "web" is being deleted',
    stages: stages(ONE_DONE, UPDATING),
  };
  test.each([
    {
      it: 'being deleted',
      isHeld: true,
      run: failedRun,
      says: 'ClusterStagedUpdateRun "r" has failed: ClusterResourcePlacement "web" is being deleted',
      also: [
        'ClusterResourcePlacement "web" is being deleted: its resources are being removed from all clusters, also from those that the run has updated',
        'show the progress of the removal: flotilla why placement/web',
      ],
    },
    {
      it: 'being deleted, before the hub has seen that',
      isHeld: true,
      run: going('Progressing:True:UpdateRunProgressing', 'goes on'),
      says: 'ClusterStagedUpdateRun "r" ends: ClusterResourcePlacement "web" is being deleted',
      also: ['flotilla why placement/web'],
    },
    {
      it: 'gone',
      isHeld: false,
      run: failedRun,
      says: 'ClusterStagedUpdateRun "r" has failed: ClusterResourcePlacement "web" is being deleted',
      also: ['ClusterResourcePlacement "web" does not exist any more: its resources were removed from all clusters'],
    },
  ])('says so of one whose placement is $it, and advises no new run', async ({ run, isHeld, says, also }) => {
    const finalizers = isHeld ? ['example.com/held'] : [];
    const objects = fleet.map((each) =>
      each.kind === 'ClusterResourcePlacement' ? { ...each, metadata: { ...each.metadata, finalizers } } : each,
    );
    const { server, subject } = await serving([...objects, aRun(run)]);
    const { cluster: hub } = subject;
    await hub.call({ verb: 'delete', at: hub.at('clusterresourceplacements', undefined, 'web') });
    const { print, text } = printing();
    expect(await whyRun(await server(), whichRun('run/r', undefined), { clock: still }, print)).toBe(2);
    expect(text().split('\n')[0]).toBe(says);
    for (const each of [...also, 'kubectl delete clusterstagedupdateruns r']) expect(text()).toContain(each);
    for (const not of ['create a new run', 'stay as they are']) expect(text()).not.toContain(not);
  });

  test('in a namespace is told of the one there, with its own commands', async () => {
    const on = {
      group: 'placement.kubernetes-fleet.io',
      kind: 'ApprovalRequest',
      namespace: 'team',
      name: 'r-after-one',
    };
    const { text } = await ask(
      [
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } },
        aRun({
          namespace: 'team',
          says: `${INITIALIZED} Progressing:False:UpdateRunWaiting`,
          stages: [aStage('one', WAITING, [inRun('a', DONE)])],
          holds: [{ ...onRequest('r-after-one', 'one', 'after'), on }],
        }),
        aRequest('r-after-one', 'one', { namespace: 'team' }),
      ],
      { namespace: 'team' },
    );
    expect(text).toContain('StagedUpdateRun "team/r" waits: ApprovalRequest "team/r-after-one" is not approved yet');
    expect(text).toContain('ApprovalRequest "r-after-one"\n       requested');
    expect(text).toContain('approve it: flotilla approve r -n team --stage one --after');
  });

  test('without holds is told from conditions and Events', async () => {
    const { text, code } = await ask([
      ...fleet,
      aRun({ ...going('Progressing:True:UpdateRunProgressing', 'stage "two": under way: b'), holds: [] }),
    ]);
    expect(code).toBe(2);
    expect(text.split('\n')[0]).toBe('ClusterStagedUpdateRun "r" is under way: stage "two": under way: b');
    expect(text).toContain('Work "fleet-member-b/web-work"');
    expect(text).toContain('status.holds is empty: the answer comes from conditions and Events');
  });

  test('is told of what may not be read', async () => {
    const dev: User = { name: 'dev', groups: ['system:authenticated'] };
    const grant: readonly KubeObject[] = [
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'runs' },
        rules: [
          { apiGroups: ['placement.kubernetes-fleet.io'], resources: ['clusterstagedupdateruns'], verbs: ['get'] },
        ],
      },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'runs' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'runs' },
        subjects: [{ kind: 'User', name: 'dev', apiGroup: 'rbac.authorization.k8s.io' }],
      },
    ];
    const run = aRun(going('Progressing:False:UpdateRunStuck', 'cluster "b" hangs'));
    const { text, code } = await ask([...fleet, ...grant, run], { as: dev });
    expect(code).toBe(2);
    expect(text).toMatch(
      /^Blocked: MemberCluster "b": no Pod is ready\nClusterStagedUpdateRun "r" is stuck: cluster "b" hangs\n/,
    );
    expect(text).toContain('the ClusterResourceBindings could not be read');
  });

  test('for programs is one document', async () => {
    const { text } = await ask([...fleet, aRun(going('Progressing:True:UpdateRunProgressing', 'x'))], {
      output: 'json',
    });
    expect(JSON.parse(text)).toMatchObject({
      about: 'ClusterStagedUpdateRun "r"',
      isWaiting: true,
      causes: [{ code: 'NotAvailable' }, { code: 'ConcurrencyUsed', waiting: { count: 1, clusters: ['c'] } }],
    });
  });
});

describe('why a cluster of a run does not move', () => {
  const run = aRun({
    ...going('Progressing:True:UpdateRunProgressing', 'under way: b'),
    stages: [...stages(ONE_DONE, UPDATING), aStage('three', '', [inRun('d')])],
  });
  test.each([
    { cluster: 'a', code: 0, says: 'cluster "a" of stage "one" is done: revision 1 is available' },
    { cluster: 'b', code: 2, says: 'cluster "b" of stage "two" waits: MemberCluster "b" is not available yet' },
    {
      cluster: 'c',
      code: 2,
      says: 'cluster "c" of stage "two" waits: stage "two" updates at most 1 cluster at a time (maxConcurrency), and 1 cluster is being updated',
    },
    // No hold names it: it waits for the same as the run.
    { cluster: 'd', code: 2, says: 'cluster "d" of stage "three" waits: MemberCluster "b" is not available yet' },
  ])('is told of $cluster', async ({ cluster, code, says }) => {
    const found = await ask([...fleet, run], { cluster });
    expect(found.text.split('\n\n')[0]).toContain(says);
    expect(found.code).toBe(code);
  });

  test('is refused of one that is in no stage, with those that are', async () => {
    await expect(ask([...fleet, run], { cluster: 'x' })).rejects.toThrow(
      'cluster "x" is in no stage of ClusterStagedUpdateRun "r" (known: a, b, c, d)',
    );
    await expect(ask([...fleet, run], { cluster: '../x' })).rejects.toThrow('cannot be the name of a cluster');
  });
});
