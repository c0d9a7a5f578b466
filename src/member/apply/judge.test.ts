import { describe, expect, test } from 'vitest';
import type { Resource } from '../../api/kind.ts';
import { annotations } from '../../api/names.ts';
import type { KubeObject, OwnerReference } from '../../api/object.ts';
import { judge } from './judge.ts';
import type { Case } from './manner.ts';
import { MAX_ANNOTATION_BYTES, ownerReferenceTo, wantedOf } from './wanted.ts';

const configMaps: Resource = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const widgets: Resource = { group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets', namespaced: true };
const owner = ownerReferenceTo('web-work', 'ours');
const foreign: OwnerReference = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'rs' };
const otherWork = ownerReferenceTo('other-work', 'other');
const deadWork = ownerReferenceTo('dead-work', 'dead');

const manifest = (data: Record<string, string>, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'shop', ...more },
  data,
});

interface Given {
  readonly wants?: KubeObject;
  /** The object as last applied; undefined = never. */
  readonly applied?: KubeObject;
  readonly live?: Partial<KubeObject> | undefined;
  readonly owners?: readonly OwnerReference[];
  readonly strategy?: Partial<Case['strategy']>;
  readonly resource?: Resource;
  readonly isDeleting?: boolean;
}

function aCase({
  wants = manifest({ a: '1' }),
  applied,
  live,
  owners = [],
  strategy,
  resource = configMaps,
  isDeleting,
}: Given): Case {
  const base = applied === undefined ? manifest({}) : wantedOf(applied, owner).object;
  return {
    identifier: { ordinal: 0, kind: resource.kind, namespace: 'shop', name: 'a' },
    resource,
    wanted: wantedOf(wants, owner),
    live:
      live === undefined
        ? undefined
        : ({
            ...base,
            ...live,
            metadata: {
              ...base.metadata,
              uid: 'u',
              resourceVersion: '7',
              ownerReferences: owners,
              ...(isDeleting ? { deletionTimestamp: 't' } : {}),
              ...live.metadata,
            },
          } as KubeObject),
    owner,
    isOrphaned: (reference) => reference.uid === 'dead',
    placementOf: ({ name }) => (name === 'other-work' ? 'ClusterResourcePlacement "other"' : undefined),
    strategy: {
      type: 'ClientSideApply',
      comparisonOption: 'PartialComparison',
      whenToApply: 'Always',
      whenToTakeOver: 'Always',
      allowCoOwnership: false,
      ...strategy,
    },
  };
}

test('what another placement has placed names it, if that is known', () => {
  const refusal = (owners: readonly OwnerReference[]) => judge(aCase({ live: {}, owners }));
  expect(refusal([otherWork])).toMatchObject({
    message:
      'ConfigMap "shop/a" is already placed by another placement, ClusterResourcePlacement "other" (AppliedWork "other-work"): let only one of them select it',
  });
  expect(refusal([ownerReferenceTo('third-work', 'third')])).toMatchObject({
    message:
      'ConfigMap "shop/a" is already placed by another placement (AppliedWork "third-work"): let only one of them select it',
  });
});

describe('what is to be done about a manifest', () => {
  const one = manifest({ a: '1' });
  const rows: readonly (Given & { readonly it: string; readonly does: string })[] = [
    { it: 'nothing is there', does: 'create' },
    { it: 'nothing is there, and nothing may be taken over', strategy: { whenToTakeOver: 'Never' }, does: 'create' },
    { it: 'ours is as it should be', applied: one, live: {}, owners: [owner], does: 'nothing' },
    { it: 'ours differs', applied: one, live: { data: { a: '2' } }, owners: [owner], does: 'patch' },
    {
      it: 'ours has more than we want',
      applied: one,
      live: { data: { a: '1', b: '2' } },
      owners: [owner],
      does: 'nothing',
    },
    { it: 'somebody took our mark off', applied: one, live: {}, owners: [], does: 'patch' },
    { it: 'it was there before', live: { data: {} }, does: 'patch' },
    {
      it: 'it was there before, and Never',
      live: { data: {} },
      strategy: { whenToTakeOver: 'Never' },
      does: 'NotTakenOver',
    },
    { it: 'somebody owns it', live: {}, owners: [foreign], does: 'FailedToTakeOver' },
    {
      it: 'somebody owns it, and may',
      live: {},
      owners: [foreign],
      strategy: { allowCoOwnership: true },
      does: 'patch',
    },
    { it: 'another Work placed it', live: {}, owners: [otherWork], does: 'FailedToTakeOver' },
    {
      it: 'another Work placed it, even if owners may share',
      live: {},
      owners: [otherWork],
      strategy: { allowCoOwnership: true },
      does: 'FailedToTakeOver',
    },
    { it: 'a Work that is gone placed it', live: {}, owners: [deadWork], does: 'patch' },
    {
      it: 'ours has got another owner since',
      applied: one,
      live: {},
      owners: [owner, foreign],
      does: 'ManifestApplyFailed',
    },
    {
      it: 'ours has got another owner, and may',
      applied: one,
      live: {},
      owners: [owner, foreign],
      strategy: { allowCoOwnership: true },
      does: 'nothing',
    },
    {
      it: 'ours was placed by another Work as well',
      applied: one,
      live: {},
      owners: [owner, otherWork],
      strategy: { allowCoOwnership: true },
      does: 'ManifestApplyFailed',
    },
    {
      it: 'ours still bears the mark of a Work that is gone',
      applied: one,
      live: {},
      owners: [owner, deadWork],
      does: 'patch',
    },
    {
      it: 'ours is being deleted',
      applied: one,
      live: {},
      owners: [owner],
      isDeleting: true,
      does: 'ManifestApplyFailed',
    },
    { it: 'somebody else’s is being deleted', live: {}, owners: [foreign], isDeleting: true, does: 'FailedToTakeOver' },
    {
      it: 'ours is marked as ours alone though Never',
      applied: one,
      live: { data: { a: '2' } },
      owners: [owner],
      strategy: { whenToTakeOver: 'Never' },
      does: 'patch',
    },
  ];
  test.each(rows)('if $it: $does', ({ does, ...given }) => {
    const operation = judge(aCase(given));
    expect(operation.do === 'refuse' ? operation.reason : operation.do).toBe(does);
  });

  describe('with a strategy that leaves differences alone', () => {
    const equal = { data: { a: '1' } };
    const changed = { data: { a: '2' } };
    const extended = { data: { a: '1', b: '2' } };
    const full = { comparisonOption: 'FullComparison' as const };
    const takeOver = { whenToTakeOver: 'IfNoDiff' as const };
    const noDrift = { whenToApply: 'IfNotDrifted' as const };
    const onRevision = { whenToApply: 'OnRevision' as const };
    /** Ours, without the hash: KubeFleet takes an object over in one write, and applies it in another one. */
    const taken = { owners: [owner], applied: undefined };
    const ours = { owners: [owner], applied: one };
    const earlier = { owners: [owner], applied: manifest({ a: '0' }) };
    const A = { path: '/data/a', valueInHub: '1', valueInMember: '2' };
    const B = { path: '/data/b', valueInMember: '2' };

    test.each<
      Given & { readonly it: string; readonly does: string; readonly drifts?: object[]; readonly diffs?: object[] }
    >([
      { it: 'IfNoDiff: it was there before, and is equal', live: equal, strategy: takeOver, does: 'patch' },
      {
        it: 'IfNoDiff: it was there before, and differs',
        live: changed,
        strategy: takeOver,
        does: 'FailedToTakeOver',
        diffs: [A],
      },
      { it: 'IfNoDiff: it has more than we want', live: extended, strategy: takeOver, does: 'patch' },
      {
        it: 'IfNoDiff and FullComparison: it has more than we want',
        live: extended,
        strategy: { ...takeOver, ...full },
        does: 'FailedToTakeOver',
        diffs: [B],
      },
      { it: 'IfNoDiff: it does not exist', strategy: takeOver, does: 'create' },
      { it: 'IfNoDiff: it is ours, and differs', ...ours, live: changed, strategy: takeOver, does: 'patch' },
      { it: 'IfNotDrifted: as it was applied', ...ours, live: equal, strategy: noDrift, does: 'nothing' },
      {
        it: 'IfNotDrifted: changed since',
        ...ours,
        live: changed,
        strategy: noDrift,
        does: 'FoundDrifts',
        drifts: [A],
      },
      { it: 'IfNotDrifted: extended since', ...ours, live: extended, strategy: noDrift, does: 'nothing' },
      {
        it: 'IfNotDrifted and FullComparison: extended since',
        ...ours,
        live: extended,
        strategy: { ...noDrift, ...full },
        does: 'FoundDrifts',
        drifts: [B],
      },
      {
        it: 'IfNotDrifted: changed since, and so was the manifest',
        ...earlier,
        live: changed,
        strategy: noDrift,
        does: 'patch',
      },
      { it: 'IfNotDrifted: taken over and never applied', ...taken, live: changed, strategy: noDrift, does: 'patch' },
      { it: 'IfNotDrifted: it was there before, and differs', live: changed, strategy: noDrift, does: 'patch' },
      { it: 'OnRevision: changed since', ...ours, live: changed, strategy: onRevision, does: 'nothing' },
      {
        it: 'OnRevision: changed since, and so was the manifest',
        ...earlier,
        live: changed,
        strategy: onRevision,
        does: 'patch',
      },
      { it: 'OnRevision: taken over and never applied', ...taken, live: changed, strategy: onRevision, does: 'patch' },
      {
        it: 'OnRevision: changed since, with the mark of a Work that is gone',
        live: changed,
        applied: one,
        owners: [owner, deadWork],
        strategy: onRevision,
        does: 'patch',
      },
    ])('$it: $does', ({ does, drifts, diffs, ...given }) => {
      const operation = judge(aCase(given));
      expect(operation.do === 'refuse' ? operation.reason : operation.do).toBe(does);
      expect(operation.do === 'refuse' ? operation.drifts : undefined).toEqual(drifts);
      expect(operation.do === 'refuse' ? operation.diffs : undefined).toEqual(diffs);
    });
  });

  test('what is created bears our mark and remembers what was applied', () => {
    const operation = judge(
      aCase({
        wants: manifest({ a: '1' }, { uid: 'x', resourceVersion: '3', ownerReferences: [foreign], labels: { l: '1' } }),
      }),
    );
    if (operation.do !== 'create') throw new Error(operation.do);
    const { metadata } = operation.object;
    expect(metadata).toMatchObject({ name: 'a', namespace: 'shop', labels: { l: '1' }, ownerReferences: [owner] });
    expect(metadata).not.toHaveProperty('uid');
    expect(metadata).not.toHaveProperty('resourceVersion');
    const remembered = JSON.parse(metadata.annotations?.[annotations.lastApplied] ?? '');
    expect(remembered).toEqual({
      ...manifest({ a: '1' }),
      metadata: {
        name: 'a',
        namespace: 'shop',
        labels: { l: '1' },
        annotations: { [annotations.specHash]: metadata.annotations?.[annotations.specHash] },
        ownerReferences: [owner],
      },
    });
  });

  test.each([
    {
      it: 'merged by uid',
      resource: configMaps,
      type: 'strategic',
      owners: [{ ...owner }, { $patch: 'delete', uid: 'dead' }],
    },
    { it: 'replaced as a whole', resource: widgets, type: 'merge', owners: [foreign, owner] },
  ])('a take-over is one write that fits only what was seen; owners are $it', ({ resource, type, owners }) => {
    const operation = judge(
      aCase({
        resource,
        live: { data: { a: '0' } },
        owners: [foreign, deadWork],
        strategy: { allowCoOwnership: true },
      }),
    );
    expect(operation).toMatchObject({
      do: 'patch',
      type,
      takesOver: true,
      body: { data: { a: '1' }, metadata: { uid: 'u', resourceVersion: '7', ownerReferences: owners } },
    });
  });

  test('what is no longer wanted is taken out, what others added stays', () => {
    const operation = judge(
      aCase({
        wants: manifest({ a: '1' }),
        applied: manifest({ a: '1', b: '1' }),
        live: { data: { a: '1', b: '1', theirs: '1' } },
        owners: [owner],
      }),
    );
    expect(operation).toMatchObject({ do: 'patch', body: { data: { b: null } } });
  });

  test('annotations that are too large by themselves are refused with the limit', () => {
    const operation = judge(aCase({ wants: manifest({}, { annotations: { a: 'x'.repeat(MAX_ANNOTATION_BYTES) } }) }));
    expect(operation).toMatchObject({
      do: 'refuse',
      reason: 'ManifestApplyFailed',
      message: expect.stringContaining('of at most 262144 bytes'),
    });
  });

  describe('server-side apply', () => {
    const managed = (manager: string, operation: string, more: object = {}) => ({
      manager,
      operation,
      apiVersion: 'v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { 'f:a': {} } },
      ...more,
    });
    const serverSide = { type: 'ServerSideApply' as const };
    const applied = (managedFields: readonly object[], strategy: Given['strategy'] = serverSide) =>
      judge(aCase({ live: { data: { a: '2' }, metadata: { managedFields } as never }, owners: [owner], strategy }));

    test('is used above the limit of annotations, without a record', () => {
      const large = manifest({ a: 'x'.repeat(MAX_ANNOTATION_BYTES) });
      const created = judge(aCase({ wants: large }));
      expect(created.do === 'create' && Object.keys(created.object.metadata.annotations ?? {})).toEqual([
        annotations.specHash,
      ]);
      expect(judge(aCase({ wants: large, live: { data: {} }, owners: [owner] }))).toMatchObject({ do: 'apply' });
    });

    test('writes only over the state that was judged', () => {
      expect(applied([managed('kubectl-edit', 'Update')])).toMatchObject({
        do: 'apply',
        force: false,
        body: { metadata: { uid: 'u', resourceVersion: '7', ownerReferences: [owner] } },
      });
    });

    test.each<[string, readonly object[], Given['strategy'], boolean]>([
      ['others', [managed('helm', 'Update')], serverSide, false],
      [
        'others, by force',
        [managed('helm', 'Update')],
        { ...serverSide, serverSideApplyConfig: { force: true } },
        true,
      ],
      ['us alone', [managed('work-api-agent', 'Apply')], serverSide, true],
      ['us, and others a status', [managed('kcm', 'Update', { subresource: 'status' })], serverSide, true],
      ['times before managers', [managed('before-first-apply', 'Update')], serverSide, true],
    ])('fields of %s', (_name, managedFields, strategy, force) => {
      expect(applied(managedFields, strategy)).toMatchObject({ do: 'apply', force });
    });

    test('takes no field of an object that was there before, where the server recorded no managers', () => {
      const before = { data: { a: '2' } };
      expect(judge(aCase({ live: before, strategy: serverSide }))).toMatchObject({ do: 'apply', force: false });
      const early = { ...before, metadata: { managedFields: [managed('before-first-apply', 'Update')] } as never };
      expect(judge(aCase({ live: early, strategy: serverSide }))).toMatchObject({ do: 'apply', force: false });
      const left = aCase({ applied: manifest({ a: '1' }), live: before, owners: [deadWork], strategy: serverSide });
      expect(judge(left)).toMatchObject({ do: 'apply', force: true });
    });

    test('takes the fields of an object that names us alone, as one that was abandoned', () => {
      const placedBefore = (...managedFields: readonly object[]) =>
        judge(aCase({ live: { data: { a: '2' }, metadata: { managedFields } as never }, strategy: serverSide }));
      const ours = managed('work-api-agent', 'Update');
      expect(placedBefore(ours, managed('kcm', 'Update', { subresource: 'status' }))).toMatchObject({ force: true });
      expect(placedBefore(ours, managed('helm', 'Update'))).toMatchObject({ force: false });
    });

    test('moves what our client-side apply wrote to our configuration first', () => {
      const theirs = managed('helm', 'Update');
      const ours = managed('work-api-agent', 'Update', { fieldsV1: { 'f:data': { 'f:b': {} } } });
      expect(applied([theirs, ours, managed('work-api-agent', 'Apply')])).toMatchObject({
        first: {
          body: {
            metadata: {
              managedFields: [theirs, { operation: 'Apply', fieldsV1: { 'f:data': { 'f:a': {}, 'f:b': {} } } }],
            },
          },
        },
      });
      expect(applied([theirs, managed('work-api-agent', 'Apply')])).not.toHaveProperty('first');
      const early = managed('before-first-apply', 'Update');
      expect(applied([early, managed('work-api-agent', 'Apply')])).toMatchObject({
        first: { body: { metadata: { managedFields: [{ manager: 'work-api-agent' }] } } },
      });
    });

    test('drops owners that no longer exist', () => {
      const operation = judge(aCase({ live: { data: {} }, owners: [deadWork, owner], strategy: serverSide }));
      expect(operation).toMatchObject({ do: 'apply', drops: ['dead'] });
    });
  });

  test('a record that cannot be read counts as none', () => {
    const operation = judge(
      aCase({
        live: { data: { a: '1', b: '2' }, metadata: { annotations: { [annotations.lastApplied]: '{' } } },
        owners: [owner],
      }),
    );
    expect(operation).toMatchObject({ do: 'patch' });
    if (operation.do === 'patch') expect(operation.body).not.toHaveProperty('data');
  });

  test('a Secret’s stringData is compared where the server puts it', () => {
    const secret: Resource = { ...configMaps, kind: 'Secret', plural: 'secrets' };
    const wants = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'a', namespace: 'shop' },
      stringData: { p: 'hidden' },
    } as KubeObject;
    const live = {
      ...wants,
      stringData: undefined,
      data: { p: Buffer.from('hidden').toString('base64') },
    } as Partial<KubeObject>;
    expect(judge(aCase({ resource: secret, wants, applied: wants, live, owners: [owner] })).do).toBe('nothing');
  });
});
