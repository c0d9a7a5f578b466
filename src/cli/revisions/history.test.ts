// The revisions of a placement for users and programs, on the real API server.
import { describe, expect, test } from 'vitest';
import { annotations } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import { wallClock } from '../../base/clock.ts';
import { aPlacement } from '../../insight/placement.testing.ts';
import { aSnapshot } from '../../insight/staged-run.testing.ts';
import { whichPlacement } from '../../insight/which-placement.ts';
import { printing, serving } from '../served.testing.ts';
import { changedBy, type Writer } from './changed-by.ts';
import { history } from './history.ts';
import { identityOf } from './object-diff.ts';

const config = (name: string, data: Readonly<Record<string, string>>): KubeObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'shop' }, data }) as unknown as KubeObject;

const FIRST = [config('a', { x: '1', y: '1' }), config('b', { x: '1' })];
const SECOND = [config('a', { x: '2', y: '2' }), config('c', { x: '1' })];

async function told(
  options: { full?: boolean; output?: string },
  more: readonly KubeObject[] = [],
  live: readonly KubeObject[] = [],
) {
  const { server, subject } = await serving([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } } as KubeObject,
    aPlacement() as unknown as KubeObject,
    aSnapshot(0, FIRST, false),
    aSnapshot(1, SECOND),
    ...more,
  ]);
  const { print, text } = printing();
  const connected = await server();
  // The server records field managers only for writes of clients.
  for (const object of live)
    await connected.transport.call({
      verb: 'create',
      at: subject.cluster.at('configmaps', 'shop'),
      object,
      manager: 'kubectl-set',
    });
  await history(connected, whichPlacement('placement/web'), { clock: wallClock, ...options }, print);
  return text();
}

describe('flotilla history', () => {
  test('counts what changed, the newest revision first', async () => {
    const lines = (await told({})).split('\n');
    expect(lines[0]).toMatch(/^REVISION +CREATED +AGE +CHANGES +BY +CLUSTERS$/);
    expect(lines[1]).toMatch(/^1 .* 1 added, 1 changed \(2 fields\), 1 removed +- +-$/);
    expect(lines[2]).toMatch(/^0 .* 2 added +- +-$/);
  });

  test('shows every changed field with --full', async () => {
    expect(await told({ full: true })).toContain(
      '  ~ ConfigMap "shop/a"\n      data.x: "1" -> "2"\n      data.y: "1" -> "2"\n  + ConfigMap "shop/c"\n  - ConfigMap "shop/b"',
    );
  });

  test.each([undefined, 'json'])(
    'prints no value of a Secret, nor of one in an envelope (output %s)',
    async (output) => {
      const secret = (name: string, key: string) => ({
        ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'shop' }, data: { key } },
      });
      const wrap = (data: object): KubeObject => ({
        ...{ apiVersion: 'placement.kubernetes-fleet.io/v1beta1', kind: 'ResourceEnvelope' },
        metadata: { name: 'wrap', namespace: 'shop' },
        data,
      });
      const inText = (key: string): KubeObject => ({
        ...{ apiVersion: 'v1', kind: 'ConfigMap' },
        metadata: { name: 'text', namespace: 'shop', annotations: { [annotations.envelopeConfigMap]: 'true' } },
        data: { inner: JSON.stringify(secret('d', key)) },
      });
      const entries = {
        changed: secret('b', 'dmFsdWUw'),
        removed: secret('c', 'dmFsdWUx'),
        plain: config('e', { x: '1' }),
      };
      const later = {
        changed: secret('b', 'dmFsdWUy'),
        added: secret('f', 'dmFsdWUz'),
        plain: config('e', { x: '2' }),
      };
      const other = { ...later, changed: config('b', { key: 'public' }) };
      const text = await told({ full: true, ...(output === undefined ? {} : { output }) }, [
        aSnapshot(2, [secret('a', 'dmFsdWU0') as KubeObject, wrap(entries), inText('dmFsdWU1')]),
        aSnapshot(3, [secret('a', 'dmFsdWU2') as KubeObject, wrap(later), inText('dmFsdWU3')]),
        aSnapshot(4, [wrap(other)]),
      ]);
      expect(text).not.toContain('dmFsdW');
      for (const shown of ['data.key: (changed)', 'data.changed.data.key: (changed)', 'data.removed: (removed)'])
        expect(text).toContain(shown);
      for (const shown of ['data.added: (added)', 'data.inner: (changed)', 'data.changed.kind: (changed)'])
        expect(text).toContain(shown);
      expect(text.replaceAll('\\"', '"')).toContain('data.plain.data.x: "1" -> "2"');
    },
  );

  test('has the same facts for programs', async () => {
    const { revisions } = JSON.parse(await told({ output: 'json' })) as { revisions: readonly object[] };
    expect(revisions).toMatchObject([
      { revision: 0, added: 2 },
      { revision: 1, added: 1, changed: 1, removed: 1, fields: 2, clusters: [] },
    ]);
  });

  test('names the program that wrote what changed, where the API server tells', async () => {
    const text = await told({}, [], [config('a', { x: '3' })]);
    expect(text).toMatch(/^0 .* 2 added +kubectl-set +-$/m);
    expect(JSON.parse(await told({ output: 'json' }, [], [config('a', { x: '3' })]))).toMatchObject({
      revisions: [{ revision: 0, by: ['kubectl-set'] }, { revision: 1 }],
    });
  });

  test('names the commit of what comes from a repository', async () => {
    const made = aSnapshot(2, SECOND);
    const annotations = { ...made.metadata.annotations, 'flotilla.dev/source-commit': '0123456789abcdef' };
    const text = await told({}, [{ ...made, metadata: { ...made.metadata, annotations } }]);
    expect(text).toMatch(/^2 .* no objects changed +commit 0123456 +-$/m);
  });
});

describe('a revision was changed', () => {
  const object = config('a', {});
  const known = (...writers: readonly Writer[]) => new Map([[identityOf(object), writers]]);
  const rows: readonly [string, readonly Writer[], number | undefined, readonly string[]][] = [
    ['by the manager that wrote between the two revisions', [{ manager: 'kubectl-set', at: 15 }], 10, ['kubectl-set']],
    ['by one that wrote in the second of the revision', [{ manager: 'argocd', at: 20 }], 10, ['argocd']],
    ['not by one that wrote before the last revision', [{ manager: 'old', at: 10 }], 10, []],
    ['not by one that wrote since', [{ manager: 'later', at: 21 }], 10, []],
    ['by all before the first revision', [{ manager: 'first', at: 1 }], undefined, ['first']],
    [
      'by several, each once and sorted',
      [
        { manager: 'b', at: 12 },
        { manager: 'a', at: 13 },
        { manager: 'b', at: 14 },
      ],
      10,
      ['a', 'b'],
    ],
  ];
  test.each(rows)('%s', (_title, writers, after, expected) => {
    expect(changedBy(known(...writers), [object], { after, until: 20 })).toEqual(expected);
  });
});
