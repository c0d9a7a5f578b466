import { connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { aCluster, aConfigMap, aServer, type TestServer } from './server.testing.ts';

let server: TestServer;
const failures: unknown[] = [];
afterEach(async () => {
  // Whatever was sent, there was no internal error, and the server still responds.
  expect((await server.call('GET', '/healthz')).text).toBe('ok');
  expect(failures.splice(0)).toEqual([]);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  await server.close();
});

const CM = '/api/v1/namespaces/default/configmaps';
const start = async (...[cluster, options]: Parameters<typeof aServer>) => {
  server = await aServer(cluster, { onFailure: (error) => failures.push(error), ...options });
};
const posting = (body: string | Uint8Array, type = 'application/json') =>
  server.call('POST', CM, { headers: { 'content-type': type }, body });

const aSocket = (text: string): Promise<Socket> =>
  new Promise((resolve) => {
    const socket = connect(server.port, '127.0.0.1', () => {
      socket.write(text);
      resolve(socket);
    });
    socket.on('error', () => {});
  });
const closed = (socket: Socket) =>
  new Promise<string>((resolve) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('close', () => resolve(text));
  });
const head = (line: string, ...more: string[]) =>
  `${line} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n${more.map((each) => `${each}\r\n`).join('')}\r\n`;

describe('a body', () => {
  test.each([
    { it: 'of broken JSON', body: '{"a":', code: 400 },
    { it: 'of nothing', body: '', code: 400 },
    { it: 'of an array', body: '[]', code: 400 },
    { it: 'of bytes that are no text', body: Buffer.from([0xff, 0xfe, 0, 1]), code: 400 },
    { it: 'nested 100,000 deep', body: `${'['.repeat(100_000)}${']'.repeat(100_000)}`, code: 400 },
    {
      it: 'nested 100,000 deep in a field',
      body: `{"data":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`,
      code: 400,
    },
    { it: 'of broken YAML', body: 'a: [b', type: 'application/yaml', code: 400 },
    { it: 'of YAML nested deep', body: `a: ${'- '.repeat(20_000)}b`, type: 'application/yaml', code: 400 },
    { it: 'of much YAML', body: 'a: b\n'.repeat(100_000), type: 'application/yaml', code: 400 },
    { it: 'of no protobuf', body: 'abc', type: 'application/vnd.kubernetes.protobuf', code: 400 },
    {
      it: 'of broken protobuf',
      body: Buffer.from('k8s\0\x0a\xff\xff\xff\xff\x0f', 'latin1'),
      type: 'application/vnd.kubernetes.protobuf',
      code: 400,
    },
    { it: 'of another type', body: '{}', type: 'text/plain', code: 415 },
    { it: 'of a type that is none', body: '{}', type: ';;;', code: 415 },
  ])('$it is refused with a Status', async ({ body, type, code }) => {
    await start();
    const reply = await posting(body, type);
    expect(reply.json).toMatchObject({ kind: 'Status', status: 'Failure', code });
    expect(reply.code).toBe(code);
    expect(reply.text.length).toBeLessThan(2_000);
  });

  test('of 10 MB is refused as soon as its length is known, and the client can read why', async () => {
    await start();
    const reply = await posting(Buffer.alloc(10 * 1024 * 1024, 'a'));
    expect(reply.json).toMatchObject({ code: 413, message: 'Request entity too large: limit is 3145728' });
  });

  test('of 10 MB is read to its end after the answer, also for a client that keeps no connection', async () => {
    await start();
    const size = 10 * 1024 * 1024;
    const socket = await aSocket(
      head(`POST ${CM}`, 'Content-Type: application/json', `Content-Length: ${size}`, 'Connection: close'),
    );
    let isEnded = false;
    socket.once('end', () => {
      isEnded = true;
    });
    await new Promise<void>((resolve) => {
      let text = '';
      socket.on('data', (chunk) => {
        text += String(chunk);
        if (/"code":413\}/.test(text)) resolve();
      });
    });
    expect((await server.call('GET', '/healthz')).text).toBe('ok');
    expect(isEnded).toBe(false);
    const text = closed(socket);
    socket.write(Buffer.alloc(size, 'a'));
    await text;
    expect(socket.errored).toBeNull();
  });

  test('of 10 MB in chunks is refused too', async () => {
    await start();
    const chunk = 'a'.repeat(64 * 1024);
    const socket = await aSocket(head(`POST ${CM}`, 'Content-Type: application/json', 'Transfer-Encoding: chunked'));
    const text = closed(socket);
    for (let i = 0; i < 160; i++) socket.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
    socket.end('0\r\n\r\n');
    expect(await text).toMatch(/^HTTP\/1\.1 413 [\s\S]*"code":413/);
  });

  test('with __proto__ keys changes nothing but itself', async () => {
    await start();
    const body =
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"p","__proto__":{"polluted":1}},"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    expect((await posting(body)).code).toBe(201);
    const patch = {
      headers: { 'content-type': 'application/merge-patch+json' },
      body: '{"__proto__":{"polluted":1},"data":{"\\u005f_proto__":"x"}}',
    };
    expect((await server.call('PATCH', `${CM}/p`, patch)).code).toBe(200);
    const { text } = await server.call('GET', `${CM}/p`);
    expect(text).toContain('"data":{"__proto__":"x"}');
    // This kind has no schema, so unknown fields stay, whatever their names.
    expect(text).toContain('"__proto__":{"polluted":1},"constructor"');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect((await server.call('GET', '/api/v1/namespaces/__proto__/configmaps/constructor')).code).toBe(404);
    expect((await server.call('GET', '/apis/__proto__/v1/toString')).code).toBe(404);
  });
});

describe('a request', () => {
  test('with a huge selector is answered', async () => {
    await start(undefined, { limits: { headerBytes: 256 * 1024 } });
    const selector = encodeURIComponent(`a in (${'x,'.repeat(30_000)}y)`);
    const reply = await server.call('GET', `${CM}?labelSelector=${selector}`);
    expect([200, 400]).toContain(reply.code);
    expect((await server.call('GET', `${CM}?labelSelector=${'('.repeat(50_000)}`)).code).toBe(400);
    expect((await server.call('GET', `${CM}?fieldSelector=${'a,'.repeat(50_000)}`)).code).toBe(400);
  });

  test('with a continue token of somebody else is a 400', async () => {
    await start();
    for (const token of [
      'foo',
      '%00',
      Buffer.from('{"v":"meta.k8s.io/v1","rv":-1,"start":"../../x"}').toString('base64url'),
    ]) {
      expect((await server.call('GET', `${CM}?limit=1&continue=${token}`)).json).toMatchObject({
        code: 400,
        message: expect.stringContaining('invalid continue token'),
      });
    }
  });

  test('with headers without end is cut off', async () => {
    await start(undefined, { limits: { headerBytes: 16 * 1024 } });
    const flood = Array.from({ length: 500 }, (_, i) => `X-${i}: ${'y'.repeat(100)}`);
    expect(await closed(await aSocket(head('GET /api', ...flood)))).toMatch(/^HTTP\/1\.1 431 /);
    expect(await closed(await aSocket(`GET /${'a'.repeat(20_000)} HTTP/1.1\r\n\r\n`))).toMatch(/^HTTP\/1\.1 431 /);
  });

  test('whose headers or body never come is cut off', async () => {
    await start(undefined, { limits: { headersMs: 60, requestMs: 120, checkMs: 20 } });
    const [slowHead, slowBody] = [
      await aSocket('GET /api HTTP/1.1\r\nHost: x\r\nX-A: '),
      await aSocket(`${head(`POST ${CM}`, 'Content-Type: application/json', 'Content-Length: 100')}{"a"`),
    ];
    const [first, second] = await Promise.all([closed(slowHead), closed(slowBody)]);
    expect(first).toMatch(/^HTTP\/1\.1 408 /);
    expect(second).toMatch(/^(HTTP\/1\.1 408 |$)/);
  });

  test('of no HTTP is answered with 400', async () => {
    await start();
    for (const bytes of [
      '\x16\x03\x01\x02\0',
      'hello\r\n\r\n',
      'GET\r\n\r\n',
      'GET / HTTP/9.9\r\n\r\n',
      '\0\0\0\0\r\n\r\n',
    ]) {
      expect(await closed(await aSocket(bytes)), JSON.stringify(bytes)).toMatch(/^HTTP\/1\.1 (400|505)/);
    }
    expect(await server.raw(head('GET /api', 'Content-Length: 1', 'Transfer-Encoding: chunked'))).toMatch(
      /^HTTP\/1\.1 400/,
    );
  });

  test('for an upgrade is answered like any other', async () => {
    await start();
    const path = '/api/v1/namespaces/default/pods/p/exec?command=sh';
    const upgrade = head(
      `GET ${path}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Key: x',
      'Sec-WebSocket-Version: 13',
    );
    expect(await server.raw(upgrade, /containers/)).toMatch(/^HTTP\/1\.1 501 [\s\S]*"kind":"Status"/);
    expect(
      await server.raw(
        head(`POST ${path}`, 'Connection: Upgrade', 'Upgrade: SPDY/3.1', 'Content-Length: 0'),
        /containers/,
      ),
    ).toMatch(/^HTTP\/1\.1 501 /);
  });

  test('behind another one on the same connection gets its answer in turn', async () => {
    const cluster = aCluster();
    cluster.seed(['a', 'b'].map((name) => aConfigMap(name)));
    await start(cluster);
    const body = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}';
    const text = await server.raw(
      head(`GET ${CM}/a`) +
        head(`POST ${CM}`, 'Content-Type: application/json', `Content-Length: ${body.length}`) +
        body +
        head(`GET ${CM}/c`) +
        head(`GET ${CM}/none`) +
        head(`GET ${CM}/b`, 'Connection: close'),
    );
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map((found) => found[1])).toEqual([
      '200',
      '201',
      '200',
      '404',
      '200',
    ]);
  });

  test('behind a watch waits, but not with a thousand others', async () => {
    await start();
    const socket = await aSocket(head(`GET ${CM}?watch=1`) + head(`GET ${CM}`));
    await new Promise((resolve) => socket.once('data', resolve));
    expect(server.load).toMatchObject({ watches: 1, requests: 0 });
    const end = closed(socket);
    for (let i = 0; i < 100; i++) socket.write(head('GET /version'));
    await end;
  });

  test('whose client goes away harms nobody: while it sends, in a long list, in a watch', async () => {
    const cluster = aCluster();
    cluster.seed(Array.from({ length: 300 }, (_, i) => aConfigMap(`big-${i}`, { text: 'x'.repeat(50_000) })));
    await start(cluster);
    const sending = await aSocket(`${head(`POST ${CM}`, 'Content-Type: application/json', 'Content-Length: 100')}{"a"`);
    const listing = await aSocket(head(`GET ${CM}`));
    const watching = await aSocket(head(`GET ${CM}?watch=1`));
    const tables = await aSocket(
      head(`GET ${CM}?includeObject=Object`, 'Accept: application/json;as=Table;v=v1;g=meta.k8s.io'),
    );
    for (const socket of [listing, watching, tables]) await new Promise((resolve) => socket.once('data', resolve));
    for (const socket of [sending, listing, watching, tables]) socket.destroy();
    while (server.load.watches > 0 || server.load.requests > 0) await server.call('GET', '/healthz');
  });

  test('beyond those that fit is told to come again', async () => {
    const cluster = aCluster({ verbs: { create: () => new Promise(() => {}) } });
    await start(cluster, { limits: { requests: 2 }, plainHttp: { user: { name: 'me', groups: [] } } });
    const stuck = await Promise.all([1, 2].map(() => aSocket(`${head(`POST ${CM}`, 'Content-Length: 2')}{}`)));
    let reply = await server.call('GET', `${CM}/x`);
    while (reply.code === 404) reply = await server.call('GET', `${CM}/x`);
    expect(reply.json).toMatchObject({ code: 429, reason: 'TooManyRequests' });
    expect(reply.headers['retry-after']).toBe('1');
    for (const socket of stuck) socket.destroy();
    server.clusters.set('', aCluster());
    await server.close();
    await start();
  });
});

describe('anything at all', () => {
  const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY');
  const segment = fc.constantFrom(
    'api',
    'apis',
    'v1',
    'apps',
    'namespaces',
    'default',
    'configmaps',
    'deployments',
    'x',
    '..',
    '.',
    '',
    '%2e%2e',
    '%2F',
    '%',
    '%00',
    'status',
    'scale',
    'watch',
    'clusters',
    'root',
    '__proto__',
    'constructor',
    'example.dev',
    'widgets',
    'healthz',
    'openapi',
    'v3',
    'log',
  );
  const parameter = fc.tuple(
    fc.constantFrom(
      'watch',
      'limit',
      'continue',
      'labelSelector',
      'fieldSelector',
      'resourceVersion',
      'resourceVersionMatch',
      'timeoutSeconds',
      'dryRun',
      'fieldManager',
      'fieldValidation',
      'force',
      'includeObject',
      'propagationPolicy',
      'exclude',
      'hash',
      'sendInitialEvents',
      'allowWatchBookmarks',
    ),
    fc.constantFrom(
      '',
      '0',
      '1',
      'true',
      '-1',
      'abc',
      'All',
      'Exact',
      'a=b',
      'metadata.name=x',
      '%00',
      '%ff',
      '99999999999999999999',
      '__proto__',
    ),
  );
  const header = fc.constantFrom(
    'Accept: */*',
    'Accept: text/html',
    'Accept: application/yaml',
    'Accept: application/json;as=Table;v=v1;g=meta.k8s.io',
    'Accept: ;;;q=,,',
    'Content-Type: application/json',
    'Content-Type: application/yaml',
    'Content-Type: application/vnd.kubernetes.protobuf',
    'Content-Type: application/merge-patch+json',
    'Content-Type: application/json-patch+json',
    'Content-Type: application/apply-patch+yaml',
    'Content-Type: application/strategic-merge-patch+json',
    'Authorization: Bearer \xff',
    'Impersonate-User: bob',
    'User-Agent: \x7f/1',
    'If-None-Match: "x"',
    'Expect: 100-continue',
    'X-Empty:',
  );
  const body = fc.oneof(
    fc.constantFrom(
      '',
      '{}',
      '[]',
      'null',
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"}}',
      '[{"op":"add","path":"/a","value":1}]',
      'a: b',
      '{"__proto__":{"polluted":1}}',
      '{"metadata":null}',
      '{"metadata":{"name":5,"labels":[]}}',
      'k8s\0\x0a\x02\x0a\x00',
    ),
    fc.json(),
    fc.string(),
  );

  test('gets an answer, and the server lives', async () => {
    await start(undefined, { limits: { requestMs: 2_000, headersMs: 2_000, checkMs: 100 } });
    await fc.assert(
      fc.asyncProperty(
        method,
        fc.array(segment, { maxLength: 7 }),
        fc.array(parameter, { maxLength: 3 }),
        fc.array(header, { maxLength: 4 }),
        body,
        async (verb, segments, parameters, headers, content) => {
          const query = [...parameters, ['timeoutSeconds', '1'] as const].map((pair) => pair.join('=')).join('&');
          const isWatch = parameters.some(([name]) => name === 'watch') || segments.includes('watch');
          const bytes = Buffer.from(content);
          const request = head(
            `${verb} /${segments.join('/')}?${query}`,
            ...headers,
            `Content-Length: ${bytes.length}`,
            'Connection: close',
          );
          const answer = await server.raw(
            Buffer.concat([Buffer.from(request, 'latin1'), bytes]),
            isWatch ? /\r\n\r\n/ : undefined,
          );
          expect(answer).toMatch(/^HTTP\/1\.1 (100 Continue\r\n\r\nHTTP\/1\.1 )?\d{3} /);
          expect(answer).not.toMatch(/^HTTP\/1\.1 (100 Continue\r\n\r\nHTTP\/1\.1 )?500 /);
        },
      ),
      { endOnFailure: true },
    );
  });
});
