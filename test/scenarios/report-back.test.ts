// reportBackStrategy Mirror: the status of placed objects is reported in the Works on the hub.
import { expect } from 'vitest';
import { families } from '../../src/hub/families.ts';
import { configMap, type Delivery, DONE, deployment, scenario } from '../delivery.ts';

const MINUTE = 60_000;
const mirror = (type: 'Mirror' | 'Disabled') => ({
  strategy: { reportBackStrategy: { type, ...(type === 'Mirror' ? { destination: 'WorkAPI' } : {}) } },
});

/** The reported status, by name of the object. */
const reported = async (it: Delivery) => {
  const entries = (await it.work('c1'))?.status?.manifestConditions ?? [];
  return Object.fromEntries(
    entries.flatMap(({ identifier, backReportedStatus: back }) =>
      back === undefined || identifier.kind === 'Namespace' ? [] : [[identifier.name, back.observedStatus]],
    ),
  );
};

scenario.for(families)(
  'the status of what is applied is in the Work, follows the member, and goes when it is no longer asked for',
  { members: 1 },
  async (it) => {
    await it.give(deployment('web:1', 2), configMap('one'));
    await it.place(mirror('Mirror'));
    await it.runs(MINUTE);
    expect(await it.said()).toEqual(DONE);
    expect(await reported(it)).toMatchObject({
      web: { apiVersion: 'apps/v1', kind: 'Deployment', status: { availableReplicas: 2 } },
    });
    // A ConfigMap has no status.
    expect(Object.keys(await reported(it))).toEqual(['web']);

    it.forget();
    await it.runs(20 * MINUTE);
    expect(it.writes()).toEqual({});

    await it.give(deployment('web:1', 3));
    await it.runs(MINUTE);
    expect(await reported(it)).toMatchObject({ web: { status: { availableReplicas: 3 } } });

    await it.change(mirror('Disabled'));
    await it.runs();
    expect((await it.work('c1'))?.spec).not.toHaveProperty('reportBackStrategy');
    expect(await reported(it)).toEqual({});
    expect(await it.said()).toEqual(DONE);
  },
);

scenario.for(families)('an object that is no longer applied reports nothing back', { members: 1 }, async (it) => {
  await it.give(deployment('web:1', 1));
  const applyStrategy = { whenToApply: 'IfNotDrifted' };
  await it.place({ strategy: { ...mirror('Mirror').strategy, applyStrategy } });
  await it.runs(MINUTE);
  expect(Object.keys(await reported(it))).toEqual(['web']);
  await it.patchOn('c1', 'deployments', 'web', { spec: { replicas: 5 } });
  await it.runs();
  expect((await it.saidOf('c1'))['Applied']).toBe('False/NotAllWorkHaveBeenApplied');
  expect(await reported(it)).toEqual({});
});
