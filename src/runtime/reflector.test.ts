import { describe, expect, test } from 'vitest';
import { testClock } from '../../test/cluster.ts';
import { turns } from '../../test/runtime/turns.ts';
import type { Resource } from '../api/kind.ts';
import type { KubeObject } from '../api/object.ts';
import { expired } from '../api/status.ts';
import type { Answer, Request, Transport, WatchEvent, WatchRequest } from '../api/transport.ts';
import { AbortError, ApiError, LostError } from '../base/errors.ts';
import { seededRandom } from '../base/random.ts';
import { type Change, createCache } from './cache.ts';
import { silentLog } from './deps.ts';
import { startReflector } from './reflector.ts';
import { createTimeSlice } from './time-slice.ts';

const resource: Resource = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: false };

const object = (name: string, revision: number): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, uid: `${name}-uid`, resourceVersion: String(revision) },
});
const bookmark = (revision: number): WatchEvent => ({ type: 'BOOKMARK', object: object('', revision) });

/** A server whose lists come from `items`, and whose watches the test drives. */
class Script implements Transport {
  readonly log: string[] = [];
  items: readonly KubeObject[] = [];
  revision = 1;
  listError: Error | undefined;
  pageError: Error | undefined;
  watchError: Error | undefined;
  /** The watches ignore their signal, like a dead connection. */
  deaf = false;
  #say: ((next: readonly WatchEvent[] | 'end' | Error) => void) | undefined;
  timeouts: number[] = [];

  async call(request: Request, signal?: AbortSignal): Promise<Answer> {
    if (request.verb !== 'list') throw new Error('only lists are expected');
    this.log.push(`list${request.continue === undefined ? '' : ` after ${request.continue}`}`);
    if (signal?.aborted) throw new AbortError('aborted');
    if (this.listError) throw this.listError;
    if (request.continue !== undefined && this.pageError) {
      const error = this.pageError;
      this.pageError = undefined;
      throw error;
    }
    const after = request.continue ?? '';
    const rest = this.items.filter(({ metadata }) => (metadata.name ?? '') > after);
    const items = rest.slice(0, request.limit);
    const more = rest.length > items.length ? { continue: items.at(-1)?.metadata.name ?? '' } : {};
    return {
      list: {
        apiVersion: 'v1',
        kind: 'ConfigMapList',
        metadata: { resourceVersion: String(this.revision), ...more },
        items,
      },
      warnings: [],
    };
  }

  async *watch(request: WatchRequest, signal: AbortSignal): AsyncIterable<readonly WatchEvent[]> {
    this.log.push(`watch from ${request.revision}`);
    this.timeouts.push(request.timeoutSeconds ?? 0);
    if (this.watchError) throw this.watchError;
    for (;;) {
      const said = await new Promise<readonly WatchEvent[] | 'end' | Error>((resolve) => {
        this.#say = resolve;
        if (!this.deaf) signal.addEventListener('abort', () => resolve('end'), { once: true });
      });
      if (said === 'end') return;
      if (said instanceof Error) throw said;
      yield said;
    }
  }

  async say(...said: (WatchEvent | 'end' | Error)[]): Promise<void> {
    for (const each of said) {
      this.#say?.(each === 'end' || each instanceof Error ? each : [each]);
      await turns();
    }
  }
}

async function reflecting(script: Script, options: { readonly pageSize?: number } = {}) {
  const clock = testClock();
  const stop = new AbortController();
  const changes: string[] = [];
  const cache = createCache<KubeObject>({ on: 'hub', resource });
  let synced = 0;
  const reflector = startReflector({
    name: 'test',
    cache,
    transport: script,
    clock,
    random: seededRandom(7),
    pace: createTimeSlice(clock),
    log: silentLog,
    signal: stop.signal,
    onChanges: (bunch: readonly Change<KubeObject>[]) => {
      for (const { key, old, item } of bunch) {
        changes.push(`${old === undefined ? '+' : item === undefined ? '-' : '~'}${key}`);
      }
    },
    onSynced: () => synced++,
    ...options,
  });
  await turns();
  const heard = () => changes.splice(0);
  const log = () => script.log.splice(0);
  return { clock, stop, cache, reflector, heard, log, synced: () => synced };
}

describe('a reflector', () => {
  test('lists in pages and watches from the revision of the list', async () => {
    const script = new Script();
    script.items = ['a', 'b', 'c', 'd', 'e'].map((name) => object(name, 3));
    script.revision = 9;
    const { heard, log, synced, reflector, stop } = await reflecting(script, { pageSize: 2 });
    expect(log()).toEqual(['list', 'list after b', 'list after d', 'watch from 9']);
    expect(heard()).toEqual(['+a', '+b', '+c', '+d', '+e']);
    expect(synced()).toBe(1);
    await script.say({ type: 'MODIFIED', object: object('a', 10) }, { type: 'DELETED', object: object('b', 11) });
    expect(heard()).toEqual(['~a', '-b']);
    stop.abort();
    await reflector.done;
    expect(reflector.state().phase).toBe('stopped');
  });

  test('goes on where it was when a watch ends, bookmarks included', async () => {
    const script = new Script();
    const { clock, log, heard } = await reflecting(script);
    await script.say({ type: 'ADDED', object: object('a', 5) }, bookmark(8));
    clock.advance(60_000);
    await script.say('end');
    expect(log()).toEqual(['list', 'watch from 1', 'watch from 8']);
    expect(heard()).toEqual(['+a']);
  });

  test('waits before it asks again after a failure, and then goes on without a list', async () => {
    const script = new Script();
    const { clock, log } = await reflecting(script);
    await script.say(new LostError('cut'));
    expect(log()).toEqual(['list', 'watch from 1']);
    clock.advance(500);
    await turns();
    expect(log()).toEqual(['watch from 1']);
  });

  test('lists again after 410 and tells the difference: what came, changed and went', async () => {
    const script = new Script();
    script.items = [object('changed', 1), object('gone', 1), object('same', 1)];
    const { heard, log, synced } = await reflecting(script);
    heard();
    script.items = [object('changed', 7), object('new', 6), object('same', 1)];
    script.revision = 9;
    await script.say(expired('too old resource version: 1 (9)'));
    expect(log()).toEqual(['list', 'watch from 1', 'list', 'watch from 9']);
    expect(heard()).toEqual(['~changed', '+new', '-gone']);
    expect(synced()).toBe(1);
  });

  test('begins a list anew whose later pages are not to be had any more', async () => {
    const script = new Script();
    script.items = ['a', 'b', 'c'].map((name) => object(name, 1));
    script.pageError = expired('The provided continue parameter is too old');
    const { heard, log } = await reflecting(script, { pageSize: 2 });
    expect(log()).toEqual(['list', 'list after b', 'list', 'list after b', 'watch from 1']);
    expect(heard()).toEqual(['+a', '+b', '+c']);
  });

  test('notices a server that went back, by its refusal', async () => {
    const script = new Script();
    script.items = [object('a', 90), object('b', 80)];
    script.revision = 100;
    const { heard, log } = await reflecting(script);
    heard();
    script.items = [object('a', 40)];
    script.revision = 50;
    const tooLarge = new ApiError(504, 'Timeout', 'Timeout: Too large resource version: 100, current: 50', {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    });
    await script.say(tooLarge);
    expect(log()).toEqual(['list', 'watch from 100', 'list', 'watch from 50']);
    expect(heard()).toEqual(['~a', '-b']);
  });

  test('notices a server that went back, by what it tells', async () => {
    const script = new Script();
    script.items = [object('a', 9)];
    script.revision = 10;
    const { heard, log } = await reflecting(script);
    heard();
    script.revision = 8;
    script.items = [];
    await script.say({ type: 'MODIFIED', object: object('a', 7) });
    expect(log()).toEqual(['list', 'watch from 10', 'list', 'watch from 8']);
    expect(heard()).toEqual(['-a']);
  });

  test('takes a silent watch for dead, even one that does not notice that it was given up', async () => {
    const script = new Script();
    const { clock, log } = await reflecting(script);
    script.deaf = true;
    await script.say(bookmark(5));
    clock.advance(200_000);
    await script.say(bookmark(6));
    clock.advance(200_000); // 200 s after the last event, 400 s after the first
    await turns();
    expect(log()).toEqual(['list', 'watch from 1']);
    clock.advance(110_000);
    await turns();
    expect(log()).toEqual(['watch from 6']);
  });

  test('asks for watches of different length, so that not all end together', async () => {
    const script = new Script();
    const { clock } = await reflecting(script);
    for (let i = 0; i < 8; i++) {
      clock.advance(20_000);
      await script.say('end');
    }
    expect(new Set(script.timeouts).size).toBeGreaterThan(6);
    for (const seconds of script.timeouts) expect(seconds >= 300 && seconds <= 600).toBe(true);
  });

  test('does not ask in a tight loop when watches end as soon as they began', async () => {
    const script = new Script();
    const { clock, log } = await reflecting(script);
    log();
    for (let i = 0; i < 60; i++) {
      await script.say('end');
      clock.advance(1000);
      await turns();
    }
    expect(log().length).toBeLessThan(25);
  });

  test('keeps trying while the server is away, ever less often, and lists when it is back', async () => {
    const script = new Script();
    script.listError = new LostError('connection refused');
    const { clock, log, synced, reflector } = await reflecting(script);
    for (let i = 0; i < 600; i++) {
      clock.advance(1000);
      await turns(1);
    }
    const tries = log().length;
    expect(tries).toBeGreaterThan(20);
    expect(tries).toBeLessThan(60);
    expect(reflector.state()).toMatchObject({ synced: false, lastError: 'connection refused' });
    script.listError = undefined;
    clock.advance(30_000);
    await turns();
    expect(synced()).toBe(1);
    expect(reflector.state().failures).toBe(0);
  });

  test('tries again at once when it is told that the server answers, also if that was told during an attempt that fails', async () => {
    const script = new Script();
    script.listError = new LostError('connection refused');
    const { clock, log, reflector } = await reflecting(script);
    const away = async () => {
      for (let i = 0; i < 120; i++) {
        clock.advance(1000);
        await turns(1);
      }
      log();
    };
    await away();
    reflector.retryNow();
    await turns();
    expect(log()).toEqual(['list']);
    await away();
    // `retryNow` is called during a list that began before the recovery and fails.
    let fail: (error: Error) => void = () => {};
    const call = script.call.bind(script);
    script.call = () => new Promise((_, reject) => (fail = reject));
    clock.advance(30_000);
    await turns();
    reflector.retryNow();
    fail(new LostError('timed out'));
    script.call = call;
    script.listError = undefined;
    await turns();
    clock.advance(500);
    await turns();
    expect(reflector.state()).toMatchObject({ synced: true, phase: 'watching' });
  });

  test('falls back to a list when watches are refused for a reason of their own', async () => {
    const script = new Script();
    script.watchError = new ApiError(500, 'InternalError', 'no');
    const { clock, log } = await reflecting(script);
    for (let i = 0; i < 20; i++) {
      clock.advance(10_000);
      await turns();
    }
    expect(log().slice(0, 6)).toEqual(['list', 'watch from 1', 'watch from 1', 'watch from 1', 'watch from 1', 'list']);
  });

  test('leaves nothing behind when it is stopped', async () => {
    const script = new Script();
    const { clock, log, stop, reflector } = await reflecting(script);
    stop.abort();
    await reflector.done;
    log();
    clock.advance(3_600_000);
    await turns();
    expect(log()).toEqual([]);
  });
});
