import { expect, test } from 'vitest';
import type { Toleration } from '../../../api/toleration.ts';
import { tolerates } from './taint-toleration.ts';

const taint = { key: 'gpu', value: 'yes', effect: 'NoSchedule' } as const;

test.each<{ readonly it: string; readonly toleration: Toleration; readonly tolerated: boolean; readonly of?: object }>([
  { it: 'Exists without a key tolerates all', toleration: { operator: 'Exists' }, tolerated: true },
  { it: 'Exists with the key', toleration: { operator: 'Exists', key: 'gpu' }, tolerated: true },
  { it: 'Exists with another key', toleration: { operator: 'Exists', key: 'cpu' }, tolerated: false },
  { it: 'Equal with key and value', toleration: { operator: 'Equal', key: 'gpu', value: 'yes' }, tolerated: true },
  { it: 'Equal with another value', toleration: { operator: 'Equal', key: 'gpu', value: 'no' }, tolerated: false },
  { it: 'Equal with another key', toleration: { operator: 'Equal', key: 'cpu', value: 'yes' }, tolerated: false },
  { it: 'Equal without a value', toleration: { operator: 'Equal', key: 'gpu' }, tolerated: false },
  {
    it: 'Equal without a value, of none',
    toleration: { operator: 'Equal', key: 'gpu' },
    of: { value: undefined },
    tolerated: true,
  },
  { it: 'the same effect', toleration: { operator: 'Exists', effect: 'NoSchedule' }, tolerated: true },
  { it: 'another effect', toleration: { operator: 'Exists', effect: 'NoExecute' as never }, tolerated: false },
  { it: 'an unknown operator', toleration: { operator: '' as never, key: 'gpu', value: 'yes' }, tolerated: false },
])('a toleration: $it', ({ toleration, of = {}, tolerated }) => {
  expect(tolerates(toleration, { ...taint, ...of })).toBe(tolerated);
});
