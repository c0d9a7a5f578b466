import { expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { aPlacement } from '../../insight/placement.testing.ts';
import { printing, serving } from '../served.testing.ts';
import { describe } from './describe.ts';

test('what happened to an object is told in the order in which it happened', async () => {
  const { subject, write, server } = await serving([aPlacement()]);
  const { kind, metadata } = await subject.cluster.get('clusterresourceplacements', undefined, 'web');
  const event = (reason: string, second: number): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: reason.toLowerCase(), namespace: 'default' },
    involvedObject: { kind, name: 'web', uid: metadata.uid ?? '' },
    type: 'Normal',
    reason,
    lastTimestamp: `2026-01-01T00:00:0${second}Z`,
  });
  for (const [reason, second] of [
    ['Alpha', 3],
    ['Beta', 1],
    ['Gamma', 2],
  ] as const)
    await write(event(reason, second));
  const { print, text } = printing();
  await describe(await server(), 'crp', 'web', print);
  expect(text().match(/Alpha|Beta|Gamma/g)).toEqual(['Beta', 'Gamma', 'Alpha']);
});
