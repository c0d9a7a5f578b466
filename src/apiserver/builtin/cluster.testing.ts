// A cluster for tests of this folder and of housekeeping: the memory store, all built-in kinds, a clock that stands still, dice with
// a seed, and a caller who may do anything.
import { builtinKinds } from '../../api/builtin/kinds.ts';
import { apiVersionOf, groupVersionOf, type KubeObject } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import { seededRandom } from '../../base/random.ts';
import type { Cluster } from '../cluster.ts';
import { createRegistry } from '../live-registry.ts';
import type { ServedResource, TableShape } from '../registry.ts';
import { createMemoryStore } from '../store/memory.ts';
import type { At, Caller } from '../verbs/call.ts';
import { servedKind } from './served-kind.ts';

export const START_MS = Date.UTC(2025, 0, 1);

/** A clock that moves only when told to. */
export interface ManualClock extends Clock {
  advance(ms: number): void;
}

export function manualClock(start = START_MS): ManualClock {
  let now = start;
  const timers = new Set<{ readonly at: number; readonly run: () => void }>();
  return {
    now: () => now,
    at(epochMs, _name, run) {
      const timer = { at: epochMs, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(ms) {
      now += ms;
      for (const timer of [...timers].sort((a, b) => a.at - b.at)) {
        if (timer.at > now || !timers.delete(timer)) continue;
        timer.run();
      }
    },
  };
}

const NO_TABLE: TableShape = { columns: [], cells: () => [] };
const resources: readonly ServedResource[] = builtinKinds.map((kind) => servedKind(kind, () => NO_TABLE));

export interface TestCluster extends Cluster {
  readonly clock: ManualClock;
}

export function testCluster(builtin: readonly ServedResource[] = resources): TestCluster {
  return {
    name: 'test',
    store: createMemoryStore(),
    registry: createRegistry(builtin),
    clock: manualClock(),
    random: seededRandom(1),
    authorizer: { allows: () => ({ allowed: true, reason: '' }), rulesFor: () => [] },
    tokens: {
      issuer: 'https://test',
      issue: () => ({ token: 'token', expirationTimestamp: '2025-01-01T01:00:00Z' }),
      issueForSecret: ({ namespace, name, uid, secretName }) => `${namespace}/${name}/${uid}/${secretName}`,
    },
    caCertificate: '-----BEGIN CERTIFICATE-----\n',
  };
}

export const someone: Caller = {
  user: { name: 'tester', groups: ['system:masters'] },
  manager: 'tests',
  dryRun: false,
  fieldValidation: 'Strict',
  warn: () => {},
};

/** Where an object would be written. */
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
