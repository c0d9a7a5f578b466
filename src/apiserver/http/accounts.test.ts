// Limits per identity: a client above its limit is rejected, and no other client is affected.
import type { ClientRequest } from 'node:http';
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import { type TLSSocket, connect as tlsConnect } from 'node:tls';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { testClock } from '../../../test/cluster.ts';
import type { KubeObject } from '../../api/object.ts';
import { wallClock } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import { systemRandom } from '../../base/random.ts';
import { createAuthority, DAY_MS, issueServerCertificate } from '../auth/certificates.ts';
import { type Account, type AccountOptions, createAccounts, type Limited } from './accounts.ts';
import { defaultLimits, type Limits } from './limits.ts';
import { aCluster, aConfigMap, type TestClusterOptions } from './server.testing.ts';
import { type Listening, serve } from './server.ts';

const user = (name: string, ...groups: readonly string[]) => ({ name, groups });
/** A busy machine may be slow. */
const eventually = (check: () => unknown) => vi.waitFor(check, { timeout: 60_000, interval: 10 });
const refusal = (attempt: () => unknown): number | undefined => {
  try {
    attempt();
  } catch (error) {
    return (error as ApiError).code;
  }
  return undefined;
};

describe('an account', () => {
  const limits = {
    requests: 1000,
    watches: 1000,
    requestsPerUser: 2,
    watchesPerUser: 2,
    unsentBytesPerUser: 100,
    unsentBytes: 3_000_000,
  };
  const book = (more: Partial<AccountOptions> = {}) => createAccounts({ limits, clock: testClock(), ...more });

  test('has so many requests at a time, and as many more as end', () => {
    const accounts = book();
    const first = accounts.enter(user('x'));
    accounts.enter(user('x'));
    const error = (() => {
      try {
        accounts.enter(user('x'));
      } catch (thrown) {
        return thrown as ApiError;
      }
      return undefined;
    })();
    expect(error).toMatchObject({ code: 429, reason: 'TooManyRequests', details: { retryAfterSeconds: 1 } });
    expect(refusal(() => accounts.enter(user('y')))).toBeUndefined();
    first.leave();
    expect(refusal(() => accounts.enter(user('x')))).toBeUndefined();
  });

  test('has so many watches at a time', () => {
    const account = book().enter(user('x'));
    account.openWatch();
    account.openWatch();
    expect(refusal(() => account.openWatch())).toBe(429);
    account.closeWatch();
    expect(refusal(() => account.openWatch())).toBeUndefined();
  });

  test('gets no more while so much is unread', () => {
    const accounts = book();
    const account = accounts.enter(user('x'));
    account.addUnsent(100);
    expect(account.isUnread()).toBe(false);
    account.addUnsent(1);
    expect(account.isUnread()).toBe(true);
    expect(refusal(() => accounts.enter(user('x')))).toBe(429);
    account.addUnsent(-1);
    expect(account.isUnread()).toBe(false);
  });

  test('is without limits for administrators, but for what all may have unread together', () => {
    const accounts = book();
    const admin = user('admin', 'system:masters');
    const all = Array.from({ length: 10 }, () => accounts.enter(admin));
    for (const account of all) account.openWatch();
    all[0]?.addUnsent(2_999_999);
    expect(all[1]?.isUnread()).toBe(false);
    all[1]?.addUnsent(2);
    expect(all[1]?.isUnread()).toBe(true);
    // A client that reads its data is not cut off because of others.
    const reader = accounts.enter(user('reader'));
    expect(reader.isUnread()).toBe(false);
  });

  test('takes one turn after the other, and keeps nobody else waiting', async () => {
    const accounts = book({ limits: { ...limits, requestsPerUser: 9 } });
    const order: string[] = [];
    const take = async (who: string, groups: readonly string[] = []) => {
      const end = await accounts.enter(user(who, ...groups)).takeTurn();
      order.push(who);
      return end;
    };
    const settle = () => new Promise((resolve) => setImmediate(resolve));
    const [first, second, third] = [take('x'), take('x'), take('x')];
    const others = [await take('y'), await take('root', ['system:masters']), await take('root', ['system:masters'])];
    await settle();
    expect(order).toEqual(['x', 'y', 'root', 'root']);
    (await first)();
    await settle();
    expect(order.slice(4)).toEqual(['x']);
    (await second)();
    (await third)();
    for (const end of others) end();
    expect(order.slice(4)).toEqual(['x', 'x']);
    (await take('x'))();
  });

  test('names whoever reached a limit once a minute, and counts every time', () => {
    const clock = testClock();
    const told: Limited[] = [];
    const accounts = book({ clock, onLimit: (what) => told.push(what) });
    accounts.enter(user('x'));
    accounts.enter(user('x'));
    for (let at = 0; at < 5; at++) refusal(() => accounts.enter(user('x')));
    expect(told).toEqual([{ user: 'x', limit: 'requests', max: 2 }]);
    clock.advance(60_000);
    refusal(() => accounts.enter(user('x')));
    expect(told).toHaveLength(2);
    expect(accounts.refused.get('requests')).toBe(6);
  });

  describe('when all together are at their maximum', () => {
    const few = { ...limits, requests: 12, watches: 12, requestsPerUser: 6, watchesPerUser: 6 };
    const enter = (accounts: ReturnType<typeof book>, who: string, count: number) =>
      Array.from({ length: count }, () => accounts.enter(user(who)));
    const full = () => {
      const told: Limited[] = [];
      const accounts = book({ limits: few, onLimit: (what) => told.push(what) });
      return { accounts, told, held: [...enter(accounts, 'a', 6), ...enter(accounts, 'b', 6)] };
    };

    test('lets one with less than its share in, and refuses it beyond that', () => {
      const { accounts, told } = full();
      expect(enter(accounts, 'c', 4)).toHaveLength(4);
      expect(refusal(() => accounts.enter(user('c')))).toBe(429);
      expect(told).toEqual([{ user: 'c', limit: 'share-of-requests', max: 4 }]);
      expect(accounts.refused.get('share-of-requests')).toBe(1);
      expect(enter(accounts, 'd', 3)).toHaveLength(3);
    });

    test('refuses those with more until there is room again', () => {
      const { accounts, held } = full();
      enter(accounts, 'c', 1);
      held[0]?.leave();
      expect(refusal(() => accounts.enter(user('a')))).toBe(429);
      held[1]?.leave();
      held[2]?.leave();
      expect(refusal(() => accounts.enter(user('a')))).toBeUndefined();
    });

    test('never refuses administrators and health checks, and counts neither', () => {
      const { accounts } = full();
      for (let at = 0; at < 100; at++) {
        accounts.enter(user('root', 'system:masters')).openWatch();
        accounts.enter(user('system:anonymous'), true);
      }
      expect(accounts.refused.get('share-of-requests')).toBe(0);
      expect(enter(accounts, 'c', 4)).toHaveLength(4);
    });

    test('watches are shared in the same way', () => {
      const { accounts, held, told } = full();
      for (const account of held) account.openWatch();
      const account = accounts.enter(user('c'));
      for (let at = 0; at < 4; at++) account.openWatch();
      expect(refusal(() => account.openWatch())).toBe(429);
      expect(told).toEqual([{ user: 'c', limit: 'share-of-watches', max: 4 }]);
      for (let at = 0; at < 5; at++) held[at]?.closeWatch();
      expect(refusal(() => account.openWatch())).toBeUndefined();
    });

    test('many users exceed it by their shares alone, and each of them has its share', () => {
      const who = fc.integer({ min: 0, max: 30 }).map((at) => `u${at}`);
      const step = fc.record({ who, isLeaving: fc.nat(5).map((roll) => roll === 0) });
      fc.assert(
        fc.property(fc.array(step, { maxLength: 300, size: 'max' }), (steps) => {
          const accounts = book({ limits: few });
          const open = new Map<string, Account[]>();
          const sum = () => [...open.values()].reduce((all, { length }) => all + length, 0);
          for (const step of steps) {
            const mine = open.get(step.who) ?? [];
            if (step.isLeaving) {
              mine.pop()?.leave();
              if (mine.length === 0) open.delete(step.who);
              continue;
            }
            const users = open.size + (mine.length === 0 ? 1 : 0);
            const share = Math.max(1, Math.floor(few.requests / users));
            const mayEnter = mine.length < 6 && (sum() < few.requests || mine.length < share);
            expect(refusal(() => mine.push(accounts.enter(user(step.who))))).toBe(mayEnter ? undefined : 429);
            if (mine.length > 0) open.set(step.who, mine);
            // 12 (1 + 1/2 + … + 1/31), and one for each user whose share is rounded up.
            expect(sum()).toBeLessThanOrEqual(12 * 4.1 + 31);
          }
          for (const account of [...open.values()].flat()) account.leave();
          expect(accounts.size).toBe(0);
        }),
      );
    });
  });

  test('leaves nothing behind, whatever happens in whatever order', () => {
    const action = fc.record({
      what: fc.constantFrom('enter', 'leave', 'openWatch', 'closeWatch', 'unsent', 'read'),
      who: fc.constantFrom('a', 'b', 'c'),
      isHealthCheck: fc.boolean(),
      bytes: fc.integer({ min: 1, max: 200 }),
    });
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60, size: 'max' }), (actions) => {
        const accounts = book();
        const open: { account: Account; inFlight: boolean; watches: number; unsent: number }[] = [];
        for (const { what, who, isHealthCheck, bytes } of actions) {
          const one = open.find(({ inFlight }) => inFlight);
          try {
            if (what === 'enter')
              open.push({ account: accounts.enter(user(who), isHealthCheck), inFlight: true, watches: 0, unsent: 0 });
            else if (what === 'openWatch' && one) {
              one.account.openWatch();
              one.watches++;
            } else if (what === 'unsent' && one) {
              one.account.addUnsent(bytes);
              one.unsent += bytes;
            } else if (what === 'leave' && one) {
              one.account.leave();
              one.inFlight = false;
            }
          } catch (error) {
            expect(error).toBeInstanceOf(ApiError);
          }
        }
        for (const { account, inFlight, watches, unsent } of open) {
          if (unsent > 0) account.addUnsent(-unsent);
          for (let at = 0; at < watches; at++) account.closeWatch();
          if (inFlight) account.leave();
        }
        expect(accounts.size).toBe(0);
      }),
    );
  });
});

// ---- over the wire

const issuing = { now: Date.now(), random: systemRandom, lifetimeMs: DAY_MS };
const authority = createAuthority({ ...issuing, name: 'ca' });
const own = issueServerCertificate(authority, { ...issuing, hosts: ['127.0.0.1'] });

describe('while one identity attacks', () => {
  let server: Listening | undefined;
  const agent = new Agent({ keepAlive: true, ca: authority.certificate });
  const sockets: TLSSocket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await server?.close();
    server = undefined;
  });

  const start = async (limits: Partial<Limits>, options: TestClusterOptions = {}) => {
    const cluster = aCluster(options);
    const told: Limited[] = [];
    server = await serve({
      clusters: () => cluster,
      host: '127.0.0.1',
      port: 0,
      tls: { key: own.privateKey, certificate: own.certificate, clientCa: authority.certificate },
      clock: wallClock,
      limits: { closeMs: 200, ...limits },
      onLimit: (what) => told.push(what),
    });
    return { cluster, told, listening: server };
  };
  const about = (path: string, who: string): RequestOptions => ({
    host: '127.0.0.1',
    port: server?.port,
    path,
    agent,
    headers: { authorization: `Bearer t-${who}` },
  });
  const get = (path: string, who: string) =>
    new Promise<{ code: number; retryAfter: string | undefined; text: string }>((resolve, reject) => {
      httpsRequest(about(path, who), (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () =>
          resolve({ code: response.statusCode ?? 0, retryAfter: response.headers['retry-after'], text }),
        );
      })
        .on('error', reject)
        .end();
    });
  const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
  /** A client that sends a request and never reads the response. */
  const deaf = (path: string, who: string) =>
    new Promise<TLSSocket>((resolve) => {
      const socket = tlsConnect({ host: '127.0.0.1', port: server?.port as number, ca: authority.certificate }, () => {
        socket.pause();
        socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer t-${who}\r\n\r\n`);
        resolve(socket);
      });
      socket.on('error', () => {});
      sockets.push(socket);
    });

  test('with requests, it gets 429 and a time to wait; another is answered', async () => {
    let release = () => {};
    const slow = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { told, listening } = await start(
      { requestsPerUser: 3 },
      {
        verbs: {
          list: async () => {
            await slow;
            return { items: [], revision: 1 };
          },
        },
      },
    );
    const held = Array.from({ length: 3 }, () => get(CONFIG_MAPS, 'mallory'));
    await eventually(() => expect(listening.load.requests).toBe(3));
    for (let at = 0; at < 5; at++) {
      expect(await get('/api/v1/namespaces/default', 'mallory')).toMatchObject({ code: 429, retryAfter: '1' });
    }
    expect((await get('/api/v1/namespaces/default', 'alice')).code).toBe(200);
    expect((await get('/metrics', 'alice')).text).toContain('flotilla_limited_total{limit="requests"} 5');
    expect(told).toEqual([{ user: 'mallory', limit: 'requests', max: 3 }]);
    release();
    expect((await Promise.all(held)).map(({ code }) => code)).toEqual([200, 200, 200]);
    expect((await get('/api/v1/namespaces/default', 'mallory')).code).toBe(200);
  });

  test('under many names, they have what they had; others get their share, administrators and health checks are never refused', async () => {
    let release = () => {};
    const slow = new Promise<void>((resolve) => {
      release = resolve;
    });
    const list = async () => {
      await slow;
      return { items: [], revision: 1 };
    };
    const { told, listening, cluster } = await start({ requests: 20, requestsPerUser: 2 }, { verbs: { list } });
    const { authenticate } = cluster;
    Object.assign(cluster, {
      authenticate: (request: Parameters<typeof authenticate>[0]) =>
        request.authorization === 'Bearer t-root' ? user('root', 'system:masters') : authenticate(request),
    });
    const sybils = Array.from({ length: 10 }, (_, at) => `mallory-${at}`);
    const held = sybils.flatMap((who) => [get(CONFIG_MAPS, who), get(CONFIG_MAPS, who)]);
    await eventually(() => expect(listening.load.requests).toBe(20));
    held.push(get(CONFIG_MAPS, 'alice'));
    await eventually(() => expect(listening.load.requests).toBe(21));
    const one = '/api/v1/namespaces/default';
    expect(await get(one, 'alice')).toMatchObject({ code: 429, retryAfter: '1' });
    expect(told).toEqual([{ user: 'alice', limit: 'share-of-requests', max: 1 }]);
    expect((await get(one, 'bob')).code).toBe(200);
    expect((await get(one, 'root')).code).toBe(200);
    for (const path of ['/readyz', '/livez?verbose', '/healthz/ping'])
      expect((await get(path, 'alice')).code).toBe(200);
    expect((await get('/metrics', 'root')).text).toContain('flotilla_limited_total{limit="share-of-requests"} 1');
    release();
    expect(new Set((await Promise.all(held)).map(({ code }) => code))).toEqual(new Set([200]));
    expect((await get(one, 'alice')).code).toBe(200);
  });

  test('with large bodies, they are carried out one after the other; another is not kept waiting', async () => {
    const begun: string[] = [];
    const releases: (() => void)[] = [];
    const { listening } = await start(
      {},
      {
        verbs: {
          create: async (_cluster, _at, body, { user: who }) => {
            const { name } = (body as KubeObject).metadata;
            begun.push(`${who.name} ${name}`);
            if (name === 'one') await new Promise<void>((resolve) => releases.push(resolve));
            throw new ApiError(422, 'Invalid', 'no');
          },
        },
      },
    );
    const post = (who: string, name: string, bytes: number) => {
      const body = JSON.stringify({ ...aConfigMap(name), data: { a: 'x'.repeat(bytes) } });
      const options = about(CONFIG_MAPS, who);
      const headers = { ...options.headers, 'content-type': 'application/json', 'content-length': body.length };
      let sent: ClientRequest | undefined;
      const code = new Promise<number>((resolve) => {
        sent = httpsRequest({ ...options, headers, method: 'POST' }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        });
        sent.on('error', () => resolve(0));
        sent.end(body);
      });
      return { code, giveUp: () => sent?.destroy() };
    };
    const first = post('mallory', 'one', 100_000);
    await eventually(() => expect(begun).toEqual(['mallory one']));
    const [gone, last] = [post('mallory', 'two', 200_000), post('mallory', 'three', 200_000)];
    await eventually(() => expect(listening.load.requests).toBe(3));
    // Small bodies, and bodies of other users, do not wait.
    const small = post('mallory', 'small', 100);
    expect(await post('alice', 'large', 1_000_000).code).toBe(422);
    await eventually(() => expect(begun.slice(1).toSorted()).toEqual(['alice large', 'mallory small']));
    expect(await small.code).toBe(422);
    // A client that disconnects while it waits does not block the requests behind it.
    gone.giveUp();
    for (const release of releases) release();
    expect([await first.code, await last.code]).toEqual([422, 422]);
    expect(begun.at(-1)).toBe('mallory three');
    await eventually(() => expect(listening.load.requests).toBe(0));
  });

  test('with watches, it gets 429; another may watch', async () => {
    const { told, listening } = await start({ watchesPerUser: 4 });
    for (let at = 0; at < 4; at++) await deaf(`${CONFIG_MAPS}?watch=1`, 'mallory');
    await eventually(() => expect(listening.load.watches).toBe(4));
    expect(await get(`${CONFIG_MAPS}?watch=1`, 'mallory')).toMatchObject({ code: 429, retryAfter: '10' });
    await deaf(`${CONFIG_MAPS}?watch=1`, 'alice');
    await eventually(() => expect(listening.load.watches).toBe(5));
    expect(told).toEqual([{ user: 'mallory', limit: 'watches', max: 4 }]);
    // A watch that ends frees its slot, and so does one that never starts.
    sockets[0]?.destroy();
    await eventually(() => expect(listening.load.watches).toBe(4));
    for (let at = 0; at < 9; at++) {
      const old = await get(`${CONFIG_MAPS}?watch=1&resourceVersion=bad`, 'mallory');
      expect(old.code).toBe(400);
    }
    await deaf(`${CONFIG_MAPS}?watch=1`, 'mallory');
    await eventually(() => expect(listening.load.watches).toBe(5));
  });

  test('with watches that it does not read, they are closed; another sees every change', async () => {
    const { cluster, told, listening } = await start({ unsentBytesPerUser: 2_000_000 });
    for (let at = 0; at < 8; at++) await deaf(`${CONFIG_MAPS}?watch=1`, 'mallory');
    let seen = '';
    httpsRequest(about(`${CONFIG_MAPS}?watch=1`, 'alice'), (response) => {
      response.on('data', (chunk) => {
        seen = (seen + chunk).slice(-2_000_000);
      });
      response.on('error', () => {});
    }).end();
    await eventually(() => expect(listening.load.watches).toBe(9));
    const big = 'x'.repeat(1_000_000);
    for (let at = 0; at < 40 && listening.load.watches > 3; at++) {
      cluster.seed([aConfigMap(`big-${at}`, { big })]);
      await eventually(() => expect(seen).toContain(`uid-big-${at}`));
    }
    // Each watch holds at most its maximum buffer beyond the limit.
    expect(listening.load.watches).toBeLessThanOrEqual(4);
    expect(told).toEqual([{ user: 'mallory', limit: 'unsent-bytes', max: 2_000_000 }]);
    cluster.seed([aConfigMap('last')]);
    await eventually(() => expect(seen).toContain('uid-last'));
  });

  test('with answers that it does not read, it gets no more; another does', async () => {
    const { cluster, listening } = await start({ unsentBytesPerUser: 1_000_000 });
    cluster.seed([aConfigMap('big', { big: 'x'.repeat(1_400_000) })]);
    const path = `${CONFIG_MAPS}/big`;
    let refused = 0;
    for (let at = 0; at < 60 && refused === 0; at++) {
      // Pipelined responses on the same connection fill the buffers of the operating system.
      const socket = await deaf(path, 'mallory');
      for (let more = 0; more < 8; more++) {
        socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer t-mallory\r\n\r\n`);
      }
      if ((await get('/api/v1/namespaces/default', 'mallory')).code === 429) refused++;
    }
    expect(refused).toBe(1);
    expect((await get('/api/v1/namespaces/default', 'alice')).code).toBe(200);
    for (const socket of sockets) socket.destroy();
    await eventually(async () => expect((await get('/api/v1/namespaces/default', 'mallory')).code).toBe(200));
    expect(listening.load.requests).toBe(0);
  });
});

test('the defaults leave room for people and their programs', () => {
  // `kubectl get -w` has one watch, and a dashboard one for each kind. test/scenarios/usual-load.test.ts measures
  // agents.
  const { requestsPerUser, watchesPerUser, watches, requests, connections, unsentBytesPerUser } = defaultLimits;
  expect(requestsPerUser).toBeGreaterThanOrEqual(100);
  expect(watchesPerUser).toBeGreaterThanOrEqual(300);
  expect(unsentBytesPerUser).toBeGreaterThanOrEqual(10 * 1024 * 1024);
  expect(watches).toBeGreaterThan(1000 * 10);
  // Connections are first come, first served, so the limits that are shared fairly must be reached first.
  expect(connections).toBeGreaterThan(requests + watches);
});
