// What clients should not send, over https against the built program: a Status with the right code and text, and the server goes on.
// With WIRE_KUBECONFIG set to that of a real Kubernetes 1.34, the rows that are not `ours` alone are held against it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  bodies,
  CM,
  CRP,
  crp,
  identities,
  map,
  NAMESPACE,
  patches,
  paths,
  queries,
  type Row,
  selectors,
} from '../judge/scripts/bad-input-rows.ts';
import { call, type Reply, rawSocket } from './https.ts';
import { knownDifferences } from './known.ts';
import { type Server, startServer } from './server.ts';

const real = process.env['WIRE_KUBECONFIG'];
describe('what clients should not send', () => {
  let server: Server | undefined;
  let kubeconfig: string;
  const ask = (row: Row): Promise<Reply> =>
    call(kubeconfig, row.method ?? (row.body === undefined ? 'GET' : 'POST'), row.path, row);

  beforeAll(async () => {
    if (real === undefined) server = await startServer();
    kubeconfig = real ?? (server as Server).kubeconfig;
    await call(kubeconfig, 'POST', '/api/v1/namespaces', { body: `{"metadata":{"name":"${NAMESPACE}"}}` });
    await call(kubeconfig, 'POST', CM, { body: map('there', ',"data":{"a":"1"}') });
    await call(kubeconfig, 'POST', CRP, { body: crp('there', `{${selectors}}`) });
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  describe.each([
    { what: 'bodies', rows: bodies },
    { what: 'patches and deletions', rows: patches },
    { what: 'paths and methods', rows: paths },
    { what: 'queries', rows: queries },
    { what: 'identities', rows: identities },
  ])('$what', ({ rows }) => {
    test.each(rows.filter((row) => real === undefined || !row.ours))('$it', async (row) => {
      if (row.ours) expect(knownDifferences).toContain(row.ours);
      const reply = await ask(row);
      expect(reply.code, reply.text.slice(0, 500)).toBe(row.code);
      if (row.text !== undefined) expect(reply.text).toBe(row.text);
      else if (row.code >= 400)
        expect(reply.json).toMatchObject({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: row.code });
      if (row.reason !== undefined) expect(reply.json).toMatchObject({ reason: row.reason });
      if (row.says instanceof RegExp) expect(reply.json?.['message']).toMatch(row.says);
      else if (row.says !== undefined) expect(reply.json).toMatchObject({ message: row.says });
      // No answer repeats what it was sent without end.
      expect(reply.text.length).toBeLessThan(300_000);
    });
  });

  test('keys like __proto__ are data or unknown, and change nothing else', async () => {
    const name = 'proto';
    const body = `{"metadata":{"name":"${name}","labels":{"__proto__":"x","constructor":"y"}},"data":{"__proto__":"1","toString":"2","constructor":"3"},"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}}`;
    const created = await call(kubeconfig, 'POST', CM, { body });
    expect([201, 422]).toContain(created.code);
    const plain = await call(kubeconfig, 'POST', CM, { body: map('plain') });
    expect(plain.text).not.toContain('polluted');
    const patch = {
      body: '{"__proto__":{"polluted":"yes"},"data":{"__proto__":"4","constructor":"5"}}',
      headers: { 'content-type': 'application/merge-patch+json' },
    };
    const patched = await call(kubeconfig, 'PATCH', `${CM}/plain`, patch);
    expect(patched.code).toBe(200);
    expect(patched.text).not.toContain('polluted');
    expect(patched.text).toContain('"constructor":"5"');
    const again = await call(kubeconfig, 'GET', `${CM}/there`);
    expect(again.json).toMatchObject({ data: { a: '1' } });
    expect(Object.keys((again.json as { data: object }).data)).toEqual(['a']);
  });

  describe.skipIf(real !== undefined)('on the socket itself', () => {
    const converse = async (send: string, waitFor: RegExp): Promise<string> => {
      const socket = await rawSocket(kubeconfig);
      let text = '';
      return new Promise<string>((resolve) => {
        const finish = () => {
          socket.destroy();
          resolve(text);
        };
        socket.on('data', (chunk) => {
          text += String(chunk);
          if (waitFor.test(text)) finish();
        });
        socket.on('close', finish);
        socket.on('error', finish);
        socket.write(send);
      });
    };

    test.each([
      { it: 'no HTTP', send: 'hello\r\n\r\n', answer: /^HTTP\/1.1 400/ },
      {
        it: 'headers of a megabyte',
        send: `GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(1_000_000)}\r\n\r\n`,
        answer: /^HTTP\/1.1 431/,
      },
      {
        it: 'two lengths',
        send: 'POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!',
        answer: /^HTTP\/1.1 400/,
      },
      {
        it: 'a length and chunks',
        send: 'POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
        answer: /^HTTP\/1.1 400/,
      },
      {
        it: 'a line end inside a header',
        send: 'GET /healthz HTTP/1.1\r\nHost: x\r\nX: a\nb\r\n\r\n',
        answer: /^HTTP\/1.1 400/,
      },
      {
        it: 'an upgrade',
        send: `GET ${CM} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
        answer: /^HTTP\/1.1 200/,
      },
    ])('$it', async ({ send, answer }) => {
      expect(await converse(send, /\r\n\r\n/)).toMatch(answer);
    });

    test('requests that never end do not keep others waiting', async () => {
      const sockets = await Promise.all(Array.from({ length: 50 }, () => rawSocket(kubeconfig)));
      for (const socket of sockets) {
        socket.on('error', () => {});
        socket.write(
          'POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{',
        );
      }
      expect((await call(kubeconfig, 'GET', '/readyz')).text).toBe('ok');
      for (const socket of sockets) socket.destroy();
    });

    test('the server is still there, and has said nothing of faults of its own', async () => {
      expect((await call(kubeconfig, 'GET', '/readyz')).text).toBe('ok');
      expect(server?.process.exitCode).toBeNull();
      expect(server?.output()).not.toMatch(/Error|at .*\.js/);
    });
  });
});
