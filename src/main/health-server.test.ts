import { request } from 'node:http';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { Manager } from '../runtime/manager.ts';
import { HOST } from './embedded.ts';
import { serveHealth } from './health-server.ts';

const without = { name: 'hub', detail: 'is starting', isReady: false };
const running = (synced: boolean) =>
  ({
    state: () => ({
      controllers: [{ name: 'membership' }],
      sources: [{ name: 'hub/v1/namespaces', optional: false, synced, failures: 0 }],
      stopped: false,
    }),
  }) as unknown as Manager;

test.each([
  { it: 'nothing runs yet', manager: undefined, live: 200, ready: 503, says: '[-]hub is starting' },
  {
    it: 'it reads',
    manager: running(false),
    live: 200,
    ready: 503,
    says: '[-]source hub/v1/namespaces not yet listed',
  },
  { it: 'all is read', manager: running(true), live: 200, ready: 200, says: '[+]source hub/v1/namespaces ok' },
])('health is told while $it', async ({ manager, live, ready, says }) => {
  await using served = await serveHealth({
    port: 0,
    host: HOST,
    manager: () => manager,
    without,
    metrics: new Registry(),
  });
  const ask = (path: string) => fetch(`http://${HOST}:${served.port}${path}`);
  expect((await ask('/healthz')).status).toBe(live);
  const readyz = await ask('/readyz?verbose');
  expect(readyz.status).toBe(ready);
  expect(await readyz.text()).toContain(`${says}\n`);
  if (ready === 200) expect(await (await ask('/readyz')).text()).toBe('ok\n');
  expect((await ask('/nothing')).status).toBe(404);
});

test('a replica that does not lead is ready to', async () => {
  const standingBy = { name: 'leader', detail: 'another replica leads', isReady: true };
  await using served = await serveHealth({
    port: 0,
    host: HOST,
    manager: () => undefined,
    without: standingBy,
    metrics: new Registry(),
  });
  const answer = await fetch(`http://${HOST}:${served.port}/readyz?verbose`);
  expect([answer.status, await answer.text()]).toEqual([200, '[+]leader another replica leads\nreadyz check passed\n']);
});

test('a port in use is told in one sentence', async () => {
  const options = { host: HOST, manager: () => undefined, without, metrics: new Registry() };
  await using served = await serveHealth({ ...options, port: 0 });
  await expect(serveHealth({ ...options, port: served.port })).rejects.toThrow(
    /^cannot serve health on port \d+: .*; choose another with --health-port$/,
  );
});

test('a request for a name is refused: a page could let a name of its own point here', async () => {
  const options = { host: HOST, manager: () => undefined, without, metrics: new Registry() };
  await using served = await serveHealth({ ...options, port: 0 });
  const ask = (host: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      request({ host: HOST, port: served.port, path: '/metrics', headers: { host } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
  for (const host of ['evil.example', `evil.example:${served.port}`, 'localhost.evil.example']) {
    expect(await ask(host), host).toBe(403);
  }
  for (const host of [`127.0.0.1:${served.port}`, 'localhost', '10.1.2.3:8080', '[::1]:80', '[fd00::1]']) {
    expect(await ask(host), host).toBe(200);
  }
});
