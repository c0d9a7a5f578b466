import { expect, test } from 'vitest';
import { waveOf } from './waves.ts';

test.each([
  ['', 'namespaces', 0],
  ['scheduling.k8s.io', 'priorityclasses', 0],
  ['', 'configmaps', 1],
  ['apiextensions.k8s.io', 'customresourcedefinitions', 1],
  ['policy', 'poddisruptionbudgets', 1],
  ['', 'persistentvolumeclaims', 1],
  ['rbac.authorization.k8s.io', 'roles', 2],
  ['rbac.authorization.k8s.io', 'rolebindings', 3],
  ['apps', 'deployments', 4],
  ['batch', 'jobs', 4],
  ['', 'services', 4],
  ['networking.k8s.io', 'ingresses', 4],
  ['apiregistration.k8s.io', 'apiservices', 5],
  ['admissionregistration.k8s.io', 'mutatingwebhookconfigurations', 5],
  ['example.com', 'widgets', 999],
  ['example.com', 'deployments', 999],
  ['', 'endpoints', 999],
] as const)('in group "%s" %s go in wave %i', (group, plural, wave) => expect(waveOf({ group, plural })).toBe(wave));
