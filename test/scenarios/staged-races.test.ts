// Changes within the latency of a watch.
import { describe, expect } from 'vitest';
import { families } from '../../src/hub/families.ts';
import { configMap, scenario } from '../delivery.ts';
import { AT_ONCE, DONE_RUN, prepared } from '../staged.ts';

describe('a run without an index', () => {
  scenario.for(families)('takes what was made a moment ago, before its watch tells of it', {}, async (it) => {
    const run = await prepared(it, AT_ONCE);
    const resume = it.fleet.stall('configmaps');
    await it.give(configMap('1', 'late'));
    await run.run();
    await it.runs();
    expect(await run.said()).toEqual(DONE_RUN);
    for (const cluster of ['c1', 'c2', 'c3']) expect(await it.find(cluster, 'configmaps', 'late')).toBeDefined();
    resume();
    await it.runs();
    expect(await run.snapshots()).toEqual(['web-0-snapshot']);
  });
});
