import { describe, expect, test } from 'vitest';
import { testClock } from '../../test/cluster.ts';
import type { Resource } from '../api/kind.ts';
import type { KubeObject } from '../api/object.ts';
import { alreadyExists, forbidden, modified, notFound, tooManyRequests } from '../api/status.ts';
import type { Answer, Request, Transport } from '../api/transport.ts';
import { InvariantError, LostError } from '../base/errors.ts';
import { seededRandom } from '../base/random.ts';
import type { Action, Seen } from './controller.ts';
import { silentLog } from './deps.ts';
import { perform } from './perform.ts';
import { type Place, placeText } from './place.ts';

const maps: Resource = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };

const object = (name: string, more: Partial<KubeObject['metadata']> = {}, spec?: unknown): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'n', uid: `${name}-uid`, resourceVersion: '2', ...more },
  ...(spec === undefined ? {} : { spec }),
});
const seen = (name: string): Seen => ({
  on: 'hub',
  resource: maps,
  namespace: 'n',
  name,
  uid: `${name}-uid`,
  resourceVersion: '1',
});
const create = (name: string): Action => ({
  do: 'create',
  on: 'hub',
  resource: maps,
  object: object(name),
  because: 'x',
});
const patch = (name: string): Action => ({ do: 'patch', of: seen(name), merge: { data: { a: '1' } }, because: 'x' });
const remove = (name: string): Action => ({ do: 'delete', of: seen(name), because: 'x' });
const event: Action = {
  do: 'event',
  on: 'hub',
  about: { apiVersion: 'v1', group: '', kind: 'ConfigMap', namespace: 'n', name: 'a' },
  type: 'Normal',
  reason: 'R',
  message: 'm',
  because: 'x',
};

interface Setup {
  answer?(request: Request): Promise<KubeObject | undefined> | KubeObject | undefined;
  look?(place: Place): Promise<KubeObject | null>;
  mayWrite?(): boolean;
  readonly sideBySide?: number;
  yieldToOthers?(run: () => void): void;
}

const nameOf = (request: Request) => request.at.name ?? ('object' in request ? request.object.metadata.name : '') ?? '';

async function performing(steps: readonly (readonly Action[])[], setup: Setup = {}) {
  const requests: Request[] = [];
  const folded: string[] = [];
  let open = 0;
  let most = 0;
  const transport: Transport = {
    async call(request): Promise<Answer> {
      requests.push(request);
      most = Math.max(most, ++open);
      try {
        await undefined;
        const answered = setup.answer ? await setup.answer(request) : object(nameOf(request));
        return { ...(answered === undefined ? {} : { object: answered }), warnings: [] };
      } finally {
        open--;
      }
    },
    // biome-ignore lint/correctness/useYield: nobody watches here.
    async *watch() {
      throw new Error('not expected');
    },
  };
  const performed = await perform(steps, {
    deps: {
      clock: testClock(),
      random: seededRandom(1),
      servers: { hub: transport },
      log: silentLog,
      ...(setup.yieldToOthers === undefined ? {} : { yieldToOthers: setup.yieldToOthers }),
    },
    informers: {
      fold: (_on, _resource, each) => folded.push(`fold ${each.metadata.name} ${each.metadata.resourceVersion}`),
      foldGone: (place, uid) => folded.push(`gone ${place.name} ${uid}`),
      foldEnded: (place) => folded.push(`ended ${place.name}`),
      look: async (place) => {
        folded.push(`look ${placeText(place)}`);
        return setup.look ? setup.look(place) : null;
      },
      writes: () => () => {},
      made: () => {},
    },
    manager: 'me',
    sideBySide: setup.sideBySide ?? 8,
    mayWrite: setup.mayWrite ?? (() => true),
    record: () => folded.push('event'),
    signal: new AbortController().signal,
  });
  return { ...performed, requests, folded, most };
}

const classes = ({ failures }: Awaited<ReturnType<typeof performing>>) => failures.map((failure) => failure.class);

describe('performing', () => {
  test('asks for what it was told to, each write conditional on what was seen', async () => {
    const { requests, folded, done, changed } = await performing([[create('a')], [patch('b'), remove('c'), event]]);
    expect(requests).toEqual([
      { verb: 'create', at: { resource: maps, namespace: 'n' }, object: object('a'), manager: 'me' },
      {
        verb: 'patch',
        at: { resource: maps, namespace: 'n', name: 'b' },
        patch: { type: 'merge', body: { data: { a: '1' }, metadata: { uid: 'b-uid', resourceVersion: '1' } } },
        manager: 'me',
      },
      { verb: 'delete', at: { resource: maps, namespace: 'n', name: 'c' }, uid: 'c-uid', revision: '1' },
    ]);
    expect(folded).toEqual(['fold a 2', 'event', 'fold b 2', 'gone c c-uid']);
    expect({ done, changed }).toEqual({ done: 4, changed: true });
  });

  test('lets whoever waits for what was written act before it reports on it', async () => {
    const heard: string[] = [];
    const run = (steps: readonly (readonly Action[])[], revision?: string) =>
      performing(steps, {
        answer(request) {
          heard.push(nameOf(request));
          return object(nameOf(request), revision === undefined ? {} : { resourceVersion: revision });
        },
        yieldToOthers(others) {
          heard.push('others');
          others();
        },
      });
    const report: Action = { do: 'patch', of: seen('c'), merge: {}, subresource: 'status', because: 'x' };
    await run([[create('a'), create('b')], [report]]);
    expect(heard.splice(0)).toEqual(['a', 'b', 'others', 'others', 'c']);
    await run([[create('a')], [patch('b')]]);
    expect(heard.splice(0)).toEqual(['a', 'b']);
    // Nothing was written.
    await run([[patch('a')], [report]], '1');
    expect(heard.splice(0)).toEqual(['a', 'c']);
    await run([[report]]);
    expect(heard.splice(0)).toEqual(['c']);
  });

  test('keeps the metadata of a patch and adds the condition', async () => {
    const action: Action = {
      do: 'patch',
      of: seen('a'),
      merge: { metadata: { labels: { l: '1' } } },
      subresource: 'status',
      because: 'x',
    };
    const { requests } = await performing([[action]]);
    expect(requests[0]).toMatchObject({
      at: { subresource: 'status' },
      patch: { body: { metadata: { labels: { l: '1' }, uid: 'a-uid', resourceVersion: '1' } } },
    });
  });

  test('makes a JSON patch conditional without a test operation, whose refusal would be no conflict', async () => {
    const operation = { op: 'add', path: '/data', value: { a: null } } as const;
    const action: Action = { do: 'json-patch', of: seen('a'), operations: [operation], because: 'x' };
    const { requests } = await performing([[action]]);
    expect(requests[0]).toMatchObject({
      patch: {
        type: 'json',
        body: [
          { op: 'replace', path: '/metadata/uid', value: 'a-uid' },
          { op: 'replace', path: '/metadata/resourceVersion', value: '1' },
          operation,
        ],
      },
    });
  });

  test.each([
    {
      it: 'a patch that changed nothing',
      action: patch('a'),
      answer: object('a', { resourceVersion: '1' }),
      folds: [],
      changed: false,
    },
    {
      it: 'a patch that let a deleted object go',
      action: patch('a'),
      answer: object('a', { deletionTimestamp: 't' }),
      folds: ['ended a'],
      changed: true,
    },
    {
      it: 'a patch of a deleted object that others still hold',
      action: patch('a'),
      answer: object('a', { deletionTimestamp: 't', finalizers: ['f'] }),
      folds: ['fold a 2'],
      changed: true,
    },
    {
      it: 'a patch of a namespace that still ends',
      action: patch('a'),
      answer: object('a', { deletionTimestamp: 't' }, { finalizers: ['kubernetes'] }),
      folds: ['fold a 2'],
      changed: true,
    },
    {
      it: 'a patch of a Pod that has time to end',
      action: patch('a'),
      answer: object('a', { deletionTimestamp: 't', deletionGracePeriodSeconds: 30 }),
      folds: ['fold a 2'],
      changed: true,
    },
    {
      it: 'a deletion answered by a Status',
      action: remove('a'),
      answer: { apiVersion: 'v1', kind: 'Status', metadata: {} },
      folds: ['gone a a-uid'],
      changed: true,
    },
    {
      it: 'a deletion answered by nothing',
      action: remove('a'),
      answer: undefined,
      folds: ['gone a a-uid'],
      changed: true,
    },
    {
      it: 'a deletion that only marks',
      action: remove('a'),
      answer: object('a', { deletionTimestamp: 't', finalizers: ['f'] }),
      folds: ['fold a 2'],
      changed: true,
    },
    {
      it: 'a deletion of what is marked already',
      action: remove('a'),
      answer: object('a', { deletionTimestamp: 't', finalizers: ['f'], resourceVersion: '1' }),
      folds: ['fold a 1'],
      changed: false,
    },
  ])('$it is folded in for what it is', async ({ action, answer, folds, changed }) => {
    const performed = await performing([[action]], { answer: () => answer as KubeObject | undefined });
    expect({ folded: performed.folded, changed: performed.changed }).toEqual({ folded: folds, changed });
  });

  test('runs the actions of a step side by side up to the bound, and steps one after the other', async () => {
    const order: string[] = [];
    const names = Array.from({ length: 20 }, (_, i) => `n${i}`);
    const { most, done } = await performing([names.map(create), [create('last')]], {
      sideBySide: 5,
      answer(request) {
        order.push(nameOf(request));
        return object(nameOf(request));
      },
    });
    expect({ most, done, last: order.at(-1), count: order.length }).toEqual({
      most: 5,
      done: 21,
      last: 'last',
      count: 21,
    });
  });

  test.each([
    { error: modified(maps, 'b'), is: 'conflict', others: true, looks: true, unsettled: 0 },
    { error: alreadyExists(maps, 'b'), is: 'exists', others: true, looks: true, unsettled: 0 },
    { error: notFound(maps, 'b'), is: 'missing', others: true, looks: true, unsettled: 0 },
    { error: forbidden(maps, 'b', 'no'), is: 'refused', others: true, looks: false, unsettled: 0 },
    { error: tooManyRequests('later', 1), is: 'throttled', others: false, looks: false, unsettled: 0 },
    { error: new LostError('?'), is: 'lost', others: false, looks: false, unsettled: 1 },
    { error: new Error('disk'), is: 'other', others: false, looks: false, unsettled: 0 },
  ])('after $is the step goes on: $others; the next step never', async ({ error, is, others, looks, unsettled }) => {
    const performed = await performing([[create('a'), patch('b'), create('c')], [create('never')]], {
      sideBySide: 1,
      answer(request) {
        if (nameOf(request) === 'b') throw error;
        return object(nameOf(request));
      },
    });
    expect(classes(performed)).toEqual([is]);
    expect(performed.requests.map(nameOf)).toEqual(others ? ['a', 'b', 'c'] : ['a', 'b']);
    expect(performed.folded.filter((each) => each.startsWith('look')).length).toBe(looks ? 1 : 0);
    expect(performed.unsettled.map((place) => place.name)).toEqual(unsettled === 1 ? ['b'] : []);
  });

  test('blocks the key when the look after a conflict fails', async () => {
    const { unsettled } = await performing([[patch('b')]], {
      answer() {
        throw modified(maps, 'b');
      },
      async look() {
        throw new LostError('?');
      },
    });
    expect(unsettled.map(({ name }) => name)).toEqual(['b']);
  });

  test('issues nothing behind the fence, not even the rest of a step', async () => {
    let left = 2;
    const performed = await performing([['a', 'b', 'c', 'd'].map(create), [create('never')]], {
      sideBySide: 1,
      mayWrite: () => left-- > 0,
    });
    expect(performed.requests.map(nameOf)).toEqual(['a', 'b']);
    expect(classes(performed)).toEqual(['fenced']);
  });

  test('refuses actions that cannot be meant, without a request', async () => {
    const nameless: Action = { do: 'create', on: 'hub', resource: maps, object: object(''), because: 'x' };
    const shapeless: Action = { do: 'patch', of: seen('a'), merge: ['x'], because: 'x' };
    const elsewhere: Action = { do: 'create', on: 'member', resource: maps, object: object('a'), because: 'x' };
    for (const action of [nameless, shapeless, elsewhere]) {
      const performed = await performing([[action]]);
      expect(performed.failures[0]?.error).toBeInstanceOf(InvariantError);
      expect(performed.requests).toEqual([]);
    }
  });
});
