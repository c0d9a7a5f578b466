// What is asked for at a gate.
import { expect, test } from 'vitest';
import { families } from '../families.ts';
import { askFor } from './approvals.ts';
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
