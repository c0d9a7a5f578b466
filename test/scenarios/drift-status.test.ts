// A change on a member is in the placement's status within a second, with one write per object on the way, and costs
// nothing afterwards.
import { describe, expect } from 'vitest';
import { families } from '../../src/hub/families.ts';
import { configMap, type Delivery, scenario } from '../delivery.ts';

const MINUTE = 60_000;
const EDITED = [{ path: '/data/value', valueInHub: 'one', valueInMember: 'edited' }];
const ADDED = [{ path: '/data/more', valueInMember: 'x' }];

const reported = async (it: Delivery) =>
  Object.fromEntries(
    ((await it.status()).placementStatuses ?? []).map(({ clusterName, driftedPlacements, diffedPlacements }) => [
      clusterName,
      [
        ...(driftedPlacements ?? []).flatMap(({ observedDrifts = [] }) => observedDrifts),
        ...(diffedPlacements ?? []).flatMap(({ observedDiffs = [] }) => observedDiffs),
      ],
    ]),
  );

describe.each([
  { it: 'IfNotDrifted', strategy: { whenToApply: 'IfNotDrifted' }, data: { value: 'edited' }, shows: EDITED },
  { it: 'OnRevision', strategy: { whenToApply: 'OnRevision' }, data: { value: 'edited' }, shows: EDITED },
  { it: 'FullComparison', strategy: { comparisonOption: 'FullComparison' }, data: { more: 'x' }, shows: ADDED },
])('a change on a member with $it', ({ strategy, data, shows }) => {
  scenario.for(families)('is reported within a second and then costs no write', { members: 3 }, async (it) => {
    await it.give(configMap('one'));
    await it.place({ strategy: { applyStrategy: strategy } });
    await it.runs(MINUTE);
    expect(await reported(it)).toMatchObject({ c2: [] });
    const { placement, binding } = it.family;

    it.forget();
    await it.patchOn('c2', 'configmaps', 'app', { data });
    await it.runs(1000);
    const found = await reported(it);
    expect(found).toMatchObject({ c2: shows });
    expect(it.writes()).toEqual({
      'c2 patch works/status': 1,
      [`hub patch ${binding.plural}/status`]: 1,
      [`hub patch ${placement.plural}/status`]: 1,
    });

    it.forget();
    await it.runs(60 * MINUTE);
    expect(await reported(it)).toEqual(found);
    expect(it.writes()).toEqual({});
  });
});
