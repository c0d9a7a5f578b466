// `flotilla why` and `flotilla status` of a placement with strategy External, against the real API server over https.
// No hub runs.
import { describe, expect, test } from 'vitest';
import type { KubeObject, User } from '../../api/object.ts';
import type { Placement } from '../../api/placement.ts';
import { wallClock } from '../../base/clock.ts';
import {
  aPlacement,
  cluster,
  conditions,
  failed,
  type PlacementParts,
  aBinding as placed,
  still,
} from '../../insight/placement.testing.ts';
import {
  aMember,
  approval,
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
  STARTED,
} from '../../insight/staged-run.testing.ts';
import { whichPlacement } from '../../insight/which-placement.ts';
import { printing, serving } from '../served.testing.ts';
import { status } from '../status/status.ts';
import { why } from './why.ts';

interface Asked {
  readonly as?: User;
  readonly namespace?: string;
  readonly cluster?: string;
}

async function ask(objects: readonly KubeObject[], { as, namespace, ...options }: Asked = {}) {
  const { server } = await serving(objects);
  const { print, text } = printing();
  const code = await why(
    await server(as),
    whichPlacement('placement/web', namespace),
    { ...options, clock: still },
    print,
  );
  return { code, text: text(), first: text().split('\n\n')[0] };
}

const external = (parts: PlacementParts): Placement =>
  aPlacement({ ...parts, spec: { strategy: { type: 'External' }, ...parts.spec } as PlacementParts['spec'] & object });
/** Cluster a has revision 1, b has none. */
const halfway = external({
  said: 'TU',
  clusters: [cluster('a', 'TTTTTT'), { clusterName: 'b', conditions: [...conditions('TU')] }],
});
const bad = cluster('b', 'TTTTTF', { failedPlacements: [failed('no Pod is ready')] });
const WAITING = `${INITIALIZED} Progressing:False:UpdateRunWaiting`;
const atGate: RunParts = {
  says: WAITING,
  message: 'stage "two" waits for approval',
  stages: [
    aStage('one', 'Succeeded:True:StageUpdatingSucceeded', [inRun('a', DONE)]),
    aStage('two', 'Progressing:False:StageUpdatingWaiting', [inRun('b')], {
      beforeStageTaskStatus: [approval('r-before-two', 'ApprovalRequestCreated')],
    }),
  ],
  holds: [onRequest('r-before-two', 'two', 'before')],
};
const stuck: RunParts = {
  says: `${INITIALIZED} Progressing:False:UpdateRunStuck`,
  message: 'stage "two": cluster "b" not done after 5m0s',
  stages: [aStage('two', 'Progressing:True:StageUpdatingStarted', [inRun('b', STARTED)])],
  holds: [onCluster('NotAvailable', 'b', { facts: { cause: 'failed', message: 'no Pod is ready' } })],
};
const stopped: RunParts = {
  name: 'old',
  state: 'Stop',
  says: `${INITIALIZED} Progressing:False:UpdateRunStopped`,
  message: 'stage "one": no cluster is being updated',
  stages: [aStage('one', 'Progressing:False:StageUpdatingStopped', [inRun('a')])],
  holds: [onRun('RunStopped')],
};
const over: RunParts = { says: `${INITIALIZED} Succeeded:True:UpdateRunSucceeded`, message: 'all stages are done' };
const snapshots = [aSnapshot(0, [], false), aSnapshot(1)];
const MAKE_ONE =
  'create a ClusterStagedUpdateRun with placementName: web, stagedRolloutStrategyName: s, state: Run; without resourceSnapshotIndex it takes the newest state';
const NOT_BY_ITSELF = 'only a run updates a placement with strategy External';

describe('why a placement that waits for runs does not move', () => {
  test.each<{
    it: string;
    objects: readonly KubeObject[];
    says: string;
    also: readonly string[];
    not?: readonly string[];
    code?: number;
  }>([
    {
      it: 'with a run at a gate',
      objects: [halfway, ...snapshots, aRun(atGate)],
      says: 'ClusterResourcePlacement "web" is not complete: ClusterStagedUpdateRun "r" waits: ClusterApprovalRequest "r-before-two" is not approved yet',
      also: [
        'approve it: flotilla approve r --stage two --before',
        'more about ClusterStagedUpdateRun "r": flotilla why run/r',
        'the newest revision is 1\n     Clusters\n       1 carries nothing yet: b\n       1 carries revision 1: a',
      ],
      not: ["the hub's controllers", 'is Waiting'],
    },
    {
      it: 'with a run that is stuck and an older one that is stopped',
      objects: [halfway, ...snapshots, aMember('b'), placed('b', 'TTTTF'), aRun(stopped), aRun(stuck)],
      says: [
        'Blocked: MemberCluster "b": no Pod is ready',
        'ClusterResourcePlacement "web" is not complete: ClusterStagedUpdateRun "r" is stuck: stage "two": cluster "b" not done after 5m0s',
      ].join('\n'),
      also: [
        'ClusterResourceBinding "web-b-1"',
        'ClusterStagedUpdateRun "old" is stopped',
        'to roll out a fix, create a new run',
        'flotilla why run/r',
        'flotilla why run/old',
      ],
      not: ['goes there first'],
    },
    {
      it: 'with nothing but a run that is stopped',
      objects: [halfway, aRun(stopped)],
      says: 'ClusterResourcePlacement "web" is not complete: ClusterStagedUpdateRun "old" is stopped: stage "one": no cluster is being updated',
      also: ['flotilla why run/old'],
    },
    {
      it: 'without a run',
      objects: [halfway, ...snapshots],
      says: `ClusterResourcePlacement "web" is not complete: no run of it is under way, and ${NOT_BY_ITSELF}`,
      also: [
        'the newest revision is 1',
        'stagedRolloutStrategyName: NAME of a ClusterStagedUpdateStrategy',
        'flotilla plan run -f FILE',
      ],
      not: ["the hub's controllers"],
    },
    {
      it: 'that was never rolled out',
      objects: [external({ said: 'TU', clusters: [{ clusterName: 'b', conditions: [...conditions('TU')] }] })],
      says: `ClusterResourcePlacement "web" is not complete: no run of it is under way, and ${NOT_BY_ITSELF}`,
      also: ['there is no revision yet', '1 carries nothing yet: b'],
    },
    {
      it: 'whose last run has failed',
      objects: [
        halfway,
        ...snapshots,
        aRun({
          says: `${INITIALIZED} Succeeded:False:UpdateRunFailed`,
          message: 'failed to process the request due to a client error: it was not to be',
        }),
      ],
      says: `ClusterResourcePlacement "web" is not complete: no run of it is under way, and ${NOT_BY_ITSELF}`,
      also: ['ClusterStagedUpdateRun "r" has failed: it was not to be', MAKE_ONE],
      not: ['client error'],
    },
    {
      it: 'that is everywhere and does not work somewhere',
      objects: [external({ said: 'TTTTTF', clusters: [cluster('a', 'TTTTTT'), bad] }), ...snapshots, aRun(over)],
      says: 'ClusterResourcePlacement "web" is not complete: cluster "b" is NotAvailable: Deployment "shop/web": no Pod is ready',
      also: ['fix the failure on cluster "b"; a fix of the placed objects needs a new run', MAKE_ONE],
      not: ['goes there first'],
    },
    {
      it: 'that is complete',
      objects: [external({ clusters: [cluster('a', 'TTTTTT')] }), aRun(over)],
      says: 'ClusterResourcePlacement "web" is complete: available on its cluster (revision 1)',
      also: [`a change of the placed objects waits for a run, because ${NOT_BY_ITSELF}`, MAKE_ONE],
      not: ['the newest revision'],
      code: 0,
    },
    {
      it: 'that is complete with a revision that is not the newest',
      objects: [external({ clusters: [cluster('a', 'TTTTTT')] }), ...snapshots, aSnapshot(2), aRun(over)],
      says: 'ClusterResourcePlacement "web" is complete: available on its cluster (revision 1)',
      also: ['the hub is ahead of all clusters: the newest revision is 2, and they have 1'],
      code: 0,
    },
    {
      it: 'that is complete while a run is under way',
      objects: [external({ clusters: [cluster('a', 'TTTTTT')] }), aRun(atGate)],
      says: 'ClusterResourcePlacement "web" is complete: available on its cluster (revision 1)',
      also: [
        'ClusterStagedUpdateRun "r" waits: ClusterApprovalRequest "r-before-two" is not approved yet (flotilla why run/r)',
      ],
      code: 0,
    },
  ])('is told of one $it', async ({ objects, says, also, not = [], code = 2 }) => {
    const found = await ask(objects);
    expect(found.first).toBe(says);
    for (const each of also) expect(found.text).toContain(each);
    for (const each of not) expect(found.text).not.toContain(each);
    expect(found.code).toBe(code);
  });

  test('in a namespace is told with the commands of that namespace', async () => {
    const on = {
      group: 'placement.kubernetes-fleet.io',
      kind: 'ApprovalRequest',
      namespace: 'team',
      name: 'r-before-two',
    };
    const { first, text } = await ask(
      [
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } },
        external({
          said: 'TU',
          metadata: { name: 'web', namespace: 'team', generation: 1 },
          clusters: [{ clusterName: 'b', conditions: [...conditions('TU')] }],
        }),
        aRun({ ...atGate, namespace: 'team', holds: [{ ...onRequest('r-before-two', 'two', 'before'), on }] }),
      ],
      { namespace: 'team' },
    );
    expect(first).toContain('ResourcePlacement "team/web" is not complete: StagedUpdateRun "team/r" waits');
    expect(text).toContain('flotilla why run/r -n team');
  });

  test('is told of who may not see runs', async () => {
    const rbac = 'rbac.authorization.k8s.io';
    const { first, text } = await ask(
      [
        halfway,
        aRun(atGate),
        {
          apiVersion: `${rbac}/v1`,
          kind: 'ClusterRole',
          metadata: { name: 'placements' },
          rules: [
            { apiGroups: ['placement.kubernetes-fleet.io'], resources: ['clusterresourceplacements'], verbs: ['get'] },
          ],
        },
        {
          apiVersion: `${rbac}/v1`,
          kind: 'ClusterRoleBinding',
          metadata: { name: 'placements' },
          roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'placements' },
          subjects: [{ kind: 'User', name: 'dev', apiGroup: rbac }],
        },
      ],
      { as: { name: 'dev', groups: ['system:authenticated'] } },
    );
    expect(first).toBe(
      `ClusterResourcePlacement "web" is not complete: ${NOT_BY_ITSELF}, and its runs could not be read`,
    );
    expect(text).toContain('ask a user who may list clusterstagedupdateruns');
    expect(text).toContain('the ClusterStagedUpdateRuns could not be read');
    expect(text).not.toContain("the hub's controllers");
  });

  test.each([
    {
      it: 'that a run has not come to',
      objects: [halfway, aRun(atGate)],
      says: 'cluster "b" of stage "two" waits: ClusterApprovalRequest "r-before-two" is not approved yet',
      also: 'flotilla why run/r',
    },
    {
      it: 'that no run is about',
      objects: [halfway, aRun(over)],
      says: `cluster "b" waits: no run of it is under way, and ${NOT_BY_ITSELF}`,
      also: MAKE_ONE,
    },
    {
      it: 'on which it does not work',
      objects: [external({ said: 'TTTTTF', clusters: [bad] }), aRun(over)],
      says: 'cluster "b" is NotAvailable: Deployment "shop/web": no Pod is ready',
      also: 'a fix of the placed objects needs a new run',
    },
  ])('is told of a cluster $it', async ({ objects, says, also }) => {
    const { first, text, code } = await ask(objects, { cluster: 'b' });
    expect(first).toBe(says);
    expect(text).toContain(also);
    expect(text).not.toContain("the hub's controllers");
    expect(code).toBe(2);
  });
});

describe('status of a placement that waits for runs', () => {
  async function shown(
    objects: readonly KubeObject[],
    options: { readonly watch?: boolean; readonly output?: string } = {},
  ) {
    const { server, write } = await serving(objects);
    const { print, ...printed } = printing();
    const stop = new AbortController();
    const showing = status(
      await server(),
      whichPlacement('placement/web'),
      { clock: wallClock, signal: stop.signal, ...options },
      print,
    );
    return { ...printed, write, stop, showing };
  }

  test('points to the run, and says what that waits for', async () => {
    const { showing, text } = await shown([halfway, aRun(atGate), aRun(stopped)]);
    expect(await showing).toBe(2);
    expect(text()).toContain('\nWaits: ClusterStagedUpdateRun "r": stage "two" waits for approval\n');
    expect(text()).toContain('\nWhy: flotilla why placement/web\nRun: flotilla run r');
  });

  test('for programs names it, too', async () => {
    const { showing, text } = await shown([halfway, aRun(atGate)], { output: 'json' });
    await showing;
    expect(JSON.parse(text())).toMatchObject({ run: 'flotilla run r' });
  });

  test('without a run has the words of the placement', async () => {
    const { showing, text } = await shown([halfway, aRun(over)]);
    await showing;
    expect(text()).toContain('RolloutStarted is Unknown (NotFine): RolloutStarted is not reached');
    expect(text()).not.toContain('Run:');
  });

  test('watched tells of a run that comes later', async () => {
    const { showing, told, out, write, stop } = await shown([halfway], { watch: true });
    await told();
    await write(aRun(atGate));
    while (!out.includes('Run: flotilla run r')) await told();
    stop.abort();
    expect(await showing).toBe(130);
  });
});
