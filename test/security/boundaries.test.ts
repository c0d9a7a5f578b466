// The boundaries of a member, a tenant and an anonymous client on the embedded server.
import { afterAll, describe } from 'vitest';
import { hubKinds } from '../../src/api/kinds.ts';
import {
  createAuthority,
  DAY_MS,
  issueClientCertificate,
  issueServerCertificate,
} from '../../src/apiserver/auth/certificates.ts';
import { type Listening, serve } from '../../src/apiserver/http/server.ts';
import { wallClock } from '../../src/base/clock.ts';
import { systemRandom } from '../../src/base/random.ts';
import { aCluster } from '../cluster.ts';
import { describeBoundaries, type Served } from './boundaries.ts';

const cluster = await aCluster({ kinds: hubKinds });

const served: readonly Served[] = cluster.running.cluster.registry
  .all()
  .map(({ group, plural, kind, namespaced, versions }) => ({
    id: `${group}/${plural}`,
    resource: { group, plural, kind, namespaced, version: versions[0]?.version ?? '' },
  }));

const issuing = { now: Date.now(), random: systemRandom, lifetimeMs: DAY_MS };
const authority = createAuthority({ ...issuing, name: 'kubernetes-ca' });
const own = issueServerCertificate(authority, { ...issuing, hosts: ['127.0.0.1'] });

describe('on the embedded server', () => {
  let server: Listening;
  afterAll(() => server.close());

  describeBoundaries(served, async () => {
    server = await serve({
      clusters: (name) => (name === '' ? cluster.running.http : undefined),
      host: '127.0.0.1',
      port: 0,
      tls: { key: own.privateKey, certificate: own.certificate, clientCa: authority.certificate },
      clock: wallClock,
    });
    return {
      as: cluster.as,
      create: cluster.create,
      settled: cluster.settled,
      connectionAs({ name, groups }) {
        const bare = {
          server: `https://127.0.0.1:${server.port}`,
          ca: authority.certificate,
          insecure: false,
          namespace: 'default',
        };
        if (name === 'system:anonymous') return bare;
        const client = issueClientCertificate(authority, { ...issuing, user: name, groups });
        return { ...bare, certificate: client.certificate, key: client.privateKey };
      },
    };
  });
});
