// A rollback restores the revision: a property over random histories, and the command against the real API server.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../test/properties.ts';
import type { KubeObject, User } from '../../api/object.ts';
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

/** An empty map is the same as none. */
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

const snapshotIn = (namespace: string, index: number, objects: readonly KubeObject[]): KubeObject => {
  const made = aSnapshot(index, objects);
  return { ...made, kind: 'ResourceSnapshot', metadata: { ...made.metadata, namespace } };
};

const placementIn = (namespace: string, spec: object = {}): KubeObject =>
  aPlacement({
    metadata: { name: 'web', namespace, generation: 2 },
    spec: { resourceSelectors: [{ group: '', version: 'v1', kind: 'ConfigMap' }], ...spec } as never,
  }) as unknown as KubeObject;

interface WorldOptions {
  readonly spec?: object;
  readonly now?: readonly KubeObject[];
  readonly more?: readonly KubeObject[];
  readonly as?: User;
}

async function world({ spec, now = [config('kept', 'bad'), config('extra', 'x')], more = [], as }: WorldOptions = {}) {
  const namespace = 'team';
  const { server, subject } = await serving([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    placementIn(namespace, spec),
    ...now,
    snapshotIn(namespace, 0, [config('kept', 'good'), config('lost', 'here')]),
    snapshotIn(namespace, 1, [config('kept', 'bad'), config('extra', 'x')]),
    ...more,
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
    subject,
    names,
    back: async (options: object = {}) =>
      rollback(
        await server(as),
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

  test('writes nothing if the caller may not write one of the objects', async () => {
    const rbac = 'rbac.authorization.k8s.io';
    const rules = [
      { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list'] },
      { apiGroups: [''], resources: ['configmaps'], verbs: ['patch'] },
    ];
    const more = [
      { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name: 'patches' }, rules },
      {
        apiVersion: `${rbac}/v1`,
        kind: 'ClusterRoleBinding',
        metadata: { name: 'patches' },
        roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'patches' },
        subjects: [{ apiGroup: rbac, kind: 'User', name: 'dev' }],
      },
    ] as readonly KubeObject[];
    const { back, names } = await world({ more, as: { name: 'dev', groups: ['system:authenticated'] } });
    await expect(back()).rejects.toThrow(/nothing was written: ConfigMap "team\/lost": .*cannot create/);
    expect(await names()).toMatchObject({ kept: 'bad' });
  });

  test('writes nothing if a field that differs is immutable', async () => {
    const { back, names } = await world({
      now: [{ ...config('kept', 'bad'), immutable: true } as KubeObject, config('extra', 'x')],
    });
    await expect(back()).rejects.toThrow(/nothing was written: ConfigMap "team\/kept": /);
    expect(await names()).toEqual({ kept: 'bad', extra: 'x' });
  });

  test('does not write onto the hub what comes from a repository', async () => {
    const { back, names } = await world({
      spec: { resourceSelectors: undefined, source: { gitRepo: 'shop', bundle: 'web' } },
      now: [],
    });
    await expect(back()).rejects.toThrow(/comes from bundle "web" of GitRepo "shop": revert the commit/);
    expect(await names()).toEqual({});
  });

  test('of a placement that runs move starts one with the revision, and names the freeze that holds it', async () => {
    const more = [
      {
        apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
        kind: 'StagedUpdateStrategy',
        metadata: { name: 's', namespace: 'team' },
        spec: { stages: [{ name: 'all', labelSelector: {} }] },
      },
      {
        apiVersion: 'flotilla.dev/v1alpha1',
        kind: 'Freeze',
        metadata: { name: 'incident' },
        spec: { reason: 'incident 42', by: 'alice' },
      },
    ] as unknown as readonly KubeObject[];
    const { back, names, text, subject } = await world({ spec: { strategy: { type: 'External' } }, more });
    await expect(back()).rejects.toThrow('has none: name a strategy with --strategy');
    expect(await back({ strategy: 's' })).toBe(true);
    const { list } = await subject.cluster.call({ verb: 'list', at: subject.cluster.at('stagedupdateruns', 'team') });
    expect(list?.items).toMatchObject([
      { spec: { placementName: 'web', stagedRolloutStrategyName: 's', resourceSnapshotIndex: '0', state: 'Run' } },
    ]);
    expect(text()).toContain('Freeze "incident" holds it until flotilla unfreeze incident (incident 42; by "alice")');
    expect(await names()).toMatchObject({ kept: 'bad' });
  });

  test('brings the objects on the hub back to any revision of any history', async () => {
    const { server, subject, write } = await serving([]);
    const anyRevision = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.constantFrom('1', '2', '3'), {
      noNullPrototype: true,
    });
    let count = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(anyRevision, { minLength: 2, maxLength: 4 }), fc.nat(), async (history, pick) => {
        const namespace = `team-${count++}`;
        const objectsOf = (revision: Readonly<Record<string, string>>) =>
          Object.entries(revision).map(([name, value]) => {
            const made = config(name, value);
            return { ...made, metadata: { ...made.metadata, namespace } };
          });
        await write({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } } as KubeObject);
        await write(placementIn(namespace));
        for (const [index, revision] of history.entries())
          await write(snapshotIn(namespace, index, objectsOf(revision)));
        for (const object of objectsOf(history.at(-1) ?? {})) await write(object);
        const to = pick % history.length;
        const { print } = printing();
        const asked = { now: 0, confirm: async () => true, to: String(to), prune: true };
        await rollback(await server(), whichPlacement('placement/web', namespace), asked, print);
        const at = subject.cluster.at('configmaps', namespace);
        const { list } = await subject.cluster.call({ verb: 'list', at });
        const found = (list?.items ?? []).filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt');
        const values = found.map((each) => [each.metadata.name, (each as { data?: { value?: string } }).data?.value]);
        expect(Object.fromEntries(values)).toEqual(history[to]);
      }),
      { numRuns: runs(15) },
    );
  });
});
