import { expect, test } from 'vitest';
import type { Hold } from '../../api/hold.ts';
import { summariseHolds } from './holds-summary.ts';

const cluster = (name: string) => ({ group: 'cluster.kubernetes-fleet.io', kind: 'MemberCluster', name });
const hold = (code: Hold['code'], subject: string, on: string): Hold => ({
  code,
  subject: cluster(subject),
  on: cluster(on),
  facts: {},
  next: '',
});
const numbered = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

test('clusters that wait for the same thing are one entry', () => {
  const holds = numbered('c', 30).map((name) => hold('BatchGate', name, 'c-99'));
  const [entry, ...others] = summariseHolds(holds);
  expect(others).toEqual([]);
  expect(entry).toMatchObject({ code: 'BatchGate', count: 30, on: { name: 'c-99' } });
  expect(entry?.clusters).toHaveLength(20);
});

test('at most 50 entries, and the gate behind 60 clusters that fail one by one is among them', () => {
  const failing = numbered('bad', 60).map((name) => hold('NotAvailable', name, name));
  const waiting = numbered('wait', 70).map((name) => hold('BatchGate', name, 'bad-0'));
  const entries = summariseHolds([...failing, ...waiting]);
  expect(entries).toHaveLength(50);
  expect(entries.slice(0, 49).map(({ on }) => on?.name)).toEqual(numbered('bad', 49));
  expect(entries.at(-1)).toMatchObject({ code: 'BatchGate', count: 70 });
});
