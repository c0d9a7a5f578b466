import { describe, expect, test } from 'vitest';
import type { AdmitRequest, Admitted } from './kind.ts';
import { placement } from './placement.ts';
import { stagedUpdateStrategy } from './staged-update-strategy.ts';

type Admit = (request: AdmitRequest<never, never>) => Admitted;
const KINDS: Readonly<Record<string, readonly Admit[]>> = {
  placement: [placement.cluster.admit, placement.namespaced.admit] as never,
  strategy: [stagedUpdateStrategy.cluster.admit, stagedUpdateStrategy.namespaced.admit] as never,
};
const judge = (kind: string, spec: object, old?: object, more: object = {}) =>
  (KINDS[kind] ?? []).map((admit) =>
    admit({
      verb: old === undefined ? 'create' : 'update',
      user: { name: 'ann', groups: [] },
      now: 0,
      object: { apiVersion: '', kind: '', metadata: { name: 'x' }, spec },
      ...(old === undefined ? {} : { old: { apiVersion: '', kind: '', metadata: { name: 'x' }, spec: old } }),
      ...more,
    } as never),
  );

const rolling = (maxUnavailable: number | string) => ({
  resourceSelectors: [],
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable } },
});
const ZERO = [expect.stringContaining('still updates one cluster at a time')];
const NOBODY = [expect.stringContaining('PickFixed picks no cluster')];
const BAD = { labelSelector: { matchLabels: { 'b d': 'x' } } };
const affinity = (more: object) => ({ resourceSelectors: [], policy: { affinity: { clusterAffinity: more } } });

describe('what may mean something else than expected', () => {
  test.each<[string, string, object, readonly unknown[]]>([
    ['maxUnavailable 0', 'placement', rolling(0), ZERO],
    ['maxUnavailable 0%', 'placement', rolling('0%'), ZERO],
    ['maxUnavailable 1', 'placement', rolling(1), []],
    ['maxUnavailable 10%', 'placement', rolling('10%'), []],
    ['PickFixed without names', 'placement', { resourceSelectors: [], policy: { placementType: 'PickFixed' } }, NOBODY],
    [
      'PickFixed with an empty list',
      'placement',
      { resourceSelectors: [], policy: { placementType: 'PickFixed', clusterNames: [] } },
      NOBODY,
    ],
    [
      'PickFixed with names',
      'placement',
      { resourceSelectors: [], policy: { placementType: 'PickFixed', clusterNames: ['a'] } },
      [],
    ],
    ['no stages', 'strategy', { stages: [] }, [expect.stringContaining('spec.stages is empty')]],
    [
      'a stage without a selector',
      'strategy',
      { stages: [{ name: 'a', labelSelector: {} }, { name: 'b' }] },
      ['spec.stages[1] has no labelSelector: stage "b" matches no cluster; {} matches all of them'],
    ],
  ])('%s', (_it, kind, spec, warnings) => {
    for (const admitted of judge(kind, spec)) expect(admitted).toMatchObject({ ok: true, warnings });
    for (const admitted of judge(kind, spec, undefined, { subresource: 'status' }))
      expect(admitted).toMatchObject({ ok: true, warnings: [] });
  });
});

describe('label keys that no label can have are refused', () => {
  test.each<[string, object, string]>([
    ['placement', { resourceSelectors: [BAD] }, 'spec.resourceSelectors[0].labelSelector.matchLabels'],
    [
      'placement',
      affinity({ requiredDuringSchedulingIgnoredDuringExecution: { clusterSelectorTerms: [{}, BAD] } }),
      'spec.policy.affinity.clusterAffinity.requiredDuringSchedulingIgnoredDuringExecution.clusterSelectorTerms[1].labelSelector.matchLabels',
    ],
    [
      'placement',
      affinity({ preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: BAD }] }),
      'spec.policy.affinity.clusterAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.labelSelector.matchLabels',
    ],
    ['strategy', { stages: [{ name: 'a', ...BAD }] }, 'spec.stages[0].labelSelector.matchLabels'],
  ])('of a %s: %j', (kind, spec, field) => {
    const message = expect.stringContaining('Invalid value: "b d": name part must consist of');
    for (const admitted of judge(kind, spec))
      expect(admitted).toEqual({ ok: false, causes: [{ reason: 'FieldValueInvalid', field, message }] });
    // An invalid object that is already stored must still be mutable and deletable.
    for (const admitted of judge(kind, spec, spec)) expect(admitted).toMatchObject({ ok: true });
  });
});
