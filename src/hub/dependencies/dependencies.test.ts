// Why a cluster waits, by the state of its dependencies on that cluster.
import { describe, expect, test } from 'vitest';
import type { RolloutWord } from '../../api/rollout-state.ts';
import { type DependenciesInput, holdsOf } from './dependencies.ts';

const kind = { group: 'placement.kubernetes-fleet.io', kind: 'ClusterResourcePlacement' };
const placed = (name: string, state: RolloutWord | undefined, tier = '') => ({
  ref: { ...kind, name },
  labels: { tier },
  stateOn: () => state,
});

function wait(dependsOn: DependenciesInput['dependsOn'], ...others: DependenciesInput['others']) {
  const hold = holdsOf({ dependsOn, others, refOf: (name) => ({ ...kind, name }) })('c1');
  return hold && [hold.subject.name, hold.on?.name, hold.facts['state'], hold.facts['accepted']];
}

describe('a cluster', () => {
  test.each<[string, DependenciesInput['dependsOn'], DependenciesInput['others'], ReturnType<typeof wait>]>([
    ['goes on when its dependency is ready', [{ name: 'db' }], [placed('db', 'Ready')], undefined],
    ['waits for one that is not', [{ name: 'db' }], [placed('db', 'NotReady')], ['c1', 'db', 'NotReady', 'Ready']],
    [
      'waits for one with an older revision',
      [{ name: 'db' }],
      [placed('db', 'OutOfSync')],
      ['c1', 'db', 'OutOfSync', 'Ready'],
    ],
    [
      'waits for one that is not placed there',
      [{ name: 'db' }],
      [placed('db', undefined)],
      ['c1', 'db', undefined, undefined],
    ],
    ['waits for one that does not exist', [{ name: 'db' }], [placed('x', 'Ready')], ['c1', 'db', undefined, undefined]],
    [
      'takes a state that is accepted',
      [{ name: 'db', acceptedStates: ['Ready', 'Modified'] }],
      [placed('db', 'Modified')],
      undefined,
    ],
    [
      'takes the default for an empty list',
      [{ name: 'db', acceptedStates: [] }],
      [placed('db', 'Modified')],
      ['c1', 'db', 'Modified', 'Ready'],
    ],
    [
      'waits for all that match its labels, as far as they are placed there',
      [{ selector: { matchLabels: { tier: 'data' } } }],
      [
        placed('a', 'Ready', 'data'),
        placed('b', undefined, 'data'),
        placed('c', 'NotReady', 'data'),
        placed('d', 'NotReady'),
      ],
      ['c1', 'c', 'NotReady', 'Ready'],
    ],
    [
      'waits while no label matches',
      [{ selector: { matchLabels: { tier: 'data' } } }],
      [placed('a', 'Ready')],
      ['c1', '*', undefined, undefined],
    ],
    [
      'needs name and labels where both are given',
      [{ name: 'a', selector: { matchLabels: { tier: 'x' } } }],
      [placed('a', 'Ready')],
      ['c1', 'a', undefined, undefined],
    ],
    [
      'waits for every dependency',
      [{ name: 'a' }, { name: 'b' }],
      [placed('a', 'Ready'), placed('b', 'WaitApplied')],
      ['c1', 'b', 'WaitApplied', 'Ready'],
    ],
  ])('%s', (_it, dependsOn, others, expected) => {
    expect(wait(dependsOn, ...others)).toEqual(expected);
  });
});
