// The time from which on evictions are carried out: the first start of a hub that supports them. It is written once, to
// the hub's Lease, and never changes: evictions from before are too old to act on, but those created while the hub was
// down are carried out.
import { annotations, leases, SYSTEM_NAMESPACE } from '../api/names.ts';
import type { KubeObject } from '../api/object.ts';
import { namespaceResource } from '../api/resources.ts';
import type { Transport } from '../api/transport.ts';
import { type Clock, kubeTime } from '../base/clock.ts';
import { ApiError } from '../base/errors.ts';
import { LEASES } from '../runtime/leader.ts';

const MANAGER = 'flotilla-hub';
const ATTEMPTS = 10;

const unless = (reason: string) => (error: unknown) => {
  if (error instanceof ApiError && error.reason === reason) return undefined;
  throw error;
};

/** Epoch milliseconds. Creates the Lease and its namespace if they are missing. */
export async function evictionsSince(transport: Transport, clock: Clock): Promise<number> {
  const at = { resource: LEASES, namespace: SYSTEM_NAMESPACE, name: leases.hub };
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const found = await transport.call({ verb: 'get', at }).catch(unless('NotFound'));
    const lease = found?.object as KubeObject | undefined;
    const known = Date.parse(lease?.metadata.annotations?.[annotations.evictionsSince] ?? '');
    if (!Number.isNaN(known)) return known;
    const mark = { [annotations.evictionsSince]: kubeTime(clock.now()) };
    if (lease === undefined) await createLease(transport, mark);
    else {
      const { uid, resourceVersion } = lease.metadata;
      const body = {
        metadata: {
          ...(uid === undefined ? {} : { uid }),
          ...(resourceVersion === undefined ? {} : { resourceVersion }),
          annotations: mark,
        },
      };
      // The Lease is renewed all the time, so conflicts are normal.
      await transport
        .call({ verb: 'patch', at, patch: { type: 'merge', body }, manager: MANAGER })
        .catch(unless('Conflict'));
    }
  }
  throw new Error(`the Lease ${SYSTEM_NAMESPACE}/${leases.hub} could not be annotated`);
}

async function createLease(transport: Transport, mark: Readonly<Record<string, string>>): Promise<void> {
  const namespace: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SYSTEM_NAMESPACE } };
  await transport
    .call({ verb: 'create', at: { resource: namespaceResource }, object: namespace, manager: MANAGER })
    .catch(unless('AlreadyExists'));
  const object: KubeObject = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: leases.hub, namespace: SYSTEM_NAMESPACE, annotations: mark },
    spec: {},
  };
  const at = { resource: LEASES, namespace: SYSTEM_NAMESPACE };
  await transport.call({ verb: 'create', at, object, manager: MANAGER }).catch(unless('AlreadyExists'));
}
