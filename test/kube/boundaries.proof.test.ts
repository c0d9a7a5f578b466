// The boundaries of a member, a tenant and an anonymous client on a real API server that is a hub: the roles that we ship mean there what they
// mean on ours.
import { afterAll, describe } from 'vitest';
import { connectionAs, type Plane } from '../../scripts/kube/plane.ts';
import type { User } from '../../src/api/object.ts';
import { wallClock } from '../../src/base/clock.ts';
import { ApiError } from '../../src/base/errors.ts';
import { discover } from '../../src/client/discovery.ts';
import { type HttpTransport, httpTransport } from '../../src/client/http.ts';
import { admin } from '../cluster.ts';
import { describeBoundaries, type Ground, NAMESPACES, type Served } from '../security/boundaries.ts';
import { hubPlane, skipsPlanes } from './planes.ts';

const known = new Map<string, HttpTransport>();

function transportAs(plane: Plane, user: User): HttpTransport {
  const transport = known.get(user.name) ?? httpTransport(connectionOf(plane, user), { clock: wallClock });
  known.set(user.name, transport);
  return transport;
}

/** Whoever is anonymous shows nothing at all. */
function connectionOf(plane: Plane, user: User) {
  const connection = connectionAs(plane, user);
  if (user.name !== 'system:anonymous') return connection;
  const { certificate: _certificate, key: _key, ...bare } = connection;
  return bare;
}

/** Each resource once, in the version that the server prefers. */
async function servedBy(plane: Plane): Promise<readonly Served[]> {
  const { resources } = await discover(transportAs(plane, admin));
  const first = new Map<string, Served>();
  for (const { group, version, kind, plural, namespaced } of resources.toSorted((a, b) => a.rank - b.rank)) {
    const id = `${group}/${plural}`;
    if (!first.has(id)) first.set(id, { id, resource: { group, version, kind, plural, namespaced } });
  }
  return [...first.values()];
}

const NOTHING: Served = {
  id: '/configmaps',
  resource: { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true },
};
const served = skipsPlanes ? [NOTHING] : await servedBy(hubPlane);

async function ground(): Promise<Ground> {
  const own = transportAs(hubPlane, admin);
  return {
    as: (user) => transportAs(hubPlane, user),
    connectionAs: (user) => connectionOf(hubPlane, user),
    async create(plural, namespace, object) {
      const { resource } = served.find((each) => each.resource.plural === plural) as Served;
      const { group, version, kind } = resource;
      const apiVersion = group === '' ? version : `${group}/${version}`;
      const at = { resource, ...(namespace === undefined ? {} : { namespace }) };
      try {
        await own.call({ verb: 'create', at, object: { apiVersion, kind, metadata: {}, ...object }, manager: 'test' });
      } catch (error) {
        if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) throw error;
      }
    },
    settled: async () => {},
  };
}

describe.skipIf(skipsPlanes)('on a real API server', () => {
  afterAll(async () => {
    const own = transportAs(hubPlane, admin);
    const { resource } = served.find(({ id }) => id === '/namespaces') as Served;
    for (const name of NAMESPACES) await own.call({ verb: 'delete', at: { resource, name } });
    for (const transport of known.values()) transport.close();
  });
  describeBoundaries(served, ground);
});
