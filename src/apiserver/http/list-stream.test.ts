import { expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import type { Stored } from '../store/store.ts';
import { CHUNK_PARSED_BYTES, type ListAnswer, sendList } from './list-stream.ts';
import type { Exchange } from './respond.ts';

const WEIGHT = CHUNK_PARSED_BYTES / 4;

/** Counts the turns of the event loop between the chunks of a response. */
function anExchange() {
  const chunks: string[] = [];
  const turnsAt: number[] = [];
  let turns = 0;
  let timer: NodeJS.Immediate | undefined;
  const tick = () => {
    turns++;
    timer = setImmediate(tick);
  };
  tick();
  const take = (bytes?: Uint8Array) => {
    if (bytes === undefined) return true;
    chunks.push(Buffer.from(bytes).toString());
    turnsAt.push(turns);
    return true;
  };
  const response = { writeHead() {}, write: take, end: take, once() {}, removeListener() {}, destroyed: false };
  const exchange = { response, auditId: 'a', isLast: false, warnings: new Set() } as unknown as Exchange;
  return { exchange, chunks, turnsAt, stop: () => timer && clearImmediate(timer) };
}

function listOf(count: number, form: ListAnswer['representation']['form']): { answer: ListAnswer; parsed: string[] } {
  const parsed: string[] = [];
  const items = Array.from({ length: count }, (_, at): Stored => {
    const object: KubeObject = { apiVersion: 'v1', kind: 'Thing', metadata: { name: `t-${at}`, resourceVersion: '1' } };
    return {
      key: `t-${at}`,
      revision: 1,
      weight: WEIGHT,
      object() {
        parsed.push(`t-${at}`);
        return object;
      },
      bytes: () => Buffer.from(JSON.stringify(object)),
    };
  });
  const version = { version: 'v1', table: { columns: [], cells: () => [] } };
  const resource = { group: '', kind: 'Thing', listKind: 'ThingList', stored: version, custom: true };
  const representation = { form, version: 'v1', contentType: 'application/json' };
  const answer = { at: { resource, version }, listed: { items, revision: 7 }, representation, include: 'None', now: 0 };
  return { answer: answer as unknown as ListAnswer, parsed };
}

test.each(['table', 'metadata-list', 'yaml'] as const)(
  'a list of large objects as %s lets other requests go first between its chunks',
  async (form) => {
    const { exchange, chunks, turnsAt, stop } = anExchange();
    const { answer, parsed } = listOf(13, form);
    const sent = sendList(exchange, answer);
    expect(parsed.length).toBe(4);
    await sent;
    stop();
    expect(parsed).toEqual(Array.from({ length: 13 }, (_, at) => `t-${at}`));
    expect(turnsAt.length).toBe(4);
    for (const [at, turn] of turnsAt.slice(1).entries()) expect(turn).toBeGreaterThan(turnsAt[at] as number);
    const whole = chunks.join('');
    for (const name of form === 'table' ? [] : parsed) expect(whole).toContain(`${name}`);
    if (form === 'table') expect(JSON.parse(whole).rows).toHaveLength(13);
  },
);

test('a list of few objects leaves at once, in one piece', () => {
  const { exchange, chunks, stop } = anExchange();
  expect(sendList(exchange, listOf(3, 'table').answer)).toBeUndefined();
  stop();
  expect(chunks).toHaveLength(1);
  expect(JSON.parse(chunks[0] as string).rows).toHaveLength(3);
});
