// `flotilla plan run` against the real API server over https. No hub runs, and nothing is written.
import { describe, expect, test } from 'vitest';
import { admin } from '../../../test/cluster.ts';
import type { KubeObject, User } from '../../api/object.ts';
import type { StagedUpdateRun } from '../../api/staged-update-run.ts';
import { still } from '../../insight/placement.testing.ts';
import {
  aBinding,
  aMember,
  anExternal,
  aPolicy,
  aRun,
  aSnapshot,
  aStrategy,
  INITIALIZED,
  said,
} from '../../insight/staged-run.testing.ts';
import { whichRun } from '../../insight/which-run.ts';
import type { Manifest } from '../objects/manifests.ts';
import { overheard, printing, serving } from '../served.testing.ts';
import { type PlanRunOptions, plannedByManifests, plannedByName, planRun } from './plan-run.ts';

/** As the server completes it. */
const namespace: KubeObject = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'shop', labels: { 'kubernetes.io/metadata.name': 'shop' } },
  spec: { finalizers: ['kubernetes'] },
};
/** As it is written in a file. */
const strategyFile = (...stages: readonly object[]): KubeObject => ({ ...aStrategy(stages), metadata: { name: 's' } });
const map = (name: string, value: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'shop' },
  data: { value },
});
const STAGES = [
  {
    name: 'first',
    labelSelector: { matchLabels: { stage: 'first' } },
    afterStageTasks: [{ type: 'Approval' }, { type: 'TimedWait', waitTime: '1h' }],
  },
  { name: 'rest', labelSelector: { matchLabels: { stage: 'rest' } }, maxConcurrency: '100%' },
];

/** Clusters a, b and c are on revision 0, which had another `app` and `old`; `app` and `new` are on the hub now. */
const fleet = (stages: readonly object[] = STAGES): readonly KubeObject[] => [
  namespace,
  map('app', '2'),
  map('new', '1'),
  ...['a', 'b', 'c'].map((name) => aMember(name, { stage: name === 'a' ? 'first' : 'rest' })),
  anExternal(),
  aPolicy(['a', 'b', 'c']),
  aSnapshot(0, [namespace, map('app', '1'), map('old', '1')]),
  ...['a', 'b', 'c'].map((name) => aBinding(name, 0)),
  ...(stages.length === 0 ? [] : [aStrategy(stages)]),
];

const newRun = (spec: object = {}, name = 'r'): KubeObject => ({
  apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
  kind: 'ClusterStagedUpdateRun',
  metadata: { name },
  spec: { placementName: 'web', stagedRolloutStrategyName: 's', ...spec },
});

async function planning(
  objects: readonly KubeObject[],
  { as = admin, ...more }: { readonly as?: User } & Partial<PlanRunOptions> = {},
) {
  const { subject, server } = await serving(objects);
  const { print, out, errors } = printing();
  const writes: string[] = [];
  const watched = overheard(await server(as), (request) => {
    const isWrite = request.verb !== 'get' && request.verb !== 'list';
    if (isWrite && !('dryRun' in request && request.dryRun)) writes.push(request.verb);
  });
  const head = subject.cluster.store.head;
  const options = (output?: string) => ({
    clock: still,
    full: false,
    ...(output === undefined ? {} : { output }),
    ...more,
  });
  const nothingIsWritten = () => {
    expect(writes).toEqual([]);
    expect(subject.cluster.store.head).toBe(head);
  };
  return {
    out,
    errors,
    nothingIsWritten,
    async byFile(given: readonly KubeObject[], output?: string, inNamespace?: string) {
      const manifests = given.map((object, at): Manifest => ({ object, source: `document ${at}` }));
      const planned = await plannedByManifests(watched, manifests, {
        warn: print.warning,
        ...(inNamespace === undefined ? {} : { namespace: inNamespace }),
      });
      return planRun(watched, planned, options(output), print);
    },
    byName: async (name = 'r', output?: string) =>
      planRun(watched, await plannedByName(watched, whichRun(name)), options(output), print),
  };
}

describe('the plan of a run', () => {
  test('that is not there yet says what it would do, and writes nothing', async () => {
    const it = await planning(fleet());
    expect(await it.byFile([newRun()])).toBe(0);
    expect(it.errors).toEqual([]);
    expect(it.out.join('\n')).toBe(
      `
ClusterStagedUpdateRun "r" would bring revision 1 of placement "web" (3 objects) to 3 clusters: 2 stages, 2 waves, 1 approval; complete after 1h0m0s
Revision 1 is made when it begins, from what is selected now.

STAGE   CLUSTERS   AT ONCE   WAVES
first   1          1         1
rest    2          2         1

Order:
  1.   +0s       first, wave 1 of 1: a
  2.   +0s       after first: approval of r-after-first: flotilla approve r --stage first --after
  3.   +0s       after first: 1h after its last cluster
  4.   +1h0m0s   rest, wave 1 of 1: b, c

CLUSTER   STAGE   WAVE   HAS              ADDED   CHANGED   REMOVED   UNCHANGED
a         first   1      web-0-snapshot   1       1         1         1
b         rest    1      web-0-snapshot   1       1         1         1
c         rest    1      web-0-snapshot   1       1         1         1

Approvers: no one has the role flotilla-cluster-approver yet, only administrators

Assumed: a cluster is available after 0s (the median of this placement), approvals are given at once, and the fleet does not change. Nothing was written.`.slice(
        1,
      ),
    );
    it.nothingIsWritten();
  });

  test('takes the time of its clusters, as given or as the last time, and shows each field', async () => {
    const given = await planning(fleet(), { durationMs: 300_000, full: true });
    expect(await given.byFile([newRun()])).toBe(0);
    const text = given.out.join('\n');
    expect(text).toContain('2 stages, 2 waves, 1 approval; complete after 1h10m0s');
    expect(text).toMatch(/\+1h5m0s +rest, wave 1 of 1: b, c/);
    expect(text).toContain('Assumed: a cluster is available after 5m0s (given)');
    expect(text).toContain(`
Change:
  3 clusters with web-0-snapshot: 1 added, 1 changed, 1 removed, 1 unchanged
    ConfigMap "shop/app" changed
      data.value: "1" -> "2"
    ConfigMap "shop/new" added
    ConfigMap "shop/old" removed
`);

    const slow = fleet().map((each) =>
      each.kind === 'ClusterResourceBinding'
        ? {
            ...each,
            status: {
              conditions: said('Applied Available').map((condition) =>
                condition.type === 'Applied' ? { ...condition, lastTransitionTime: '2025-12-31T00:00:00Z' } : condition,
              ),
            },
          }
        : each,
    );
    const known = await planning(slow);
    const before = Date.parse(said('Available')[0]?.lastTransitionTime ?? '') - Date.parse('2025-12-31T00:00:00Z');
    expect(await known.byFile([newRun()], 'json')).toBe(0);
    expect(JSON.parse(known.out.join('\n'))).toMatchObject({
      durationFrom: 'history',
      durationMs: before,
      changes: [{ has: 'web-0-snapshot', clusters: 3 }],
    });
    expect(known.out.join('\n')).not.toContain('diff');
  });

  test('takes the strategy from the file where it has one, and all else from the hub', async () => {
    const it = await planning(fleet([]));
    const all = [{ name: 'all', labelSelector: {}, maxConcurrency: 2 }];
    expect(
      await it.byFile([newRun({ resourceSnapshotIndex: '0' }), strategyFile(...all), map('app', '3')], 'json'),
    ).toBe(0);
    expect(it.errors).toEqual([
      'only the run and its strategy are taken from -f, everything else from the hub; left out: ConfigMap "app"',
    ]);
    expect(JSON.parse(it.out.join('\n'))).toMatchObject({
      name: 'r',
      revision: '0',
      isNewRevision: false,
      end: 'succeeds',
      stages: [{ stage: 'all', clusters: 3, atOnce: 2, waves: 0 }],
      clusters: ['a', 'b', 'c'].map((cluster) => ({
        cluster,
        why: 'up to date',
        counts: { added: 0, changed: 0, removed: 0, unchanged: 3 },
      })),
    });
    it.nothingIsWritten();
  });

  test('that is prepared says how it is started', async () => {
    const it = await planning([...fleet(), newRun({ resourceSnapshotIndex: '0' })]);
    expect(await it.byName()).toBe(0);
    expect(it.out.join('\n')).toContain(
      `Start it: kubectl patch clusterstagedupdateruns r --type merge -p '{"spec":{"state":"Run"}}'`,
    );
    it.nothingIsWritten();
  });

  test('names who may approve', async () => {
    const binding: KubeObject = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'approvers' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'flotilla-cluster-approver' },
      subjects: [{ kind: 'Group', name: 'leads', apiGroup: 'rbac.authorization.k8s.io' }],
    };
    const it = await planning([...fleet(), binding]);
    await it.byFile([newRun()]);
    expect(it.out.join('\n')).toContain(
      'Approvers: Group "leads" (role flotilla-cluster-approver), and administrators',
    );
  });

  test.each<{ it: string; objects?: readonly KubeObject[]; run?: KubeObject; code: number; says: string }>([
    {
      it: 'no strategy',
      objects: fleet([]),
      code: 2,
      says: 'the run waits: ClusterStagedUpdateStrategy "s" does not exist',
    },
    {
      it: 'no placement',
      run: newRun({ placementName: 'nope' }),
      code: 2,
      says: 'the run waits: ClusterResourcePlacement "nope" does not exist',
    },
    {
      it: 'a placement that is not External',
      objects: fleet().map((each) =>
        each.kind === 'ClusterResourcePlacement' ? anExternal({ strategy: { type: 'RollingUpdate' } }) : each,
      ),
      code: 3,
      says: 'the run could not begin: ClusterResourcePlacement "web" has strategy type RollingUpdate: runs work on placements with type External',
    },
    {
      it: 'a cluster in no stage',
      objects: fleet([STAGES[0] as object]),
      code: 3,
      says: 'the run could not begin: 2 picked clusters belong to no stage: "b", "c": change their labels or the selectors',
    },
    {
      it: 'a placement that is not scheduled',
      objects: fleet().filter(({ kind }) => kind !== 'ClusterSchedulingPolicySnapshot'),
      code: 2,
      says: 'the run waits: ClusterResourcePlacement "web" is not scheduled: it has no policy snapshot yet',
    },
  ])('of $it has the words of the hub', async ({ objects = fleet(), run = newRun(), code, says }) => {
    const it = await planning(objects);
    expect(await it.byFile([run])).toBe(code);
    expect(it.errors).toEqual([says]);
    expect(it.out).toEqual([]);
    it.nothingIsWritten();
  });

  test.each<{ it: string; given: readonly KubeObject[]; namespace?: string; says: string }>([
    { it: 'nothing', given: [], says: 'exactly one ClusterStagedUpdateRun or StagedUpdateRun: none is there' },
    { it: 'two runs', given: [newRun(), newRun({}, 'q')], says: '2 are there' },
    {
      it: 'a run without a placement',
      given: [{ ...newRun(), spec: { stagedRolloutStrategyName: 's' } }],
      says: 'spec.placementName: Required value',
    },
    {
      it: 'stages of one name',
      given: [newRun(), strategyFile(STAGES[0] as object, STAGES[0] as object)],
      says: 'stage names must be unique',
    },
    {
      it: 'a share of nothing',
      given: [newRun(), strategyFile({ ...STAGES[0], maxConcurrency: '0%' })],
      says: 'maxConcurrency',
    },
    { it: 'a cluster run with -n', given: [newRun()], namespace: 'team', says: 'is in no namespace: omit -n' },
  ])('is refused for $it, as the server would', async ({ given, namespace, says }) => {
    const it = await planning(fleet());
    await expect(it.byFile(given, undefined, namespace)).rejects.toThrow(says);
    it.nothingIsWritten();
  });

  test('is refused for one that is over, or that is not there', async () => {
    const over = aRun({
      name: 'done',
      says: `${INITIALIZED} Succeeded:True:UpdateRunSucceeded`,
      message: 'all is done',
    });
    const failed = aRun({
      name: 'failed',
      says: `${INITIALIZED} Succeeded:False:UpdateRunFailed`,
      message: 'failed to process the request due to a client error: it was not to be',
    });
    const it = await planning([...fleet(), over, failed]);
    await expect(it.byName('done')).rejects.toThrow(
      'ClusterStagedUpdateRun "done" has ended; there is nothing left to plan: all is done',
    );
    await expect(it.byName('failed')).rejects.toThrow(
      'ClusterStagedUpdateRun "failed" has ended; there is nothing left to plan: it was not to be',
    );
    await expect(it.byFile([newRun({}, 'done')])).rejects.toThrow('has ended; there is nothing left to plan');
    await expect(it.byName('nope')).rejects.toThrow('ClusterStagedUpdateRun "nope" not found (known: done, failed)');
  });

  test('is made for who may only read, and says what was not checked', async () => {
    const reader: KubeObject = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'reader' },
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list'] }],
    };
    const grant: KubeObject = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'reader' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
      subjects: [{ kind: 'User', name: 'dev', apiGroup: 'rbac.authorization.k8s.io' }],
    };
    const it = await planning([...fleet(), reader, grant], {
      as: { name: 'dev', groups: ['system:authenticated'] },
    });
    expect(await it.byFile([newRun({ state: 'Initialize' })])).toBe(0);
    expect(it.out.join('\n')).toContain('the server did not check ClusterStagedUpdateRun "r"');
    it.nothingIsWritten();
  });

  test('of one that was begun is about what is left', async () => {
    const begun = {
      ...aRun({ state: 'Stop' }),
      status: { conditions: said(`${INITIALIZED} Progressing:False:UpdateRunStopped`) },
    } as StagedUpdateRun;
    const { server } = await serving([...fleet(), begun]);
    const planned = await plannedByName(await server(), whichRun('r'));
    expect(planned.notes).toEqual(['it has been started: this is what is left']);
  });
});
