import { describe, expect, test } from 'vitest';
import { testClock } from '../../../test/cluster.ts';
import { seededRandom } from '../../base/random.ts';
import { checked } from './checked.ts';
import { createCollector } from './collector.ts';
import type { Collected, PropertyProvider } from './provider.ts';

const drained = async () => {
  for (let i = 0; i < 30; i++) await undefined;
};

function collecting(provider: PropertyProvider) {
  const clock = testClock();
  const abort = new AbortController();
  const collector = createCollector({
    provider,
    cluster: 'east',
    member: {} as never,
    clock,
    random: seededRandom(1),
    signal: abort.signal,
  });
  const conditions = ({ findings }: Awaited<ReturnType<typeof collector.collect>>) =>
    findings.map(({ type, status, reason }) => `${type} ${status} ${reason}`);
  return { clock, collector, conditions, abort };
}

const GOOD = [
  'ClusterPropertyProviderStarted True Started',
  'ClusterPropertyCollectionSucceeded True PropertiesCollected',
];

describe('a property provider', () => {
  test('is asked on every beat once it has started', async () => {
    const { collector, conditions } = collecting({ collect: () => ({ properties: { 'example.com/a': '1' } }) });
    expect(await collector.collect(5000)).toEqual({ isKept: false, findings: [] });
    await drained();
    const found = await collector.collect(5000);
    expect(found.collected?.properties).toEqual({ 'example.com/a': '1' });
    expect(conditions(found)).toEqual(GOOD);
  });

  test('that fails to start is started again, and until then the built-in collection counts', async () => {
    let starts = 0;
    const { clock, collector, conditions } = collecting({
      start() {
        starts += 1;
        if (starts === 1) throw new Error('no region');
      },
      collect: () => ({}),
    });
    await drained();
    const failed = await collector.collect(5000);
    expect(failed).toMatchObject({ isKept: false, findings: [{ reason: 'FailedToStart', message: 'no region' }] });
    clock.advance(10_000);
    await drained();
    expect(starts).toBe(2);
    expect(conditions(await collector.collect(5000))).toEqual(GOOD);
  });

  test('that hangs when it starts has timed out after ten seconds', async () => {
    const { clock, collector } = collecting({ start: () => new Promise(() => {}), collect: () => ({}) });
    clock.advance(9_999);
    await drained();
    expect((await collector.collect(5000)).findings).toEqual([]);
    clock.advance(1);
    await drained();
    expect(await collector.collect(5000)).toMatchObject({ isKept: false, findings: [{ reason: 'TimedOut' }] });
  });

  test('that does not answer keeps what was reported, is not asked a fourth time, and recovers', async () => {
    const answers: ((found: Collected) => void)[] = [];
    const { clock, collector, conditions } = collecting({
      collect: () => new Promise((resolve) => answers.push(resolve)),
    });
    await drained();
    for (let i = 0; i < 3; i++) {
      const asked = collector.collect(60_000);
      await drained();
      clock.advance(10_000);
      const found = await asked;
      expect(found.isKept).toBe(true);
      expect(conditions(found)[1]).toBe('ClusterPropertyCollectionSucceeded False TimedOut');
    }
    expect(conditions(await collector.collect(60_000))[1]).toBe(
      'ClusterPropertyCollectionSucceeded False TooManyCalls',
    );
    expect(answers).toHaveLength(3);
    for (const answer of answers.splice(0)) answer({});
    await drained();
    const asked = collector.collect(60_000);
    await drained();
    answers[0]?.({ properties: {} });
    expect(conditions(await asked)).toEqual(GOOD);
  });

  test('that throws keeps what was reported and names the error', async () => {
    const { collector } = collecting({
      collect() {
        throw new Error('quota');
      },
    });
    await drained();
    const { isKept, findings } = await collector.collect(5000);
    expect(isKept).toBe(true);
    expect(findings[1]?.message).toContain('quota');
  });
});

describe('what a provider returns', () => {
  test.each([undefined, null, 7, 'x', []])('may be nonsense: %s', (given) => {
    expect(checked(given)).toMatchObject({ collected: {} });
    expect(checked(given).refused).toHaveLength(1);
  });

  test('loses what the API would refuse, and that is named', () => {
    const { collected, refused } = checked({
      properties: { 'a/b/c': '1', ok: '1', number: 1, long: 'x'.repeat(20_000) },
      resources: { capacity: { cpu: '1', memory: 'lots' } },
      conditions: [
        { type: 'Costs', status: 'True', reason: 'Known' },
        { type: 'Joined', status: 'False', reason: 'Mine' },
        { type: 'Costs', status: 'Maybe', reason: 'Known' },
      ],
    });
    expect(collected.properties).toEqual({ ok: '1' });
    expect(collected.resources?.capacity).toEqual({ cpu: '1' });
    expect(collected.conditions).toEqual([{ type: 'Costs', status: 'True', reason: 'Known', message: '' }]);
    expect(refused).toEqual(['a/b/c', 'number', 'long', 'memory', 'condition Joined', 'condition Costs']);
  });
});
