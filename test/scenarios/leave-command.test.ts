// `flotilla leave`: placed objects stay or are removed first, and the command reports the progress.
import { describe, expect } from 'vitest';
import { appliedWork } from '../../src/api/applied-work.ts';
import { leave } from '../../src/cli/members/leave.ts';
import { families } from '../../src/hub/families.ts';
import { admin, type TestCluster } from '../cluster.ts';
import { configMap, type Delivery, deployment, SHOP, scenario } from '../delivery.ts';

const serverOf = (it: Delivery) =>
  ({
    transport: it.fleet.hub.as(admin),
    catalogue: {
      resources: it.fleet.hub.running.cluster.registry
        .all()
        .map((each) => ({ ...each, version: each.versions[0]?.version ?? '' })),
    },
  }) as unknown as Parameters<typeof leave>[0];

async function leaves(it: Delivery, cluster: string, purge: boolean, timeoutMs = 60_000) {
  const lines: string[] = [];
  const print = {
    line: (text: string) => void lines.push(text),
    warning: (text: string) => void lines.push(text),
    error: (text: string) => void lines.push(text),
  };
  let isOver = false;
  const options = { cluster, purge, timeoutMs, clock: it.fleet.clock, signal: new AbortController().signal };
  const done = leave(serverOf(it), options, print).finally(() => {
    isOver = true;
  });
  for (let turn = 0; turn < 200 && !isOver; turn++) await it.runs(1000);
  return { code: await done, text: lines.join('\n') };
}

async function placed(it: Delivery): Promise<void> {
  await it.give(configMap('one'), deployment('web:1'));
  await it.place();
  await it.runs();
}

const list = async (member: TestCluster, plural: string, namespace?: string) =>
  (await member.call({ verb: 'list', at: member.at(plural, namespace) })).list?.items ?? [];

const hold = (member: TestCluster, finalizers: readonly string[] | null) =>
  member.call({
    verb: 'patch',
    at: member.at('configmaps', SHOP, 'app'),
    patch: { type: 'merge', body: { metadata: { finalizers } } },
    manager: 'test',
  });

const onMember = async (it: Delivery, cluster: string) => {
  const member = it.fleet.member(cluster);
  return {
    records: (await list(member, appliedWork.plural)).length,
    values: (await list(member, 'configmaps', SHOP)).filter(({ metadata }) => metadata.name === 'app').length,
  };
};

describe('a member that leaves', () => {
  scenario.for(families)('keeps what was placed', { members: 2 }, async (it) => {
    await placed(it);
    const { code, text } = await leaves(it, 'c1', false);
    expect({ code, text }).toEqual({ code: 0, text: expect.stringMatching(/keeps running[\s\S]*has left$/) });
    expect(await onMember(it, 'c1')).toEqual({ records: expect.any(Number), values: 1 });
    expect(await it.fleet.exists('namespaces', undefined, 'fleet-member-c1')).toBe(false);
  });

  scenario.for(families)('and is purged leaves nothing behind', { members: 2 }, async (it) => {
    await placed(it);
    const { code, text } = await leaves(it, 'c1', true);
    expect({ code, text }).toEqual({ code: 0, text: expect.stringMatching(/is removed first[\s\S]*has left$/) });
    expect(await onMember(it, 'c1')).toEqual({ records: 0, values: 0 });
    expect(await it.fleet.exists('memberclusters', undefined, 'c1')).toBe(false);
    expect(await onMember(it, 'c2')).toEqual({ records: expect.any(Number), values: 1 });
  });

  scenario.for(families)('and is purged waits for an object that does not go', { members: 2 }, async (it) => {
    await placed(it);
    const member = it.fleet.member('c1');
    await hold(member, ['example.com/held']);
    const waiting = await leaves(it, 'c1', true, 30_000);
    expect(waiting.code).toBe(2);
    expect(waiting.text).toContain('has not left within 30s');
    expect(await it.fleet.exists('memberclusters', undefined, 'c1')).toBe(true);
    await hold(member, null);
    const { code, text } = await leaves(it, 'c1', true);
    expect({ code, text }).toEqual({ code: 0, text: expect.stringMatching(/leaving already[\s\S]*has left$/) });
    expect(await onMember(it, 'c1')).toEqual({ records: 0, values: 0 });
  });
});
