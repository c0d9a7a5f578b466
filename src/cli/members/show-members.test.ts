import { expect, test } from 'vitest';
import type { Binding } from '../../api/binding.ts';
import type { MemberCluster } from '../../api/member-cluster.ts';
import { memberView } from '../../insight/progress/member-view.ts';
import { printing, serving } from '../served.testing.ts';
import { renderMember, renderMembers } from './render-members.ts';
import { showMember, showMembers } from './show-members.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const clock = { now: () => NOW, at: () => () => {} } as unknown as Parameters<typeof showMembers>[1]['clock'];
const at = (secondsAgo: number) => new Date(NOW - secondsAgo * 1000).toISOString().replace('.000', '');
const said = (type: string, status: string, message = '') => ({
  type,
  status,
  reason: 'Because',
  message,
  lastTransitionTime: at(3600),
  observedGeneration: 1,
});

const member = (name: string, more: object = {}, healthy = 'True'): MemberCluster =>
  ({
    apiVersion: 'cluster.kubernetes-fleet.io/v1beta1',
    kind: 'MemberCluster',
    metadata: { name, creationTimestamp: at(7200), labels: { env: 'prod' }, ...more },
    spec: {
      identity: { kind: 'ServiceAccount', name: 'sa', namespace: 'fleet-system' },
      heartbeatPeriodSeconds: 60,
      taints: [{ key: 'soon', value: 'x', effect: 'NoSchedule' }],
    },
    status: {
      conditions: [
        said('ReadyToJoin', 'True', 'two Works are left'),
        said('Joined', 'True'),
        said('Healthy', healthy, healthy === 'True' ? '' : 'no \u001b[31manswer'),
      ],
      properties: {
        'kubernetes-fleet.io/node-count': { value: '5', observationTime: at(10) },
        'k8s.io/k8s-version': { value: 'v1.34.4', observationTime: at(10) },
      },
      resourceUsage: {
        capacity: { cpu: '10', memory: '40Gi' },
        allocatable: { cpu: '8', memory: '32Gi' },
        available: { cpu: '3', memory: '20Gi' },
      },
      agentStatus: [{ type: 'MemberAgent', lastReceivedHeartbeat: at(20) }],
    },
  }) as unknown as MemberCluster;

const bound = (name: string, cluster: string, available: string, namespace?: string): Binding =>
  ({
    apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
    kind: 'ClusterResourceBinding',
    metadata: {
      name: `${name}-${cluster}`,
      generation: 1,
      labels: { 'kubernetes-fleet.io/parent-CRP': name },
      ...(namespace === undefined ? {} : { namespace }),
    },
    spec: { targetCluster: cluster, state: 'Bound' },
    status: { conditions: [said('Available', available)] },
  }) as unknown as Binding;

const around = {
  bindings: [bound('web', 'a', 'True'), bound('db', 'a', 'False', 'team'), bound('web', 'b', 'True')],
  works: [],
};

test('the table has health, heartbeat, version, size, what is placed, and taints', () => {
  const views = [member('a'), member('b', {}, 'False')].map((each) => memberView(each, around));
  expect(renderMembers(views, { now: NOW, wide: false }).split('\n')).toEqual([
    'MEMBER   STATE       FOR   HEARTBEAT   VERSION   NODES   CPU   MEMORY      PLACED   TAINTS              MESSAGE',
    'a        Ready       60m   20s ago     v1.34.4   5       3/8   20Gi/32Gi   1/2      soon=x:NoSchedule',
    'b        Unhealthy   60m   20s ago     v1.34.4   5       3/8   20Gi/32Gi   1/1      soon=x:NoSchedule   no  [31manswer',
  ]);
});

test('a member that has told nothing yet has dashes', () => {
  const { status: _status, ...quiet } = member('a');
  const text = renderMembers([memberView(quiet as MemberCluster, { bindings: [], works: [] })], {
    now: NOW,
    wide: false,
  });
  expect(text.split('\n')[1]).toMatch(/^a\s+Joining\s+120m\s+-\s+-\s+-\s+-\s+-\s+0\/0/);
});

test('one that leaves tells since when, and how many Works are left', () => {
  const leaving = member('a', { deletionTimestamp: at(90) });
  const works = [{ metadata: { name: 'w', finalizers: ['x'] } }, { metadata: { name: 'v' } }];
  const text = renderMember(memberView(leaving, { ...around, works }), { now: NOW, wide: false });
  expect(text).toContain('MemberCluster "a" is Leaving for 90s: two Works are left');
  expect(text).toMatch(/Leaving\s+for 90s, 1 Work is not released/);
  expect(text).toMatch(/team\/db\s+Bound\s+False/);
});

test('the commands read a hub, in text and for programs, and name what is not there', async () => {
  const hub = await serving([member('a'), member('b', {}, 'False')]);
  const server = await hub.server();
  const run = async (what: (print: ReturnType<typeof printing>['print']) => Promise<number>) => {
    const { print, text } = printing();
    return { code: await what(print), text: text() };
  };
  const all = await run((print) => showMembers(server, { clock }, print));
  expect(all.code).toBe(2);
  expect(all.text).toMatch(/^a\s+Ready/m);
  const one = await run((print) => showMember(server, 'a', { clock, output: 'json' }, print));
  expect(one.code).toBe(0);
  expect(JSON.parse(one.text)).toMatchObject({ name: 'a', state: 'Ready', nodes: '5', taints: ['soon=x:NoSchedule'] });
  const more = await serving(['member-10', 'member-2', 'member-1'].map((name) => member(name)));
  const { print, text } = printing();
  await showMembers(await more.server(), { clock }, print);
  expect(text().match(/^member-\d+/gm)).toEqual(['member-1', 'member-2', 'member-10']);
  await expect(showMember(server, 'c', { clock }, printing().print)).rejects.toThrow(
    'MemberCluster "c" not found (known: a, b)',
  );
});
