import { describe, expect, test } from 'vitest';
import type { PlacementSpec } from './placement.ts';
import { mirrorNamespaceOf, mirrorWarnings } from './status-mirror.ts';

const CRP = 'ClusterResourcePlacement';
const naming = (name?: string, statusReportingScope = 'NamespaceAccessible') =>
  ({
    resourceSelectors: [
      { group: 'apps', version: 'v1', kind: 'Namespace', name: 'no' },
      { group: '', version: 'v1', kind: 'Namespace', ...(name === undefined ? {} : { name }) },
    ],
    statusReportingScope,
  }) as unknown as PlacementSpec;

test('the namespace is that of the Namespace selector of the core group', () => {
  expect(mirrorNamespaceOf(naming('shop'))).toBe('shop');
  expect(mirrorNamespaceOf(naming())).toBe('');
  expect(mirrorNamespaceOf({} as PlacementSpec)).toBe('');
});

describe('who writes a placement is warned', () => {
  test.each<[string, string, PlacementSpec, PlacementSpec | undefined, readonly RegExp[]]>([
    ['of nothing when it is new', CRP, naming('shop'), undefined, []],
    ['of nothing when the namespace stays', CRP, naming('shop'), naming('shop'), []],
    ['of another namespace', CRP, naming('other'), naming('shop'), [/InvalidResourceSelectors.*names "shop" again/]],
    ['of no name', CRP, naming(), undefined, [/needs a Namespace selector with a name/]],
    ['of both', CRP, naming(), naming('shop'), [/with a name/, /names "shop" again/]],
    ['of nothing with the default scope', CRP, naming('b', 'ClusterScopeOnly'), naming('a', 'ClusterScopeOnly'), []],
    ['of no effect in a namespace', 'ResourcePlacement', naming('shop'), undefined, [/no effect/]],
  ])('%s', (_it, kind, spec, old, warnings) => {
    expect(mirrorWarnings(kind, spec, old)).toEqual(warnings.map((each) => expect.stringMatching(each)));
  });
});
