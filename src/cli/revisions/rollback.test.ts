// Rollback equals the revision: a property over random histories, and the command against the real API server.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import type { Json } from '../../base/json.ts';
import { patched } from '../../base/json-patch.ts';
import { contentOf } from '../../hub/revisions/content.ts';
import { strip } from '../../hub/revisions/strip.ts';
import { aPlacement } from '../../insight/placement.testing.ts';
import { aSnapshot } from '../../insight/staged-run.testing.ts';
import { whichPlacement } from '../../insight/which-placement.ts';
import { printing, serving } from '../served.testing.ts';
import { changeCounts, changesBetween, renderChanges } from './object-diff.ts';
import { restoreOf } from './restore.ts';
import { rollback } from './rollback.ts';

const MARKS = { tracksJobs: false };

const anyValue: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json>(null, true, 0, 1, '', 'a', 'b'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('x', 'y', 'a/b', '~z'), tie('value'), { maxKeys: 3 }),
  ),
})).value;

const anyMap = fc.option(fc.dictionary(fc.constantFrom('k', 'l', 'm/n'), fc.constantFrom('1', '2')), {
  nil: undefined,
});

const anyObject = fc
  .record({ spec: anyValue, labels: anyMap, annotations: anyMap, isApplied: fc.boolean(), version: fc.nat(9) })
  .map(
    ({ spec, labels: own, annotations, isApplied, version }) =>
      ({
        apiVersion: 'example.com/v1',
        kind: 'Thing',
        metadata: {
          name: 'thing',
          namespace: 'shop',
          uid: 'u',
          resourceVersion: String(version),
          ...(own === undefined ? {} : { labels: own }),
          ...(annotations === undefined && !isApplied
            ? {}
            : {
                annotations: {
                  ...annotations,
                  ...(isApplied ? { 'kubectl.kubernetes.io/last-applied-configuration': '{}' } : {}),
                },
              }),
        },
        spec,
        status: { seen: version },
      }) as unknown as KubeObject,
  );

/** A map without keys is the same as none. */
const content = (object: KubeObject): unknown => {
  const { labels: own, ...metadata } = strip(object).metadata;
  return {
    ...strip(object),
    metadata: { ...metadata, ...(Object.keys(own ?? {}).length === 0 ? {} : { labels: own }) },
  };
};

describe('a rollback', () => {
  test('equals the revision, and keeps what the server has put there, over random histories', () => {
    fc.assert(
      fc.property(anyObject, anyObject, (then, now) => {
        const [wanted = then] = contentOf([then], MARKS).objects;
        const restore = restoreOf(wanted, now, MARKS);
        if (restore === undefined) {
          expect(content(now)).toEqual(content(then));
          return;
        }
        if (restore.do !== 'patch') throw new Error(`expected a patch, got ${restore.do}`);
        const after = patched(now as unknown as Json, restore.operations) as unknown as KubeObject;
        expect(content(after)).toEqual(content(then));
        expect(after.status).toEqual(now.status);
        expect(after.metadata.uid).toBe('u');
        const applied = 'kubectl.kubernetes.io/last-applied-configuration';
        expect(after.metadata.annotations?.[applied]).toBe(now.metadata.annotations?.[applied]);
      }),
    );
  });

  test('does not print what is in a Secret', () => {
    const secret = (value: string) =>
      ({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 's' },
        data: { password: value },
      }) as unknown as KubeObject;
    const changes = changesBetween([secret('old')], [secret('new')]);
    expect(changeCounts(changes)).toBe('1 changed (1 field)');
    expect(renderChanges(changes).join('\n')).toBe('~ Secret "s"\n    data.password: (changed)');
  });
});

const config = (name: string, value: string): KubeObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'team' }, data: { value } }) as KubeObject;

async function world() {
  const namespace = 'team';
  const snapshot = (index: number, objects: readonly KubeObject[]) => {
    const made = aSnapshot(index, objects);
    return { ...made, kind: 'ResourceSnapshot', metadata: { ...made.metadata, namespace } };
  };
  const placement = aPlacement({
    metadata: { name: 'web', namespace, generation: 2 },
    spec: { resourceSelectors: [{ group: '', version: 'v1', kind: 'ConfigMap' }] } as never,
  });
  const { server, subject } = await serving([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    placement,
    config('kept', 'bad'),
    config('extra', 'x'),
    snapshot(0, [config('kept', 'good'), config('lost', 'here')]),
    snapshot(1, [config('kept', 'bad'), config('extra', 'x')]),
  ]);
  const printed = printing();
  const names = async () => {
    const { list } = await subject.cluster.call({ verb: 'list', at: subject.cluster.at('configmaps', namespace) });
    return Object.fromEntries(
      (list?.items ?? []).map((each) => [each.metadata.name, (each as { data?: { value?: string } }).data?.value]),
    );
  };
  return {
    ...printed,
    names,
    back: async (options: object = {}) =>
      rollback(
        await server(),
        whichPlacement('placement/web', namespace),
        { now: 0, confirm: async () => true, ...options },
        printed.print,
      ),
  };
}

describe('flotilla rollback', () => {
  test('restores what changed, creates what is missing, and leaves what the revision lacks', async () => {
    const { back, names, text, errors } = await world();
    expect(await back()).toBe(true);
    expect(await names()).toMatchObject({ kept: 'good', lost: 'here', extra: 'x' });
    expect(text()).toContain('data.value: "bad" -> "good"');
    expect(errors.join()).toContain('ConfigMap "team/extra" is not in revision 0 and stays');
    expect(await back()).toBe(false);
  });

  test('deletes what the revision lacks with --prune', async () => {
    const { back, names } = await world();
    await back({ prune: true });
    expect(await names()).not.toHaveProperty('extra');
  });

  test('writes nothing when declined, or when there is no such revision', async () => {
    const { back, names } = await world();
    await expect(back({ confirm: async () => false })).rejects.toThrow('nothing was written');
    await expect(back({ to: '7' })).rejects.toThrow(/no revision "7" \(known: 0, 1\)/);
    expect(await names()).toMatchObject({ kept: 'bad' });
  });
});
