import { describe, expect, test } from 'vitest';
import { labels } from '../../api/names.ts';
import type { HubWork } from '../work-source.ts';
import type { DesiredWork } from './desired.ts';
import { envelopesAsNamed } from './envelope-works.ts';

const marks = (name: string, namespace = 'shop') => ({
  [labels.envelopeWork]: 'ResourceEnvelope',
  [labels.envelopeName]: name,
  [labels.envelopeNamespace]: namespace,
});
const desired = (name: string, of?: object) => ({ name, labels: of ?? {} }) as unknown as DesiredWork;
const known = (name: string, of?: object) => ({ metadata: { name, labels: of ?? {} } }) as unknown as HubWork;

describe('the Work of an envelope', () => {
  test.each([
    { it: 'is named after its snapshot at first', own: [], name: 'web-0-envelope-a', told: 0 },
    {
      it: 'is kept when the envelope moves to another snapshot',
      own: [known('web-work-envelope-a', marks('a'))],
      name: 'web-work-envelope-a',
      told: 0,
    },
    {
      it: 'is no other envelope’s',
      own: [known('web-work-envelope-b', marks('b')), known('web-work-envelope-c', marks('a', 'other'))],
      name: 'web-0-envelope-a',
      told: 0,
    },
    {
      it: 'is the one with the expected name if there are several, which is reported',
      own: [known('copy', marks('a')), known('web-0-envelope-a', marks('a'))],
      name: 'web-0-envelope-a',
      told: 1,
    },
    {
      it: 'is the first by name if none has the expected one',
      own: [known('web-work-envelope-a', marks('a')), known('copy', marks('a'))],
      name: 'copy',
      told: 1,
    },
  ])('$it', ({ own, name, told }) => {
    const plain = desired('web-work');
    const found = envelopesAsNamed([plain, desired('web-0-envelope-a', marks('a'))], own);
    expect(found.desired.map((each) => each.name)).toEqual(['web-work', name]);
    expect(found.duplicates).toHaveLength(told);
  });

  test('reports which of several is kept', () => {
    const own = [known('copy', marks('a')), known('web-work-envelope-a', marks('a'))];
    expect(envelopesAsNamed([desired('web-work-envelope-a', marks('a'))], own).duplicates).toEqual([
      'ResourceEnvelope "a" has 2 Works for this cluster: "web-work-envelope-a" is kept, "copy" will be deleted',
    ]);
  });
});
