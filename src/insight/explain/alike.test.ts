import { describe, expect, test } from 'vitest';
import type { HoldEntry } from '../../api/holds.ts';
import { budgetUsed } from '../placement.testing.ts';
import { alike, ofAll } from './alike.ts';

const own = (cluster: string, message = 'it broke'): HoldEntry => ({
  ...budgetUsed(cluster, [cluster]),
  code: 'NotAvailable',
  facts: { cause: 'failed', message },
});

describe('holds', () => {
  test('that clusters have of themselves are one if they say the same', () => {
    const groups = alike([own('a'), budgetUsed('a', ['d']), own('b'), own('c', 'it hangs')]);
    expect(groups.map((group) => group.map(({ code, on }) => `${code} ${on?.name}`))).toEqual([
      ['NotAvailable a', 'NotAvailable b'],
      ['BudgetUsed a'],
      ['NotAvailable c'],
    ]);
  });

  test('of clusters that are not heard stay apart: what helps names each of them', () => {
    const silent = (cluster: string): HoldEntry => ({ ...own(cluster), code: 'Unreachable', facts: {} });
    expect(alike([silent('a'), silent('b')])).toHaveLength(2);
    expect(alike([own('a'), own('b')].map((each) => ({ ...each, facts: { cause: 'unreachable' } })))).toHaveLength(2);
  });

  test('are never one because others wait for the same', () => {
    expect(alike([budgetUsed('a', ['d']), budgetUsed('a', ['d'])])).toHaveLength(2);
  });
});

test.each([
  { names: ['a'], says: 'mend cluster "a" of MemberCluster "a"' },
  { names: ['a', 'b$&'], says: 'mend clusters "a", "b$&" of MemberClusters "a", "b$&"' },
])('what is said of $names', ({ names, says }) => {
  expect(ofAll('mend cluster "a" of MemberCluster "a"', names)).toBe(says);
});

test('of very many not all are named', () => {
  const names = Array.from({ length: 22 }, (_, at) => `c${at}`);
  expect(ofAll('cluster "c0"', names)).toMatch(/"c19" and 2 more$/);
});

test.each([
  {
    one: 'the availability of MemberCluster "a" cannot be tracked; it counts as available after 60 s',
    all: 'the availability of MemberClusters "a", "b" cannot be tracked; they count as available after 60 s',
  },
  {
    one: 'MemberCluster "a" blocks the rollout (failed): 1',
    all: 'MemberClusters "a", "b" block the rollout (failed): 1',
  },
  { one: 'MemberCluster "a" must make room first', all: 'MemberClusters "a", "b" must make room first' },
  {
    one: 'MemberCluster "a" has not finished removing resources that are no longer placed there (it still has its copy)',
    all: 'MemberClusters "a", "b" have not finished removing resources that are no longer placed there (it still has its copy)',
  },
  { one: 'MemberCluster "a" is not available yet', all: 'MemberClusters "a", "b" are not available yet' },
])('many take the plural: $one', ({ one, all }) => {
  expect(ofAll(one, ['a', 'b'])).toBe(all);
});
