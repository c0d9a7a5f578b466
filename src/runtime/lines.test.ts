import { expect, test } from 'vitest';
import { testClock } from '../../test/cluster.ts';
import { createLines } from './lines.ts';

function aLine() {
  const clock = testClock();
  const lines = createLines<string>(clock, (item) => !item.startsWith('void'));
  const taken = (count: number) => Array.from({ length: count }, () => lines.take());
  return { clock, lines, taken };
}

test('changes come before reports, and reports before the resync', () => {
  const { lines, taken } = aLine();
  lines.push('resync', 'resync');
  lines.push('report', 'report');
  lines.push('change', 'fresh');
  expect(taken(4)).toEqual(['change', 'report', 'resync', undefined]);
});

test('reports that have waited for a second go before changes, three for each change', () => {
  const { clock, lines, taken } = aLine();
  for (const name of ['r1', 'r2', 'r3', 'r4', 'r5']) lines.push(name, 'report');
  for (const name of ['c1', 'c2', 'c3']) lines.push(name, 'fresh');
  expect(taken(1)).toEqual(['c1']);
  clock.sleep(999);
  expect(taken(1)).toEqual(['c2']);
  for (const name of ['c4', 'c5']) lines.push(name, 'fresh');
  clock.sleep(1);
  expect(taken(8)).toEqual(['r1', 'r2', 'r3', 'c3', 'r4', 'r5', 'c4', 'c5']);
});

test('a report from before the clock was set back does not wait for hours', () => {
  const { clock, lines, taken } = aLine();
  lines.push('report', 'report');
  clock.sleep(-3_600_000);
  lines.push('change', 'fresh');
  expect(taken(1)).toEqual(['report']);
});

test('a void place at the head of the reports hides none behind it', () => {
  const { clock, lines, taken } = aLine();
  lines.push('void', 'report');
  clock.sleep(500);
  lines.push('report', 'report');
  lines.push('change', 'fresh');
  clock.sleep(600);
  expect(taken(3)).toEqual(['change', 'report', undefined]);
});
