import { describe, expect, test } from 'vitest';
import { isNamespaced, jsonFields, typeFact } from './facts.ts';
import { builtinKinds, typeNameOfKind } from './kinds.ts';
import { typeNameOf } from './types.ts';

const versions = builtinKinds.flatMap((kind) => kind.versions.map((version) => ({ kind, version })));
const named = (group: string, plural: string) =>
  builtinKinds.find((kind) => kind.group === group && kind.plural === plural);

describe('the served built-in kinds', () => {
  test('have facts in each version, with the list kind of those that can be listed', () => {
    for (const { kind, version } of versions) {
      expect(typeNameOfKind(kind, version)).toContain(`.${version}.${kind.kind}`);
      const list = typeNameOf(kind.group, version, kind.listKind);
      if (kind.verbs.includes('list')) expect(list, kind.listKind).toBeDefined();
    }
  });

  test('have the scope that the published types state', () => {
    for (const { kind, version } of versions) {
      const stated = isNamespaced(typeNameOfKind(kind, version));
      if (stated !== undefined) expect(kind.namespaced, kind.plural).toBe(stated);
    }
  });

  test('have a status to write and replicas to scale where they say so', () => {
    for (const { kind, version } of versions) {
      const fields = jsonFields(typeNameOfKind(kind, version));
      const names = fields.map((field) => field.name);
      if (kind.hasStatus) expect(names, kind.plural).toContain('status');
      if (kind.scale !== undefined) {
        const spec = fields.find((field) => field.name === 'spec')?.type;
        const replicas = spec?.form === 'struct' ? jsonFields(spec.name).map((field) => field.name) : [];
        expect(replicas, kind.plural).toEqual(expect.arrayContaining(['replicas', 'selector']));
      }
    }
  });

  test('share no name within a group', () => {
    const names = builtinKinds.map((kind) => `${kind.plural}.${kind.group}`);
    expect(new Set(names).size).toBe(names.length);
    // Only the two kinds of Event may share a short name between groups.
    const short = builtinKinds.flatMap((kind) => kind.shortNames);
    expect(short.filter((name, index) => short.indexOf(name) !== index)).toEqual(['ev']);
  });

  test('are the ones that `kubectl get all` asks for', () => {
    const all = builtinKinds.filter((kind) => kind.categories.includes('all')).map((kind) => kind.plural);
    expect(all.sort()).toEqual([
      'cronjobs',
      'daemonsets',
      'deployments',
      'horizontalpodautoscalers',
      'jobs',
      'pods',
      'replicasets',
      'replicationcontrollers',
      'services',
      'statefulsets',
    ]);
  });

  test.each([
    ['', 'pods', { shortNames: ['po'], namespaced: true, singular: 'pod', listKind: 'PodList' }],
    ['', 'endpoints', { kind: 'Endpoints', singular: 'endpoints', listKind: 'EndpointsList' }],
    ['apps', 'deployments', { shortNames: ['deploy'], hasStatus: true }],
    ['autoscaling', 'horizontalpodautoscalers', { versions: ['v2', 'v1'] }],
    ['authorization.k8s.io', 'selfsubjectaccessreviews', { verbs: ['create'], namespaced: false }],
    ['authorization.k8s.io', 'localsubjectaccessreviews', { verbs: ['create'], namespaced: true }],
    ['apiextensions.k8s.io', 'customresourcedefinitions', { shortNames: ['crd', 'crds'] }],
    ['storage.k8s.io', 'csistoragecapacities', { namespaced: true }],
  ])('%s/%s is as on a real server', (group, plural, facts) => {
    expect(named(group, plural)).toMatchObject(facts);
  });

  test('name the kinds that their subresources take, with facts where a body is read', () => {
    expect(named('', 'serviceaccounts')?.subresources).toEqual([
      { name: 'token', group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest', verbs: ['create'] },
    ]);
    for (const name of ['TokenRequest', 'Binding', 'Eviction']) {
      const sub = builtinKinds.flatMap((kind) => kind.subresources).find((each) => each.kind === name);
      expect(typeFact(typeNameOf(sub?.group ?? '', sub?.version ?? '', name) ?? '')?.form).toBe('struct');
    }
  });

  test('cannot be changed', () => {
    expect(Object.isFrozen(builtinKinds)).toBe(true);
    expect(Object.isFrozen(named('', 'pods')?.subresources)).toBe(true);
  });
});
