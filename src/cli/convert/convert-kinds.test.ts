// GitRepos and ClusterGroups of Rancher Fleet: how each field is converted.
import { describe, expect, test } from 'vitest';
import { gitRepo } from '../../api/git-repo.ts';
import { parseYamlDocuments } from '../../base/yaml.ts';
import { convert } from './convert.ts';

const FLEET = `apiVersion: fleet.cattle.io/v1alpha1
kind: GitRepo
metadata: { name: shop, namespace: fleet-default, uid: x, resourceVersion: "7" }
spec:
  repo: https://example.com/shop.git
  paths: [apps]
  clientSecretName: login
  serviceAccount: deployer
  pollingInterval: 30s
  correctDrift: { enabled: true, force: true }
  targets:
  - { name: prod, clusterGroup: prod, doNotDeploy: false }
---
apiVersion: fleet.cattle.io/v1alpha1
kind: ClusterGroup
metadata: { name: prod, namespace: fleet-default }
spec: { selector: { matchLabels: { env: prod } } }
`;

describe('convert', () => {
  test('makes ours of GitRepos and ClusterGroups, and names what it cannot carry over', () => {
    const { yaml, left } = convert(FLEET, 'fleet.yaml');
    expect(parseYamlDocuments(yaml)).toEqual([
      {
        apiVersion: 'flotilla.dev/v1alpha1',
        kind: 'GitRepo',
        metadata: { name: 'shop', namespace: 'fleet-system' },
        spec: {
          repo: 'https://example.com/shop.git',
          paths: ['apps'],
          clientSecretName: 'login',
          pollingInterval: '30s',
          branch: 'master',
          correctDrift: { enabled: true },
          targets: [{ name: 'prod', clusterGroup: 'prod' }],
        },
      },
      {
        apiVersion: 'flotilla.dev/v1alpha1',
        kind: 'ClusterGroup',
        metadata: { name: 'prod' },
        spec: { selector: { matchLabels: { env: 'prod' } } },
      },
    ]);
    expect(left).toEqual([
      'GitRepo "shop": spec.serviceAccount is not carried over',
      'GitRepo "shop": spec.targets[0].doNotDeploy is not carried over',
      'GitRepo "shop": spec.correctDrift.force is not carried over',
      'GitRepo "shop": copy Secret "login" from namespace "fleet-default" to "fleet-system"',
    ]);
  });

  test('gives a GitRepo no field that ours does not have', () => {
    const [object] = parseYamlDocuments(convert(FLEET, 'x').yaml) as [{ spec: object }];
    const known = Object.keys(gitRepo.schema.properties?.['spec']?.properties ?? {});
    expect(known).toEqual(expect.arrayContaining(Object.keys(object.spec)));
  });

  test.each([
    ['says nothing', ''],
    ['turns it on without a word', '  correctDrift: {}\n'],
    ['turns it off', '  correctDrift: { enabled: false }\n'],
  ])('a GitRepo that %s about drift does not correct it', (_it, line) => {
    const other = FLEET.replace('  correctDrift: { enabled: true, force: true }\n', line);
    const [object] = parseYamlDocuments(convert(other, 'x').yaml) as [{ spec: object }];
    expect(object.spec).toMatchObject({ correctDrift: { enabled: false } });
  });

  test('with a branch or a revision keeps it', () => {
    const other = FLEET.replace('  paths: [apps]', '  revision: v1');
    expect(convert(other, 'x').yaml).not.toContain('branch');
  });
});
