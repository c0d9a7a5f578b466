// Both forms of `approve` against the real API server over https. No hub runs: the test writes what a hub would.
import { afterEach, describe, expect, test } from 'vitest';
import { testClock, theHub } from '../../../test/cluster.ts';
import { http1, type Subject } from '../../../test/conformance/subjects.ts';
import type { ApprovalRequest } from '../../api/approval-request.ts';
import type { Condition } from '../../api/conditions.ts';
import { hubKinds } from '../../api/kinds.ts';
import type { User } from '../../api/object.ts';
import type { Answer, Request } from '../../api/transport.ts';
import { ApiError } from '../../base/errors.ts';
import { discover } from '../../client/discovery.ts';
import type { HttpTransport } from '../../client/http.ts';
import { clusterFamily, families, namespacedFamily } from '../../hub/families.ts';
import { type ApproveRun, approveRequest, approveRun, requestNamed } from './approve.ts';

const NOW = '2026-01-01T00:00:00Z';
const ann: User = { name: 'ann', groups: ['system:masters', 'system:authenticated'] };
let running: Subject | undefined;
afterEach(async () => {
  await running?.[Symbol.asyncDispose]();
  running = undefined;
});

const condition = (type: string, status: string, observedGeneration = 1): Condition =>
  ({ type, status, reason: 'R', message: '', lastTransitionTime: NOW, observedGeneration }) as Condition;
const gate = (approvalRequestName: string) => ({ type: 'Approval', approvalRequestName, conditions: [] });

/** Run `r`, whose stage `prod` has a gate before and after it; the first is requested. */
async function waiting(family = clusterFamily) {
  const namespace = family.run.namespaced ? 'team' : undefined;
  const subject = await http1({ kinds: hubKinds });
  running = subject;
  const { cluster } = subject;
  if (namespace !== undefined) await cluster.create('namespaces', undefined, { metadata: { name: namespace } });
  const say = (plural: string, name: string, status: object, as: User = theHub) =>
    cluster.as(as).call({
      verb: 'patch',
      at: { ...cluster.at(plural, namespace, name), subresource: 'status' },
      patch: { type: 'merge', body: { status } as never },
      manager: 'test',
    });
  const ask = (name: string, spec: object = { parentStageRollout: 'r', targetStage: 'prod' }, metadata: object = {}) =>
    cluster.create(family.approvalRequest.plural, namespace, { metadata: { name, ...metadata }, spec });
  await cluster.create(family.run.plural, namespace, {
    metadata: { name: 'r' },
    spec: { placementName: 'web', stagedRolloutStrategyName: 's', state: 'Run' },
  });
  await say(family.run.plural, 'r', {
    stagesStatus: [
      {
        stageName: 'prod',
        clusters: [],
        beforeStageTaskStatus: [gate('r-before-prod')],
        afterStageTaskStatus: [gate('r-after-prod')],
      },
    ],
    conditions: [{ ...condition('Progressing', 'False'), message: 'waits for an approval' }],
  });
  await ask('r-before-prod');
  const transport = subject.as(ann) as HttpTransport;
  const server = { transport, catalogue: await discover(transport) };
  const lines: string[] = [];
  const print = { line: (text: string) => lines.push(text), warning: () => {}, error: () => {} };
  const clock = testClock();
  /** Runs `meddle` right before a patch is sent. */
  const meddled = (meddle: () => Promise<unknown>) => ({
    ...server,
    transport: {
      ...transport,
      async call(request: Request, signal?: AbortSignal): Promise<Answer> {
        if (request.verb === 'patch') await meddle();
        return transport.call(request, signal);
      },
    },
  });
  return {
    cluster,
    lines,
    clock,
    namespace,
    ask,
    meddled,
    say: (name: string, status: object, as?: User) => say(family.approvalRequest.plural, name, status, as),
    sayOfRun: (status: object) => say(family.run.plural, 'r', status),
    stop: () =>
      cluster.call({
        verb: 'patch',
        at: cluster.at(family.run.plural, namespace, 'r'),
        patch: { type: 'merge', body: { spec: { state: 'Stop' } } },
        manager: 'test',
      }),
    read: async (name: string) =>
      (await cluster.get(family.approvalRequest.plural, namespace, name)) as ApprovalRequest,
    approve: (options: Partial<ApproveRun> = {}, on: typeof server = server) =>
      approveRun(
        on,
        { run: 'r', stage: 'prod', clock, ...(namespace === undefined ? {} : { namespace }), ...options },
        print,
      ),
    approveTheOne: () =>
      approveRun(server, { run: 'r', clock, ...(namespace === undefined ? {} : { namespace }) }, print),
    approveNamed: (name: string, on: typeof server = server) =>
      approveRequest(
        on,
        {
          kind: family.approvalRequest.kind,
          name,
          timeoutMs: 300_000,
          clock,
          ...(namespace === undefined ? {} : { namespace }),
        },
        print,
      ),
  };
}

describe.each(families)('approving a gate of a $run.kind', (family) => {
  const { kind } = family.approvalRequest;
  const title = family.run.namespaced ? 'StagedUpdateRun "team/r"' : 'ClusterStagedUpdateRun "r"';

  test('needs no stage where one gate waits, and says which it was', async () => {
    const it = await waiting(family);
    await expect(it.approveTheOne()).rejects.toThrow(
      `no gate of ${title} waits for an approval now: waits for an approval; those still to come: --stage prod --before, --stage prod --after`,
    );
    const before = { ...gate('r-before-prod'), conditions: [condition('ApprovalRequestCreated', 'True')] };
    await it.sayOfRun({ stagesStatus: [{ stageName: 'prod', clusters: [], beforeStageTaskStatus: [before] }] });
    await it.approveTheOne();
    expect(it.lines).toEqual([expect.stringMatching(/r-before-prod approved by "ann" at .*Z: before stage "prod"$/)]);
  });

  test('says so with the words of the person, for the generation that there is, and tells who did', async () => {
    const it = await waiting(family);
    await it.approve({ message: 'canary looks good' });
    expect((await it.read('r-before-prod')).status).toEqual({
      conditions: [{ ...condition('Approved', 'True'), reason: `${kind}Approved`, message: 'canary looks good' }],
      approval: { user: 'ann', groups: [...ann.groups], time: expect.any(String), generation: 1 },
    });
    expect(it.lines).toEqual([
      expect.stringMatching(
        new RegExp(
          `^${kind.toLowerCase()}\\.placement\\.kubernetes-fleet\\.io/r-before-prod approved by "ann" at .*Z: before stage "prod"$`,
        ),
      ),
    ]);
  });

  test('twice is told, also by whom and when, before and after the hub has taken it', async () => {
    const it = await waiting(family);
    await it.approve({ run: 'run/r' });
    const { approval, conditions = [] } = (await it.read('r-before-prod')).status ?? {};
    const given = `the approval before stage "prod" of ${title} is given already by "ann" at ${approval?.time}`;
    await expect(it.approve({ when: 'before' })).rejects.toThrow(`${given}; the hub has not processed it yet`);
    await it.say('r-before-prod', { conditions: [...conditions, condition('ApprovalAccepted', 'True')] });
    const again = it.approve({ when: 'before' });
    await expect(again).rejects.toThrow(given);
    await expect(again).rejects.not.toThrow('not taken');
  });

  test('of a run that is over is refused, and of one that is stopped waits', async () => {
    const it = await waiting(family);
    await it.stop();
    await it.approve();
    expect(it.lines.at(-1)).toMatch(/: before stage "prod"; the run is stopped and takes it when it resumes$/);
    await it.ask('r-after-prod');
    await it.sayOfRun({ conditions: [{ ...condition('Succeeded', 'False'), message: 'its ground has changed' }] });
    await expect(it.approve({ when: 'after' })).rejects.toThrow(
      `the approval after stage "prod" of ${title} is no longer needed: it has ended: its ground has changed`,
    );
    expect((await it.read('r-after-prod')).status?.conditions ?? []).toEqual([]);
  });

  test('in the form of the plugin approves once more without complaint', async () => {
    const it = await waiting(family);
    await it.approveNamed('r-before-prod');
    await it.approveNamed('r-before-prod');
    expect((await it.read('r-before-prod')).status?.conditions).toMatchObject([
      { type: 'Approved', status: 'True', reason: `${kind}Approved`, observedGeneration: 1 },
    ]);
    expect(it.lines.at(-1)).toBe(`${kind.toLowerCase()}.placement.kubernetes-fleet.io/r-before-prod approved`);
    await expect(it.approveNamed('r-canary')).rejects.toThrow(/^.*r-canary" not found \(known: r-before-prod\)$/);
  });

  test('keeps what others write there at the same moment', async () => {
    const it = await waiting(family);
    const others = [condition('Seen', 'True'), condition('Read', 'True')];
    let at = 0;
    const meddle = async () => {
      if (at < others.length) await it.say('r-before-prod', { conditions: others.slice(0, ++at) });
    };
    await it.approve({}, it.meddled(meddle) as never);
    const { conditions = [] } = (await it.read('r-before-prod')).status ?? {};
    expect(conditions.map(({ type }) => type)).toEqual(['Seen', 'Read', 'Approved']);
  });

  test('mends an approval that spoke of another generation', async () => {
    const it = await waiting(family);
    await it.say('r-before-prod', { conditions: [condition('Approved', 'True', 7)] });
    await it.say('r-before-prod', {
      conditions: [condition('Approved', 'True', 7), condition('ApprovalAccepted', 'False')],
    });
    await it.approve();
    expect((await it.read('r-before-prod')).status?.conditions).toMatchObject([
      { type: 'ApprovalAccepted', status: 'False' },
      { type: 'Approved', status: 'True', observedGeneration: 1 },
    ]);
  });

  test.each<{ it: string; options: Partial<ApproveRun>; says: RegExp }>([
    { it: 'there is no such run', options: { run: 'other' }, says: /^.*other" not found \(known: r\)/ },
    { it: 'the name cannot be one', options: { run: '../x' }, says: /"\.\.\/x" cannot be the name of a run/ },
    {
      it: 'the namespace cannot be one',
      options: { namespace: 'a/b' },
      says: /"a\/b" cannot be the name of a namespace/,
    },
    { it: 'there is no such stage', options: { stage: 'x' }, says: /has no stage "x" \(its stages: prod\)/ },
    {
      it: 'it is not asked for yet',
      options: { when: 'after' },
      says: /the approval after stage "prod" of .* is not asked for yet: waits for an approval$/,
    },
  ])('is refused when $it', async ({ options, says }) => {
    const it = await waiting(family);
    await expect(it.approve(options)).rejects.toThrow(says);
    expect((await it.read('r-before-prod')).status).toBeUndefined();
  });

  test('is refused when the request is about something else, or goes', async () => {
    const it = await waiting(family);
    await it.ask('r-after-prod', { parentStageRollout: 'other', targetStage: 'prod' });
    await expect(it.approve({ when: 'after' })).rejects.toThrow(
      'is not for this gate, but for stage "prod" of run "other"',
    );
    const at = it.cluster.at(family.approvalRequest.plural, it.namespace, 'r-after-prod');
    await it.cluster.call({ verb: 'delete', at });
    await it.ask('r-after-prod', undefined, { finalizers: ['example.com/held'] });
    await it.cluster.call({ verb: 'delete', at });
    await expect(it.approve({ when: 'after' })).rejects.toThrow('is being deleted: the run requests it again');
  });
});

test('the plugin gives up in time where every write comes too late', async () => {
  const it = await waiting();
  const on = it.meddled(() => {
    it.clock.advance(60_000);
    throw new ApiError(409, 'Conflict', 'somebody was faster');
  });
  await expect(it.approveNamed('r-before-prod', on as never)).rejects.toThrow(
    'ClusterApprovalRequest "r-before-prod" could not be approved within 5m',
  );
});

test('a server that is no hub is told of', async () => {
  const subject = await http1({});
  running = subject;
  const transport = subject.as(ann) as HttpTransport;
  const server = { transport, catalogue: await discover(transport) };
  const print = { line: () => {}, warning: () => {}, error: () => {} };
  await expect(approveRun(server, { run: 'r', stage: 's', clock: testClock() }, print)).rejects.toThrow(
    'this server has no clusterstagedupdateruns.placement.kubernetes-fleet.io: is it the hub?',
  );
});

describe('what the plugin is asked for', () => {
  test.each<{ kind: string; namespace?: string; is: string }>([
    { kind: 'clusterapprovalrequest', is: clusterFamily.approvalRequest.plural },
    { kind: 'CAREQ', is: clusterFamily.approvalRequest.plural },
    { kind: 'ApprovalRequest', namespace: 'team', is: namespacedFamily.approvalRequest.plural },
    { kind: 'areq', namespace: 'team', is: namespacedFamily.approvalRequest.plural },
  ])('$kind is $is', ({ is, ...given }) => {
    const { resource, namespace } = requestNamed({ name: 'a', ...given });
    expect({ plural: resource.plural, namespace }).toEqual({ plural: is, namespace: given.namespace });
  });

  test.each<{ kind: string; name?: string; namespace?: string; says: string }>([
    { kind: 'pods', says: 'cannot approve a "pods": clusterapprovalrequest (careq) or approvalrequest (areq)' },
    { kind: '__proto__', says: 'cannot approve a "__proto__"' },
    { kind: 'careq', namespace: 'team', says: 'a ClusterApprovalRequest is in no namespace' },
    { kind: 'areq', says: 'an ApprovalRequest is in a namespace: name it with -n' },
    { kind: 'careq', name: 'a/b', says: '"a/b" cannot be the name of an approval request' },
    { kind: 'areq', namespace: '..', says: '".." cannot be the name of a namespace' },
  ])('$kind $name $namespace: $says', ({ says, name = 'a', ...given }) => {
    expect(() => requestNamed({ name, ...given })).toThrow(says);
  });
});
