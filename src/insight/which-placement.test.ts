import { describe, expect, test } from 'vitest';
import { argumentOf, titleOf, whichPlacement } from './which-placement.ts';

describe('which placement is meant', () => {
  test.each([
    { given: 'placement/web', is: 'ClusterResourcePlacement "web"' },
    { given: 'placements/web', is: 'ClusterResourcePlacement "web"' },
    { given: 'crp/web', is: 'ClusterResourcePlacement "web"' },
    { given: 'clusterresourceplacement.placement.kubernetes-fleet.io/web', is: 'ClusterResourcePlacement "web"' },
    { given: 'placement/web', namespace: 'team', is: 'ResourcePlacement "team/web"' },
    { given: 'rp/web', namespace: 'team', is: 'ResourcePlacement "team/web"' },
  ])('$given in $namespace', ({ given, namespace, is }) => {
    const which = whichPlacement(given, namespace);
    expect(titleOf(which)).toBe(is);
    expect(argumentOf(which)).toBe(namespace === undefined ? 'placement/web' : 'placement/web -n team');
  });

  test.each([
    { given: 'web', says: '"web" names no placement: write placement/NAME, such as placement/web' },
    { given: 'shop-1', says: '"shop-1" names no placement: write placement/NAME, such as placement/shop-1' },
    { given: 'placement', says: '"placement" names no placement: write placement/NAME, such as placement/web' },
    { given: 'placement/', says: '"placement/" names no placement: write placement/NAME, such as placement/web' },
    { given: 'pod/web', says: '"pod/web" names no placement: write placement/NAME, such as placement/web' },
    { given: 'placement/a/b', says: '"placement/a/b" names no placement: write placement/NAME, such as placement/web' },
    { given: 'constructor/x', says: '"constructor/x" names no placement: write placement/NAME, such as placement/web' },
    {
      given: 'placement/We b',
      says: '"We b" cannot be the name of a placement: write placement/NAME, such as placement/web',
    },
    { given: 'rp/web', says: 'a ResourcePlacement is in a namespace: name it with -n, such as -n team' },
    { given: 'placement/web', namespace: '', says: '"" cannot be the name of a namespace' },
    { given: 'placement/web', namespace: '../x', says: '"../x" cannot be the name of a namespace' },
    {
      given: 'crp/web',
      namespace: 'team',
      says: 'a ClusterResourcePlacement is in no namespace: omit -n, or write placement/web',
    },
  ])('not $given', ({ given, namespace, says }) => {
    expect(() => whichPlacement(given, namespace)).toThrow(says);
  });

  test('nor a run, where one could be', () => {
    expect(() => whichPlacement('foo/nope', undefined, 'or run')).toThrow(
      '"foo/nope" names neither a placement nor a run: write placement/NAME or run/NAME, such as placement/web',
    );
  });
});
