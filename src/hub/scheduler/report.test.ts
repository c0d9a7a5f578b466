// The message if no cluster fits and PickAll is satisfied with none.
import { expect, test } from 'vitest';
import { conditionOf } from '../../api/next-condition.ts';
import { namespacedFamily } from '../families.ts';
import { aMember, Hub } from './scheduler.testing.ts';

const scheduled = (hub: Hub) => {
  hub.settle();
  return conditionOf(hub.status?.conditions, 'Scheduled');
};

test('nobody fits: how many were looked at, and why the first few do not', () => {
  const elsewhere = { namespaces: ['other'] };
  const members = [
    ...['a', 'b', 'c', 'd'].map((name) => aMember(name, elsewhere)),
    aMember('e', { heartbeat: undefined, ...elsewhere }),
  ];
  expect(scheduled(new Hub({ family: namespacedFamily, members }))).toMatchObject({
    status: 'True',
    reason: 'SchedulingPolicyFulfilled',
    message: expect.stringMatching(
      /^found 0 clusters that fit the scheduling policy, of 5 looked at \(a, b, c and 1 more: cluster does not have namespace "ns" \/ e: cluster is not eligible/,
    ),
  });
});

test('nobody is there: that', () => {
  expect(scheduled(new Hub({ members: [] }))?.message).toBe(
    'found 0 clusters that fit the scheduling policy: the fleet has no members',
  );
});

test('nobody is asked for: nothing of the kind', () => {
  const policy = { placementType: 'PickN', numberOfClusters: 0 } as const;
  expect(scheduled(new Hub({ members: [aMember('a')], policy, numberOfClusters: 0 }))?.message).toMatch(
    /^all clusters required/,
  );
});
