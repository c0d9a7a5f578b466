// A member may report anything: this one sends malformed objects.
import { expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import type { Transport } from '../../api/transport.ts';
import type { Work } from '../../api/work.ts';
import { podsEvidence } from './pods-evidence.ts';

const uid = 'u';
const set: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: {
    name: 'db',
    namespace: 'shop',
    uid,
    ownerReferences: [{ apiVersion: 'x/v1', kind: 'AppliedWork', name: 'web-work', uid: 'w' }],
  },
  spec: { selector: { matchLabels: { app: 'db' } } },
  status: { updateRevision: 'db-2' },
};
const pod = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'shop',
    labels: { 'controller-revision-hash': 'db-1' },
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid, controller: true }],
  },
  status: { phase: 'Pending' },
});
const saying = (items: readonly KubeObject[]): Transport => ({
  call: async ({ verb }) => (verb === 'get' ? { object: set } : { list: { metadata: {}, items } }) as never,
  watch: () => expect.unreachable(),
});
const work = { metadata: { name: 'web-work', namespace: 'fleet-member-eu-1' } } as Work;
const identifier = { ordinal: 0, group: 'apps', version: 'v1', kind: 'StatefulSet', namespace: 'shop', name: 'db' };

test.each([
  { name: 'db-0', cluster: 'eu-1', command: 'kubectl --context eu-1 -n shop delete pod db-0' },
  { name: '$(reboot)', cluster: 'eu-1', command: undefined },
  { name: '--all', cluster: 'eu-1', command: undefined },
  { name: 'db-0', cluster: '`reboot`', command: undefined },
])('only what can be a name gets into a command: Pod $name, cluster $cluster', async ({ name, cluster, command }) => {
  const [told, ...others] = await podsEvidence({ cluster, member: saying([pod(name)]) }, work, identifier);
  expect(others).toEqual([]);
  expect(told?.says).toEqual([expect.stringContaining('is still of an earlier revision (db-1)')]);
  expect(/`(kubectl .*)`$/.exec(told?.next ?? '')?.[1]).toBe(command);
  expect(told?.next === undefined).toBe(command === undefined);
});
