import { expect, test } from 'vitest';
import { testClock } from '../../../test/cluster.ts';
import { followOwnServer, propertiesOf } from './own-server.ts';

const MINUTE = 60_000;
const drained = async () => {
  for (let i = 0; i < 20; i++) await undefined;
};

test('the version is read at the start, and every 15 minutes while it is asked for', async () => {
  const clock = testClock();
  const versions = ['v1.33.0', 'v1.34.0'];
  let reads = 0;
  const own = await followOwnServer({ clock, entrypoint: 'https://east', readVersion: async () => versions[reads++] });
  expect(own()).toEqual({ entrypoint: 'https://east', version: 'v1.33.0' });
  clock.advance(14 * MINUTE);
  own();
  await drained();
  expect(reads).toBe(1);
  clock.advance(MINUTE);
  expect(own().version).toBe('v1.33.0');
  own();
  await drained();
  expect(own().version).toBe('v1.34.0');
  expect(reads).toBe(2);
});

test('a server that fails or hangs keeps the version of before, and is asked again', async () => {
  const clock = testClock();
  let answer: () => Promise<string | undefined> = () => Promise.reject(new Error('down'));
  const own = await followOwnServer({ clock, readVersion: () => answer() });
  expect(own()).toEqual({});
  answer = async () => 'v1.34.0';
  clock.advance(MINUTE);
  own();
  await drained();
  expect(own()).toEqual({ version: 'v1.34.0' });
  answer = () => new Promise(() => {});
  clock.advance(15 * MINUTE);
  own();
  clock.advance(MINUTE);
  await drained();
  expect(own()).toEqual({ version: 'v1.34.0' });
});

test('the start does not wait for a server that hangs', async () => {
  const clock = testClock();
  const started = followOwnServer({ clock, readVersion: () => new Promise(() => {}) });
  clock.advance(10_000);
  expect((await started)()).toEqual({});
});

test('certificates are reported in one line', () => {
  const at = Date.parse('2026-01-01T00:00:00Z');
  const found = propertiesOf({ version: 'v1.34.0', certificates: 'a\nb' }, at);
  expect(Object.fromEntries(Object.entries(found).map(([name, { value }]) => [name, value]))).toEqual({
    'k8s.io/k8s-version': 'v1.34.0',
    'k8s.io/cluster-certificate-authority-data': Buffer.from('a\nb').toString('base64'),
  });
});
