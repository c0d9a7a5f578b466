// Which approvals a gate requests, and what is reported on requests that the run did not create.
import { describe, expect, test } from 'vitest';
import { families } from '../families.ts';
import type { HubApprovalRequest } from '../staged-sources.ts';
import { askFor, nextWordAt, uncalledFor } from './approvals.ts';
import { aRun } from './run.testing.ts';

test.each(families)(
  'a request belongs to its run, so that one that is made too late goes too ($run.kind)',
  (family) => {
    const run = aRun({}, { metadata: { name: 'r', uid: 'u' } });
    expect(askFor(family, run, { name: 'r-after-x', stage: 'x', when: 'after' })).toMatchObject({
      object: {
        metadata: {
          name: 'r-after-x',
          ownerReferences: [
            { apiVersion: `${family.run.group}/${family.run.version}`, kind: family.run.kind, name: 'r', uid: 'u' },
          ],
        },
      },
    });
  },
);

const T0 = Date.parse('2026-01-01T00:00:00Z');
const TOLD_AT = T0 + 120_000;
const WORDS =
  'the run has not asked for this request: when the turn of stage "x" comes, it is removed and requested again';

describe.each(families)('on a request that the run has not asked for ($run.kind)', (family) => {
  const run = aRun({}, { metadata: { name: 'r', uid: 'u' } });
  const condition = (type: string, status: 'True' | 'False', observedGeneration: number, message = '') => ({
    type,
    status,
    reason: 'x',
    message,
    observedGeneration,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });
  const made = (conditions: HubApprovalRequest['conditions'], parent = 'r'): HubApprovalRequest => ({
    metadata: { name: 'r-after-x', uid: 'q', resourceVersion: '1', generation: 2 },
    spec: { parentStageRollout: parent, targetStage: 'x' },
    owners: [],
    conditions,
  });
  const old = condition('Approved', 'True', 1);

  test.each([
    { it: 'nothing is said before two minutes have passed', request: made([old]), now: TOLD_AT - 1, says: [] },
    { it: 'an approval of a former state is told then', request: made([old]), now: TOLD_AT, says: [WORDS] },
    {
      it: 'it is told once',
      request: made([old, condition('ApprovalAccepted', 'False', 2, WORDS)]),
      now: TOLD_AT,
      says: [],
    },
    { it: 'nobody has approved: nothing', request: made([]), now: TOLD_AT, says: [] },
    {
      it: 'what an earlier run took stays',
      request: made([old, condition('ApprovalAccepted', 'True', 2)]),
      now: TOLD_AT,
      says: [],
    },
    { it: 'that of another run is not ours to answer', request: made([old], 'other'), now: TOLD_AT, says: [] },
  ])('$it', ({ request, now, says }) => {
    const found = uncalledFor(family, run, request, now);
    expect(found.map(({ because }) => because)).toEqual(says);
    for (const action of found) {
      expect(action).toMatchObject({
        merge: {
          status: {
            conditions: [old, { type: 'ApprovalAccepted', status: 'False', reason: 'ApprovalRequestNotAskedFor' }],
          },
        },
      });
    }
  });

  test('the run is woken for it, and not for what needs no word', () => {
    const at = (request: HubApprovalRequest, now = T0) => nextWordAt({ run, requests: [request], now });
    expect(at(made([old]))).toBe(TOLD_AT);
    expect(at(made([old]), TOLD_AT)).toBe(undefined);
    expect(at(made([]))).toBe(undefined);
    expect(at({ ...made([old]), owners: ['u'] })).toBe(undefined);
  });
});
