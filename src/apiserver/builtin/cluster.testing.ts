// A bare cluster for unit tests: memory store, all built-in kinds, a test clock, a seeded random source, and a caller
// with all permissions. It has no housekeeping; test/cluster.ts has a cluster with housekeeping.
import { type TestClock, testClock } from '../../../test/cluster.ts';
import { builtinKinds } from '../../api/builtin/kinds.ts';
import { apiVersionOf, groupVersionOf, type KubeObject } from '../../api/object.ts';
import { seededRandom } from '../../base/random.ts';
import type { Cluster, TokenIssuer } from '../cluster.ts';
import { createRegistry } from '../live-registry.ts';
import type { ServedResource, TableShape } from '../registry.ts';
import { createMemoryStore } from '../store/memory.ts';
import type { At, Caller } from '../verbs/call.ts';
import { servedKind } from './served-kind.ts';

export const START_MS = Date.UTC(2025, 0, 1);

const NO_TABLE: TableShape = { columns: [], cells: () => [] };
const resources: readonly ServedResource[] = builtinKinds.map((kind) => servedKind(kind, () => NO_TABLE));

export interface TestCluster extends Cluster {
  readonly clock: TestClock;
}

export const testCluster = (builtin = resources): TestCluster =>
  bareCluster({ registry: createRegistry(builtin), clock: testClock(START_MS) });

/** A cluster without housekeeping, in which everyone may do everything, except for the given parts. */
export const bareCluster = <Given extends Pick<Cluster, 'registry' | 'clock'> & Partial<Cluster>>(given: Given) => ({
  name: 'test',
  store: createMemoryStore(),
  random: seededRandom(1),
  authorizer: { allows: () => ({ allowed: true, reason: '' }), rulesFor: () => [] },
  tokens: {
    issuer: 'https://test',
    issue: () => ({ token: 'token', expirationTimestamp: '2025-01-01T01:00:00Z' }),
    issueForSecret: ({ namespace, name, uid, secretName }: Parameters<TokenIssuer['issueForSecret']>[0]) =>
      `${namespace}/${name}/${uid}/${secretName}`,
  },
  caCertificate: '-----BEGIN CERTIFICATE-----\n',
  ...given,
});

export const someone: Caller = {
  user: { name: 'tester', groups: ['system:masters'] },
  manager: 'tests',
  dryRun: false,
  fieldValidation: 'Strict',
  warn: () => {},
};

/** The address of an object. */
export function placeOf(cluster: Cluster, object: KubeObject, namespace = ''): At {
  const { group, version } = groupVersionOf(object.apiVersion);
  const found = cluster.registry.findKind(group, object.kind, version);
  if (found === undefined) throw new Error(`${apiVersionOf(group, version)} ${object.kind} is not served`);
  return {
    ...found,
    namespace: found.resource.namespaced ? (object.metadata.namespace ?? namespace) : '',
    ...(object.metadata.name === undefined ? {} : { name: object.metadata.name }),
  };
}
