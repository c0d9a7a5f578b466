// What is accepted and not built yet: a placement that uses it does not move, says so by name, and goes on when it is used no more.
import { describe, expect } from 'vitest';
import { annotations } from '../../src/api/names.ts';
import { families } from '../../src/hub/families.ts';
import { configMap, type Delivery, DONE, SHOP, scenario } from '../delivery.ts';
import { AT_ONCE, DONE_RUN, prepared } from '../staged.ts';

const QUOTA = 'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: limits\nspec:\n  hard:\n    pods: "4"\n';

/** A ConfigMap that calls itself an envelope. */
const marked = (value: string, name = 'wrap') => ({
  ...configMap(value, name),
  metadata: { name, namespace: SHOP, annotations: { [annotations.envelopeConfigMap]: 'true' } },
});
const unmarked = (name = 'wrap') => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: SHOP, annotations: { [annotations.envelopeConfigMap]: null } },
});

const ON_ENVELOPE = [{ code: 'NotSupportedYet', on: { kind: 'ConfigMap', namespace: SHOP, name: 'wrap' } }];
const findsOn = async (it: Delivery, cluster: string, name: string) =>
  (await it.find(cluster, 'configmaps', name)) !== undefined;

describe('a ConfigMap that is an envelope', () => {
  scenario.for(families)('stops its placement and is named, until it is none', { members: 2 }, async (it) => {
    await it.give(configMap('1'), marked(QUOTA));
    await it.place();
    await it.runs();
    expect(await it.values()).toEqual({ c1: '-', c2: '-' });
    expect(await findsOn(it, 'c1', 'wrap')).toBe(false);
    expect(await it.said()).toEqual({ Scheduled: 'Unknown/SchedulePending' });
    expect(await it.holds()).toMatchObject(ON_ENVELOPE);
    expect(await it.message('Scheduled')).toContain(
      `ConfigMap "${SHOP}/wrap": annotation kubernetes-fleet.io/envelope-configmap is not supported yet`,
    );
    await it.give(unmarked());
    await it.runs();
    expect(await it.said()).toEqual(DONE);
    expect(await it.holds()).toEqual([]);
    expect(await findsOn(it, 'c2', 'wrap')).toBe(true);
  });

  scenario.for(families)('keeps clusters as they are when it becomes one', { members: 2 }, async (it) => {
    await it.give(configMap('1'), configMap(QUOTA, 'wrap'));
    await it.place();
    await it.runs();
    expect(await it.said()).toEqual(DONE);
    it.forget();
    await it.give(marked(QUOTA), configMap('2'));
    await it.runs();
    expect(await it.values()).toEqual({ c1: '1', c2: '1' });
    expect(Object.keys(it.writes()).filter((what) => what.includes('works'))).toEqual([]);
    expect(await it.holds()).toMatchObject(ON_ENVELOPE);
    await it.take('configmaps', 'wrap');
    await it.runs();
    expect(await it.said()).toEqual(DONE);
    expect(await it.values()).toEqual({ c1: '2', c2: '2' });
    expect(await findsOn(it, 'c1', 'wrap')).toBe(false);
  });

  scenario.for(families)('is none with plain data', { members: 1 }, async (it) => {
    await it.give(configMap('1'), marked('plain'));
    await it.place();
    await it.runs();
    expect(await it.said()).toEqual(DONE);
    expect(await findsOn(it, 'c1', 'wrap')).toBe(true);
    // Its values say what it is.
    await it.give(marked(QUOTA));
    await it.runs();
    expect(await it.holds()).toMatchObject(ON_ENVELOPE);
    await it.give(marked('plain'));
    await it.runs();
    expect(await it.said()).toEqual(DONE);
  });

  scenario.for(families)('keeps a run from beginning', { members: 1 }, async (it) => {
    const run = await prepared(it, AT_ONCE);
    await it.give(marked(QUOTA));
    await run.run();
    await it.runs();
    expect(await run.said()).toEqual({ Initialized: 'Unknown/UpdateRunInitializationPending' });
    expect((await run.status()).holds).toMatchObject(ON_ENVELOPE);
    expect(await it.values()).toEqual({ c1: '-' });
    await it.give(unmarked());
    await it.runs();
    expect(await run.said()).toEqual(DONE_RUN);
    expect(await findsOn(it, 'c1', 'wrap')).toBe(true);
  });
});

describe('several fields of a placement', () => {
  const SECOND = 'spec.strategy.reportBackStrategy.type: Mirror';
  const several = {
    strategy: {
      reportBackStrategy: { type: 'Mirror', destination: 'WorkAPI' },
    },
  };

  scenario.for(families)('are all named, each until it is used no more', { members: 1 }, async (it) => {
    await it.give(configMap('1'), marked(QUOTA));
    await it.place(several);
    await it.runs();
    expect(await it.holds()).toMatchObject([
      {
        on: { kind: it.family.placement.kind, name: 'web' },
        facts: { what: `${SECOND}` },
        next: `remove ${SECOND} from the placement`,
      },
      ...ON_ENVELOPE,
    ]);
    expect(await it.message('Scheduled')).toContain(`${SECOND} is not supported yet`);
    await it.take('configmaps', 'wrap');
    await it.runs();
    expect(await it.holds()).toMatchObject([{ facts: { what: SECOND }, next: `remove ${SECOND} from the placement` }]);
    expect(await it.message('Scheduled')).toContain(`${SECOND} is not supported yet`);
    expect(await it.values()).toEqual({ c1: '-' });
    await it.change({ strategy: { reportBackStrategy: null } });
    await it.runs();
    expect(await it.said()).toEqual(DONE);
  });

  scenario.for(families)('are all named by its run', { members: 1 }, async (it) => {
    const run = await prepared(it, AT_ONCE, { strategy: { type: 'External', ...several.strategy } });
    await run.run();
    await it.runs();
    expect((await run.status()).holds?.[0]).toMatchObject({
      code: 'NotSupportedYet',
      facts: { what: `${SECOND}` },
    });
    expect(await it.values()).toEqual({ c1: '-' });
  });
});
