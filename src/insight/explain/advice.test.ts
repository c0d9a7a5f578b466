import { describe, expect, test } from 'vitest';
import type { ApplyCause } from '../../api/apply-cause.ts';
import { aPlacement, cluster, failed } from '../placement.testing.ts';
import { adviceFor } from './advice.ts';

type Failed = ReturnType<typeof failed> & { readonly cause?: ApplyCause | undefined };

const refused = (cause: ApplyCause | undefined, more: Partial<Failed> = {}): Failed => {
  const base = failed('whatever the agent says');
  return { ...base, condition: { ...base.condition, type: 'Applied', reason: 'FailedToTakeOver' }, cause, ...more };
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
      cause: { code: 'OwnedByOthers', by: 'ConfigMap "own"' } as const,
      says: 'share Deployment "shop/web" with ConfigMap "own": set spec.strategy.applyStrategy.allowCoOwnership of the placement to true; or take that owner out of metadata.ownerReferences on cluster "eu-1"',
    },
    {
      it: 'about what was there before',
      cause: { code: 'NotTakenOver' } as const,
      says: 'let the placement take over Deployment "shop/web": set its spec.strategy.applyStrategy.whenToTakeOver to Always (it is then deleted with the placement); or delete it on cluster "eu-1" so that it is created again',
    },
    {
      it: 'about what another placement has placed',
      cause: { code: 'PlacedByAnother', by: 'ClusterResourcePlacement "shop"' } as const,
      says: 'take Deployment "shop/web" out of the resourceSelectors of this placement, or of ClusterResourcePlacement "shop": only one of them may place an object',
    },
    {
      it: 'about what a placement has placed that nobody can name',
      cause: { code: 'PlacedByAnother' } as const,
      says: 'take Deployment "shop/web" out of the resourceSelectors of this placement, or of the other placement: only one of them may place an object',
    },
    {
      it: 'about what cannot be changed',
      cause: { code: 'FieldImmutable' } as const,
      says: 'revert the change of Deployment "shop/web" on the hub, rename it, or delete it on cluster "eu-1" so that it is created again: `kubectl --context eu-1 -n shop delete deployment/web`',
    },
    {
      it: 'about a kind that is missing',
      cause: { code: 'KindNotServed' } as const,
      says: 'install the CustomResourceDefinition of Deployment "shop/web" on cluster "eu-1", or place it; the rest follows without further action',
    },
    {
      it: 'about a namespace that is missing',
      cause: { code: 'NamespaceMissing' } as const,
      says: 'bring namespace "shop" to cluster "eu-1": a ClusterResourcePlacement that selects it with selectionScope NamespaceOnly does that',
    },
    {
      it: 'about what somebody keeps deleting',
      cause: { code: 'UndoneRepeatedly' } as const,
      says: 'find the client that removes Deployment "shop/web" on cluster "eu-1" (an operator, a clean-up, a time to live) and stop it, or remove the object from the placement',
    },
    {
      it: 'about what is too large',
      cause: { code: 'TooLarge' } as const,
      says: 'make the annotations of Deployment "shop/web" smaller: together they may take 256 KiB',
    },
    {
      it: 'about what the API server of the member does not store',
      cause: { code: 'AboveServerLimit' } as const,
      says: 'make Deployment "shop/web" smaller or split it: on cluster "eu-1" it is larger than the API server stores, also by data that others have added there',
    },
    {
      it: 'about fields of another manager',
      cause: { code: 'FieldConflict', by: '"helm"' } as const,
      says: 'remove the fields of Deployment "shop/web" that "helm" manages from the hub, or set spec.strategy.applyStrategy.serverSideApplyConfig.force of the placement to true',
    },
    {
      it: 'about what differs before it is taken over',
      cause: { code: 'FoundDiff' } as const,
      says: 'make Deployment "shop/web" on cluster "eu-1" equal to the hub (status.placementStatuses[].diffedPlacements has the fields), or set spec.strategy.applyStrategy.whenToTakeOver of the placement to Always',
    },
    {
      it: 'about what was changed on the member',
      cause: { code: 'FoundDrifts' } as const,
      says: 'undo the change of Deployment "shop/web" on cluster "eu-1" (status.placementStatuses[].driftedPlacements has the fields), make the same change on the hub, or set spec.strategy.applyStrategy.whenToApply of the placement to Always',
    },
    {
      it: 'about a refusal without a code, such as that of a policy of the member',
      cause: undefined,
      says: undefined,
    },
  ])('$it', ({ cause, says }) => {
    expect(advice({ 'eu-1': [refused(cause)] })).toEqual(says === undefined ? [] : [says]);
  });

  test('about what cannot be changed offers no command that could lose something', () => {
    const cause: ApplyCause = { code: 'FieldImmutable' };
    const [claim] = advice({ 'eu-1': [refused(cause, { group: '', kind: 'PersistentVolumeClaim', name: 'disk' })] });
    expect(claim).toMatch(/, or delete it on cluster "eu-1", if no data is lost, so that it is created again$/);
    const [two] = advice({ 'eu-1': [refused(cause), refused(cause, { name: 'other' })] });
    expect(two).not.toContain('kubectl');
  });

  describe('about what was there before', () => {
    const there = (more: Partial<Failed>) => refused({ code: 'NotTakenOver' }, { group: '', ...more });
    const { namespace: _none, ...shop } = there({ kind: 'Namespace', name: 'shop' });
    const way = 'set its spec.strategy.applyStrategy.whenToTakeOver to Always';

    test('is never to delete what may hold something of others', () => {
      expect(advice({ 'eu-1': [shop as Failed] })).toEqual([
        `let the placement take over Namespace "shop": ${way} (it is then deleted with the placement, and everything in it)`,
      ]);
      expect(advice({ 'eu-1': [there({ kind: 'PersistentVolumeClaim', name: 'disk' })] })).toEqual([
        `let the placement take over PersistentVolumeClaim "shop/disk": ${way} (it is then deleted with the placement)`,
      ]);
      // In another API group it is another kind.
      expect(advice({ 'eu-1': [there({ group: 'serving.knative.dev', kind: 'Service' })] })[0]).not.toContain(
        'delete it on',
      );
    });

    test('keeps those apart that may be deleted', () => {
      const config = there({ kind: 'ConfigMap', name: 'a' });
      expect(advice({ 'eu-1': [shop as Failed, config, there({ kind: 'Secret', name: 'b' })] })).toEqual([
        expect.stringMatching(/^let the placement take over Namespace "shop": .* in it\)$/),
        expect.stringMatching(
          /^let the placement take over ConfigMap "shop\/a": .*; or delete it on cluster "eu-1" so /,
        ),
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
    const owned = refused({ code: 'OwnedByOthers', by: 'ConfigMap "own"' });
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
