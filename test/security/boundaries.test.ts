// The boundaries of a member, a tenant and an anonymous client on the embedded server.
import { describe } from 'vitest';
import { hubKinds } from '../../src/api/kinds.ts';
import { aCluster } from '../cluster.ts';
import { describeBoundaries, type Served } from './boundaries.ts';

const cluster = await aCluster({ kinds: hubKinds });

const served: readonly Served[] = cluster.running.cluster.registry
  .all()
  .map(({ group, plural, kind, namespaced, versions }) => ({
    id: `${group}/${plural}`,
    resource: { group, plural, kind, namespaced, version: versions[0]?.version ?? '' },
  }));

describe('on the embedded server', () => {
  describeBoundaries(served, async () => cluster);
});
