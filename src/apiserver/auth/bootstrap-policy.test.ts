import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { canonicalJson } from '../../base/json.ts';
import { aggregatedRules } from './aggregation.ts';
import { bootstrapPolicy } from './bootstrap-policy.ts';

/**
 * First digits of the SHA-256 of each object's canonical JSON on a real 1.34.4 server, without uid, times and revision.
 */
const REAL: Readonly<Record<string, string>> = {
  'ClusterRole cluster-admin': '8b72c889dd43986b',
  'ClusterRole system:aggregate-to-admin': '87dda887dae2e02d',
  'ClusterRole system:aggregate-to-edit': 'f77e1d1280bbb565',
  'ClusterRole system:aggregate-to-view': '9542d2d64e44441b',
  'ClusterRole system:auth-delegator': '542abcad77dc1e35',
  'ClusterRole system:basic-user': '9ff24965394aab6b',
  'ClusterRole system:discovery': '2b82e54216d6fb50',
  'ClusterRole system:kube-aggregator': 'bbbeccde6accc727',
  'ClusterRole system:kubelet-api-admin': '7ee457781b9cdd6b',
  'ClusterRole system:monitoring': '6d239425b84761fd',
  'ClusterRole system:node': 'c91034fb36b64bda',
  'ClusterRole system:node-bootstrapper': 'b5643ef702714707',
  'ClusterRole system:node-problem-detector': 'c5a5a78cad176a4c',
  'ClusterRole system:node-proxier': 'a84c70f5553aab62',
  'ClusterRole system:persistent-volume-provisioner': '5bd388d80bfd1d31',
  'ClusterRole system:public-info-viewer': '5ecb4eb6fb332ea3',
  'ClusterRole system:service-account-issuer-discovery': '0a8b3b7302206028',
  'ClusterRole view': 'e59025b10c8feb04',
  'ClusterRole edit': '3a9670a790135fa4',
  'ClusterRole admin': 'd3da1bbe048a072b',
  'ClusterRoleBinding cluster-admin': '05dd566b96bb5bb0',
  'ClusterRoleBinding system:basic-user': 'c56fc5125fc2363e',
  'ClusterRoleBinding system:discovery': 'dbd13e45231a91f4',
  'ClusterRoleBinding system:monitoring': '4bb4fcf386abedc8',
  'ClusterRoleBinding system:node': '6ea1e21f9f201ee4',
  'ClusterRoleBinding system:node-proxier': 'd9d8a75ddac9259b',
  'ClusterRoleBinding system:public-info-viewer': '0fd66dc6284326c7',
  'ClusterRoleBinding system:service-account-issuer-discovery': 'f7d826353a079a8c',
  'Role extension-apiserver-authentication-reader': '8ad4a4bf4c48da77',
  'RoleBinding system::extension-apiserver-authentication-reader': 'f0b4ad366c76c831',
};

describe('the roles that every cluster begins with', () => {
  test('are those of a real server, aggregated ones included', () => {
    const digest = (object: KubeObject) =>
      createHash('sha256').update(canonicalJson(object)).digest('hex').slice(0, 16);
    const ours = bootstrapPolicy().map((each) => [`${each.kind} ${each.metadata.name}`, digest(each)]);
    expect(Object.fromEntries(ours)).toEqual(REAL);
  });

  test('are made once, frozen, and shared', () => {
    expect(bootstrapPolicy()).toBe(bootstrapPolicy());
    expect(Object.isFrozen((bootstrapPolicy()[0]!.rules as object[])[0])).toBe(true);
  });
});

describe('aggregation', () => {
  const role = (name: string, labels: Record<string, string>, ...resources: string[]): KubeObject => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name, labels },
    rules: resources.map((resource) => ({ verbs: ['get'], apiGroups: [''], resources: [resource] })),
  });
  const gatherer = (...clusterRoleSelectors: object[]): KubeObject => ({
    ...role('gatherer', { a: '1' }, 'own'),
    aggregationRule: { clusterRoleSelectors },
  });
  const gathered = (into: KubeObject, ...roles: KubeObject[]) =>
    aggregatedRules(into, roles).flatMap((rule) => rule.resources);

  test('takes rules selector by selector, then by name, each once, never its own', () => {
    const roles = [
      role('z', { a: '1' }, 'one', 'two'),
      role('b', { a: '1', b: '1' }, 'three', 'one'),
      role('c', {}, 'no'),
    ];
    const into = gatherer({ matchLabels: { b: '1' } }, { matchLabels: { a: '1' } });
    expect(gathered(into, into, ...roles)).toEqual(['three', 'one', 'two']);
    const exists = { matchExpressions: [{ key: 'b', operator: 'Exists' }] };
    expect(gathered(gatherer(exists), ...roles)).toEqual(['three', 'one']);
  });

  test('gives nothing for a selector that cannot work, and for none', () => {
    const broken = { matchExpressions: [{ key: 'b', operator: 'Zork' }] };
    expect(gathered(gatherer(broken), role('z', { b: '1' }, 'x'))).toEqual([]);
    expect(gathered(role('r', {}), role('z', { b: '1' }, 'x'))).toEqual([]);
  });

  test('does not depend on the order in which roles come', () => {
    const roles = ['a', 'b', 'c', 'd'].map((name, i) => role(name, { a: '1' }, `r${i % 3}`, `r${i}`));
    const expected = gathered(gatherer({ matchLabels: { a: '1' } }), ...roles);
    fc.assert(
      fc.property(fc.shuffledSubarray(roles, { minLength: 4 }), (shuffled) => {
        expect(gathered(gatherer({ matchLabels: { a: '1' } }), ...shuffled)).toEqual(expected);
      }),
    );
  });
});
