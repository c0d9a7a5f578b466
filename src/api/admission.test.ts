import { describe, expect, test } from 'vitest';
import { admitWith, readsOf } from './admission.ts';
import type { AdmitQuestion, Kind, Resource } from './kind.ts';

const config: Resource = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const secrets: Resource = { ...config, kind: 'Secret', plural: 'secrets' };
const question = {
  verb: 'create',
  dryRun: false,
  now: 0,
  user: { name: 'ann', groups: [] },
} as unknown as AdmitQuestion<unknown, unknown>;
const named = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'a' } });

/** The kind's admission accepts if all its lookups succeed. */
const kindThat = (looks: NonNullable<Kind['admit']>): Required<Pick<Kind, 'admit' | 'reads'>> => ({
  reads: () => [
    { resource: config, namespace: 'a' },
    { resource: secrets, namespace: 'a', name: 'key' },
  ],
  admit: looks,
});

describe('admission', () => {
  test('sees what it has declared to read', () => {
    const kind = kindThat(({ lookup }) => ({
      ok: true,
      object: named('x'),
      warnings: [
        ...lookup.list(config, 'a').map(({ metadata }) => metadata.name ?? ''),
        lookup.get(config, 'two', 'a')?.metadata.name ?? 'none',
        lookup.get(secrets, 'key', 'a')?.metadata.name ?? 'none',
      ],
    }));
    const reads = readsOf(kind, question);
    const admitted = admitWith(kind, question, reads, [[named('one'), named('two')], []]);
    expect(admitted).toMatchObject({ ok: true, warnings: ['one', 'two', 'two', 'none'] });
  });

  test.each([
    { it: 'another namespace', admit: kindThat(({ lookup }) => void lookup.list(config, 'b') as never) },
    { it: 'another object', admit: kindThat(({ lookup }) => void lookup.get(secrets, 'other', 'a') as never) },
    { it: 'all where one was declared', admit: kindThat(({ lookup }) => void lookup.list(secrets, 'a') as never) },
  ])('never sees $it: a webhook would not have it', ({ admit: kind }) => {
    expect(() => admitWith(kind, question, readsOf(kind, question), [[], []])).toThrow('without having declared that');
  });

  test('that declares nothing reads nothing', () => {
    expect(readsOf({}, question)).toEqual([]);
  });
});
