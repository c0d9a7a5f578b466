import { describe, expect, test } from 'vitest';
import { adviceFor } from './advice.ts';
import { aPlacement, cluster, failed } from './placement.testing.ts';

type Failed = ReturnType<typeof failed>;

const refused = (message: string, more: Partial<Failed> = {}): Failed => {
  const base = failed(message);
  return { ...base, condition: { ...base.condition, type: 'Applied', reason: 'FailedToTakeOver' }, ...more };
};
const advice = (where: Readonly<Record<string, readonly Failed[]>>, about?: readonly string[]) =>
  adviceFor(
    aPlacement({
      clusters: Object.entries(where).map(([name, failedPlacements]) =>
        cluster(name, 'TTTTF', { failedPlacements: [...failedPlacements] }),
      ),
    }),
    about,
  );

describe('what to do', () => {
  test.each([
    {
      it: 'about a foreign owner',
      message: 'Deployment "shop/web" is owned by ConfigMap "own", and allowCoOwnership is not set',
      says: 'share Deployment "shop/web" with ConfigMap "own": set spec.strategy.applyStrategy.allowCoOwnership of the placement to true; or take that owner out of metadata.ownerReferences on cluster "eu-1"',
    },
    {
      it: 'about what was there before',
      message: 'Deployment "shop/web" was on the member before, owned by Foo "x", and whenToTakeOver is Never',
      says: 'let the placement take over Deployment "shop/web": set its spec.strategy.applyStrategy.whenToTakeOver to Always (it then goes with the placement); or delete it on cluster "eu-1", and it is created anew',
    },
    {
      it: 'about what another placement has placed',
      message:
        'Deployment "shop/web" is already placed by another placement, ClusterResourcePlacement "shop" (AppliedWork "shop-work"): let only one of them select it',
      says: 'take Deployment "shop/web" out of the resourceSelectors of this placement, or of ClusterResourcePlacement "shop": only one of them may place an object',
    },
    {
      it: 'about what a placement has placed that nobody can name',
      message:
        'Deployment "shop/web" is already placed by another placement (AppliedWork "shop-work"): let only one of them select it',
      says: 'take Deployment "shop/web" out of the resourceSelectors of this placement, or of the other placement: only one of them may place an object',
    },
    {
      it: 'about what cannot be changed',
      message:
        'cannot change Deployment "shop/web": spec.selector cannot be changed on an existing object (…); change it back, …',
      says: 'change Deployment "shop/web" back on the hub, or give it another name; or delete it on cluster "eu-1", and it is created anew: `kubectl --context eu-1 -n shop delete deployment/web`',
    },
    {
      it: 'about a kind that is missing',
      message: 'the member serves no kind Widget in example.com/v1; if it is a custom one, …',
      says: 'install the CustomResourceDefinition of Deployment "shop/web" on cluster "eu-1", or let a placement bring it; the rest follows by itself',
    },
    {
      it: 'about a namespace that is missing',
      message: 'cannot create Deployment "shop/web": the member has no namespace "shop": …',
      says: 'bring namespace "shop" to cluster "eu-1": a ClusterResourcePlacement that selects it with selectionScope NamespaceOnly does that',
    },
    {
      it: 'about what somebody keeps deleting',
      message:
        'Deployment "shop/web" is deleted on the member again and again; it is created anew at 2026-01-01T12:00:00Z',
      says: 'find out who takes Deployment "shop/web" away on cluster "eu-1" (an operator, a clean-up, a time to live) and stop it, or take that out of the placement',
    },
    {
      it: 'about what is too large',
      message: 'Deployment "shop/web" is too large for client-side apply: its annotations, …',
      says: 'make Deployment "shop/web" smaller, or split it: an object may take about 256 KiB',
    },
    {
      it: 'about a refusal that says it itself',
      message: 'the member refused Deployment "shop/web": …',
      says: undefined,
    },
    {
      it: 'about a policy of the member, which deleting does not help against',
      message:
        'the member refused Deployment "shop/web": admission webhook "images.example.com" denied the request: images must have immutable tags',
      says: undefined,
    },
  ])('$it', ({ message, says }) => {
    expect(advice({ 'eu-1': [refused(message)] })).toEqual(says === undefined ? [] : [says]);
  });

  test('about what cannot be changed offers no command that could lose something', () => {
    const message = 'cannot change X: spec cannot be changed on an existing object (…)';
    const [claim] = advice({ 'eu-1': [refused(message, { group: '', kind: 'PersistentVolumeClaim', name: 'disk' })] });
    expect(claim).toMatch(/; or delete it on cluster "eu-1", if nothing is lost with that, and it is created anew$/);
    const [two] = advice({ 'eu-1': [refused(message), refused(message, { name: 'other' })] });
    expect(two).not.toContain('kubectl');
  });

  describe('about what was there before', () => {
    const there = (more: Partial<Failed>) =>
      refused('X was on the member before, and whenToTakeOver is Never', { group: '', ...more });
    const { namespace: _none, ...shop } = there({ kind: 'Namespace', name: 'shop' });
    const way = 'set its spec.strategy.applyStrategy.whenToTakeOver to Always';

    test('is never to delete what may hold something of others', () => {
      expect(advice({ 'eu-1': [shop as Failed] })).toEqual([
        `let the placement take over Namespace "shop": ${way} (it then goes with the placement, and all that is in it)`,
      ]);
      expect(advice({ 'eu-1': [there({ kind: 'PersistentVolumeClaim', name: 'disk' })] })).toEqual([
        `let the placement take over PersistentVolumeClaim "shop/disk": ${way} (it then goes with the placement)`,
      ]);
      // Of another group it is something else.
      expect(advice({ 'eu-1': [there({ group: 'serving.knative.dev', kind: 'Service' })] })[0]).not.toContain('delete');
    });

    test('keeps those apart that may be deleted', () => {
      const config = there({ kind: 'ConfigMap', name: 'a' });
      expect(advice({ 'eu-1': [shop as Failed, config, there({ kind: 'Secret', name: 'b' })] })).toEqual([
        expect.stringMatching(/^let the placement take over Namespace "shop": .* in it\)$/),
        expect.stringMatching(/^let the placement take over ConfigMap "shop\/a": .*; or delete it on cluster "eu-1", /),
        expect.stringMatching(/^let the placement take over Secret "shop\/b": .*placement\)$/),
      ]);
    });
  });

  test('about what does not work is to look, with commands to copy', () => {
    const deployment =
      'look at Deployment "shop/web" on cluster "eu-1": `kubectl --context eu-1 -n shop describe deployment/web` and `kubectl --context eu-1 -n shop get pods`';
    expect(advice({ 'eu-1': [failed('no Pod is ready')] })).toEqual([deployment]);
    const widget = { ...failed('no'), group: 'example.com', kind: 'Widget', name: 'w' };
    expect(advice({ 'eu-1': [widget] })).toEqual([
      'look at Widget "shop/w" on cluster "eu-1": `kubectl --context eu-1 -n shop describe widget.example.com/w`',
    ]);
  });

  test('is said once for several clusters', () => {
    const owned = refused('Deployment "shop/web" is owned by ConfigMap "own", and allowCoOwnership is not set');
    expect(advice({ 'eu-1': [owned], 'eu-2': [owned] })).toEqual([
      expect.stringMatching(/ownerReferences on clusters eu-1, eu-2$/),
    ]);
    expect(advice({ 'eu-1': [failed('x')], 'eu-2': [failed('x')] })).toEqual([
      expect.stringMatching(/ get pods` \(the same on eu-2\)$/),
    ]);
    const other = { ...owned, kind: 'Service', name: 'api' };
    expect(advice({ 'eu-1': [owned, other], 'eu-2': [owned, other] })).toEqual([
      expect.stringMatching(/^share Deployment "shop\/web", Service "shop\/api" with .* on clusters eu-1, eu-2$/),
    ]);
    expect(advice({ 'eu-1': [owned], 'eu-2': [owned] }, ['eu-2'])).toEqual([
      expect.stringMatching(/ownerReferences on cluster "eu-2"$/),
    ]);
  });

  test('puts nothing into a command that is no name', () => {
    expect(advice({ 'eu-1': [{ ...failed('x'), name: 'a; rm -rf ~' }] })).toEqual([]);
    expect(advice({ 'eu-1': [{ ...failed('x'), kind: 'A`b`' }] })).toEqual([]);
    expect(advice({ '$(reboot)': [failed('x')] })).toEqual([]);
  });
});
