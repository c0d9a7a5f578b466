import { describe, expect, test } from 'vitest';
import type { MemberCluster, Taint } from '../../api/member-cluster.ts';
import { printing, serving } from '../served.testing.ts';
import { parsePattern, parseTaint, taint, untaint, withTaints } from './taint.ts';

const NONE: Taint = { key: 'a', effect: 'NoSchedule' };
const ONE: Taint = { key: 'a', value: '1', effect: 'NoSchedule' };
const OTHER: Taint = { key: 'b', value: '2', effect: 'NoSchedule' };

describe('a taint', () => {
  test.each([
    ['a:NoSchedule', NONE],
    ['a=:NoSchedule', NONE],
    ['a=1:NoSchedule', ONE],
    ['example.com/a=x.y:NoSchedule', { key: 'example.com/a', value: 'x.y', effect: 'NoSchedule' }],
  ])('%s is read', (text, expected) => expect(parseTaint(text)).toEqual(expected));

  test.each([
    ['a=1', 'has no effect'],
    ['a=1:NoExecute', 'has the unknown effect "NoExecute"'],
    ['=1:NoSchedule', 'has no valid key'],
    ['-a:NoSchedule', 'has no valid key'],
    ['a/b/c:NoSchedule', 'has no valid key'],
    ['a=b c:NoSchedule', 'has no valid value'],
    ['a=1=2:NoSchedule', 'is not a taint'],
    ['a:NoSchedule:x', 'is not a taint'],
    ['', 'has no valid key'],
  ])('"%s" is refused', (text, why) => expect(() => parseTaint(text)).toThrow(why));

  test('a pattern needs no effect', () => {
    expect([parsePattern('a'), parsePattern('a=1'), parsePattern('a=1:NoSchedule')]).toEqual([
      { key: 'a' },
      { key: 'a', value: '1' },
      { key: 'a', value: '1' },
    ]);
  });

  test('is added once, and replaces another value only if it may', () => {
    expect(withTaints([OTHER], [ONE, ONE], false, 'x')).toEqual([OTHER, ONE]);
    const same = [ONE, OTHER];
    expect(withTaints(same, [ONE], false, 'x')).toBe(same);
    expect(() => withTaints([ONE], [NONE], false, 'x')).toThrow('has the taint a=1:NoSchedule; --overwrite');
    expect(withTaints([ONE, OTHER], [NONE], true, 'x')).toEqual([OTHER, NONE]);
  });
});

test('members are tainted and untainted, and nothing else of them changes', async () => {
  const hub = await serving([
    {
      apiVersion: 'cluster.kubernetes-fleet.io/v1beta1',
      kind: 'MemberCluster',
      metadata: { name: 'x', labels: { env: 'prod' } },
      spec: { identity: { kind: 'User', name: 'x' }, taints: [OTHER] },
    },
  ]);
  const server = { ...(await hub.server()), [Symbol.dispose]() {} };
  const now = async () => (await hub.subject.cluster.get('memberclusters', undefined, 'x')) as unknown as MemberCluster;
  const { out, print } = printing();
  await taint(server, 'x', [ONE], { overwrite: false }, print);
  expect((await now()).spec.taints).toEqual([OTHER, ONE]);
  await taint(server, 'x', [ONE], { overwrite: false }, print);
  await untaint(server, 'x', [{ key: 'b' }], print);
  expect(await now()).toMatchObject({ metadata: { labels: { env: 'prod' } }, spec: { taints: [ONE] } });
  await expect(untaint(server, 'x', [{ key: 'a', value: '7' }], print)).rejects.toThrow(
    'MemberCluster "x" has no taint "a=7": it has a=1:NoSchedule',
  );
  await expect(untaint(server, 'y', [{ key: 'a' }], print)).rejects.toThrow('MemberCluster "y" not found');
  expect(out).toEqual([
    'membercluster.cluster.kubernetes-fleet.io/x tainted: a=1:NoSchedule',
    expect.stringContaining('flotilla drain'),
    'membercluster.cluster.kubernetes-fleet.io/x has these taints already',
    'membercluster.cluster.kubernetes-fleet.io/x untainted: b=2:NoSchedule',
  ]);
});
