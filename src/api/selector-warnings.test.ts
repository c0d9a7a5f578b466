import { expect, test } from 'vitest';
import { admitWith, readsOf } from './admission.ts';
import type { Kind } from './kind.ts';
import type { KubeObject } from './object.ts';
import { placement } from './placement.ts';

const NAMESPACES: readonly KubeObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: { team: 'a' } } },
];
const namespace = (more: object = {}) => ({ group: '', version: 'v1', kind: 'Namespace', ...more });

const warnings = (resourceSelectors: readonly object[], old?: readonly object[]) => {
  const objectOf = (selectors: readonly object[]) =>
    ({ apiVersion: 'x', kind: 'x', metadata: { name: 'web' }, spec: { resourceSelectors: selectors } }) as never;
  const question = {
    verb: old === undefined ? 'create' : 'update',
    dryRun: false,
    now: 0,
    user: { name: 'x', groups: [] },
    object: objectOf(resourceSelectors),
    ...(old === undefined ? {} : { old: objectOf(old) }),
  } as const;
  const kind = placement.cluster as unknown as Required<Pick<Kind, 'admit' | 'reads'>>;
  const reads = readsOf(kind, question);
  const fetched = reads.map(({ resource, name }) =>
    resource.plural === 'namespaces' ? NAMESPACES.filter(({ metadata }) => !name || metadata.name === name) : [],
  );
  const admitted = admitWith(kind, question, reads, fetched);
  return admitted.ok ? admitted.warnings.filter((each) => each.includes('matches nothing')) : admitted.causes;
};

test.each<[string, readonly object[], number]>([
  ['a name that is there', [namespace({ name: 'shop' })], 0],
  ['a name that is not there', [namespace({ name: 'shpo' })], 1],
  ['labels that match', [namespace({ labelSelector: { matchLabels: { team: 'a' } } })], 0],
  ['labels that match nothing', [namespace({ labelSelector: { matchLabels: { team: 'b' } } })], 1],
  ['all of a kind that has none', [{ group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'ClusterRole' }], 1],
  ['a custom kind, which is not looked up', [{ group: 'example.com', version: 'v1', kind: 'Widget', name: 'x' }], 0],
  ['one of two', [namespace({ name: 'shop' }), namespace({ name: 'x' })], 1],
])('a selector that matches nothing is warned of: %s', (_it, selectors, count) => {
  expect(warnings(selectors)).toHaveLength(count);
});

test('selectors that nobody touched are not warned of again', () => {
  expect(warnings([namespace({ name: 'x' })], [namespace({ name: 'x' })])).toEqual([]);
});
