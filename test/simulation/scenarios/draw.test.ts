import { describe, expect, test } from 'vitest';
import { type Draw, drawAll, drawMore, drawUntil } from './draw.ts';

const shares = [
  { scenario: 'a', runs: 3 },
  { scenario: 'b', runs: 1 },
  { scenario: 'c', runs: 2 },
];

const all = (draw: Draw, atMost = 100): readonly string[] => {
  const seen: string[] = [];
  for (let world = draw.next(); world !== undefined && seen.length < atMost; world = draw.next())
    seen.push(`${world.scenario}${world.seed}`);
  return seen;
};

describe('without a time box', () => {
  test('one scenario is played after the other', () => {
    expect(all(drawAll(shares, 7))).toEqual(['a7', 'a8', 'a9', 'b7', 'c7', 'c8']);
  });

  test('a scenario that is skipped is left at once', () => {
    const draw = drawAll(shares, 1);
    expect(draw.next()).toEqual({ scenario: 'a', seed: 1 });
    draw.skip('a');
    expect(all(draw)).toEqual(['b1', 'c1', 'c2']);
  });
});

describe('in a time box', () => {
  test('scenarios take turns in proportion to their shares, with seeds without gaps', () => {
    const seen = all(
      drawUntil(shares, 5, () => false),
      12,
    );
    const seedsOf = (scenario: string) => seen.filter((each) => each.startsWith(scenario));
    expect(seen.slice(0, 3)).toEqual(['a5', 'b5', 'c5']);
    expect(seedsOf('a')).toEqual(['a5', 'a6', 'a7', 'a8', 'a9', 'a10']);
    expect(seedsOf('b')).toEqual(['b5', 'b6']);
    expect(seedsOf('c')).toEqual(['c5', 'c6', 'c7', 'c8']);
  });

  test('each scenario is played once, however short the time is', () => {
    expect(all(drawUntil(shares, 1, () => true))).toEqual(['a1', 'b1', 'c1']);
  });

  test('nothing follows once the time is over', () => {
    let left = 4;
    expect(all(drawUntil(shares, 1, () => left-- <= 0))).toHaveLength(4);
  });

  test('a scenario that is skipped is not played again', () => {
    const draw = drawUntil(shares, 1, () => false);
    draw.skip('a');
    expect(all(draw, 6).join(' ')).not.toContain('a');
  });
});

describe('what is wanted beyond that', () => {
  test('is played with further seeds until nothing is wanted', () => {
    let left = 3;
    expect(all(drawMore(shares, 5, () => (left-- > 0 ? ['c', 'a'] : [])))).toEqual(['c7', 'c8', 'a8']);
  });

  test('is played as often again as before at most', () => {
    expect(all(drawMore(shares, 1, () => ['b', 'none', 'a']))).toEqual(['b2', 'a4', 'a5', 'a6']);
  });

  test('is not played when it is skipped', () => {
    const draw = drawMore(shares, 1, () => ['a', 'b']);
    draw.skip('a');
    expect(all(draw)).toEqual(['b2']);
  });
});
