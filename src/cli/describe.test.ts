import { expect, test } from 'vitest';
import type { KubeObject } from '../api/object.ts';
import { placement } from '../api/placement.ts';
import type { Request } from '../api/transport.ts';
import type { Connected } from './connect.ts';
import { describe } from './describe.ts';

test('what happened to an object is told in the order in which it happened', async () => {
  const event = (reason: string, second: number): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: reason },
    type: 'Normal',
    reason,
    lastTimestamp: `2026-01-01T00:00:0${second}Z`,
  });
  const object: KubeObject = { apiVersion: 'x/v1', kind: 'Thing', metadata: { name: 'web' } };
  const items = [event('Third', 3), event('First', 1), event('Second', 2)];
  const server = {
    catalogue: { byWord: () => placement.cluster },
    transport: { call: async ({ verb }: Request) => (verb === 'get' ? { object } : { list: { items } }) },
  } as unknown as Connected;
  const lines: string[] = [];
  const line = (text: string) => void lines.push(text);
  await describe(server, 'crp', 'web', { line, warning: line, error: line });
  expect(lines.join('\n').match(/First|Second|Third/g)).toEqual(['First', 'Second', 'Third']);
});
