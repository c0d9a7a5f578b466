import { expect, test } from 'vitest';
import type { Work } from '../../api/work.ts';
import { BEFORE } from '../placement.testing.ts';
import { changedAgainNotes } from './changed-again.ts';

const work = (...messages: readonly string[]): Work => ({
  apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
  kind: 'Work',
  metadata: { name: 'w', namespace: 'fleet-member-eu-1' },
  spec: {},
  status: {
    conditions: [],
    manifestConditions: messages.map((message, ordinal) => ({
      identifier: { ordinal },
      ...(message === '' || message === 'fine' ? {} : { cause: { code: 'ChangedRepeatedly' } }),
      conditions: [{ type: 'Applied', status: 'True', reason: 'Applied', message, lastTransitionTime: BEFORE }],
    })),
  },
});
const changed = (name: string) =>
  `ConfigMap "shop/${name}" is changed on the member repeatedly; it is corrected at 2026-01-01T12:10:00Z`;

test('of all that is applied, only what is changed again and again is told', () => {
  expect(changedAgainNotes([work('', changed('a'), 'fine'), work()])).toEqual([`on cluster "eu-1": ${changed('a')}`]);
});

test('of very many not all are told', () => {
  const notes = changedAgainNotes([work(...Array.from({ length: 7 }, (_, at) => changed(`c${at}`)))]);
  expect(notes).toHaveLength(6);
  expect(notes.at(-1)).toBe('and 2 more objects that others change or keep');
});
