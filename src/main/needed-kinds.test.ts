import { describe, expect, test } from 'vitest';
import { aCluster } from '../../test/cluster.ts';
import type { LiveCatalogue } from '../api/catalogue.ts';
import type { Resource } from '../api/kind.ts';
import { hubKinds, memberKinds } from '../api/kinds.ts';
import { qualified } from '../api/status.ts';
import { wallClock } from '../base/clock.ts';
import { seededRandom } from '../base/random.ts';
import { agentNeeds } from './agent-parts.ts';
import { checkKinds } from './needed-kinds.ts';
import { hubNeeds } from './parts.ts';

const catalogue: LiveCatalogue = { kinds: () => [], find: () => undefined } as unknown as LiveCatalogue;
const parts = { clock: wallClock, random: seededRandom(1), catalogues: { member: catalogue } };
const NEEDS = {
  hub: hubNeeds(catalogue),
  member: agentNeeds(parts, { cluster: 'm', probe: () => Promise.reject(new Error('unused')) }),
};
const where = { where: 'the server', remedy: 'install them' };
const names = (kinds: readonly Resource[]) => kinds.map(({ plural }) => plural);

describe('the kinds that the controllers watch', () => {
  test('include those of overrides, and each kind once', () => {
    expect(names(NEEDS.hub)).toEqual(
      expect.arrayContaining(['clusterresourceoverrides', 'resourceoverrides', 'works']),
    );
    expect(new Set(names(NEEDS.hub)).size).toBe(NEEDS.hub.length);
    expect(names(NEEDS.member)).toContain('appliedworks');
  });

  test.each(['hub', 'member'] as const)('are all served by a %s with our CRDs', async (target) => {
    await using cluster = await aCluster({ kinds: target === 'hub' ? hubKinds : memberKinds });
    const resources = cluster.running.cluster.registry
      .all()
      .flatMap(({ group, plural, versions }) => versions.map(({ version }) => ({ group, plural, version })));
    expect(() => checkKinds({ resources }, NEEDS[target], where)).not.toThrow();
  });
});

describe.each(['hub', 'member'] as const)('a %s', (target) => {
  test.each(NEEDS[target].map((kind) => [qualified(kind), kind] as const))('without %s is named', (name, missing) => {
    const resources = NEEDS[target].filter((kind) => kind !== missing);
    expect(() => checkKinds({ resources }, NEEDS[target], where)).toThrow(
      `the server does not serve ${name}: install them`,
    );
  });

  test('without any names the first, and how many more', () => {
    const run = () => checkKinds({ resources: [] }, NEEDS.hub, where);
    expect(run).toThrow(`and ${NEEDS.hub.length - 5} more: install them`);
  });
});
