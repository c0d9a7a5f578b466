import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../api/object.ts';
import { kubeTime } from '../../../base/clock.ts';
import { aPretendCluster, NAMESPACE, type PretendCluster } from '../cluster.testing.ts';
import { COMPARED, normalise, type State } from './normalise.ts';
import { chosen, goldenNode, podStatus } from './pod-states.ts';
import { type Step, scenarios } from './scenarios.ts';

const golden = (name: string): readonly { readonly it: string; readonly state: State }[] =>
  readFileSync(join(import.meta.dirname, `${name}.jsonl`), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

async function act(world: PretendCluster, step: Step): Promise<void> {
  const { cluster } = world;
  if (step.do === 'create') await cluster.create(step.plural, NAMESPACE, step.object);
  else if (step.do === 'patch') await world.patch(step.plural, step.name, step.body);
  else if (step.do === 'delete') await world.remove(step.plural, step.name);
  else if (step.do === 'node') {
    await cluster.create('nodes', undefined, goldenNode(step.name));
    await world.patch('nodes', step.name, { spec: { taints: null } });
  } else if (step.do !== 'wait') {
    for (const pod of chosen(step, await world.list('pods'))) {
      const name = pod.metadata.name ?? '';
      if (step.become === 'Deleted') await world.remove('pods', name);
      else {
        const status = podStatus(pod, step.become, kubeTime(cluster.clock.now()));
        await world.patch('pods', name, { status }, 'status');
      }
    }
  }
  await world.settles();
  await world.pass((step.quietMs ?? 0) + 1200, 400);
}

async function stateOf(world: PretendCluster): Promise<State> {
  const state: Record<string, readonly KubeObject[]> = {};
  for (const plural of Object.keys(COMPARED)) state[plural] = await world.list(plural);
  return normalise(state as unknown as State);
}

describe('the controllers set leaves a cluster as kube-controller-manager 1.34.4 does', () => {
  test.each(scenarios)('$name', async ({ name, steps }) => {
    const recorded = golden(name);
    await using world = await aPretendCluster({ sets: ['controllers'] });
    for (const [index, step] of steps.entries()) {
      await act(world, step);
      const state = await stateOf(world);
      expect(state, `step ${index + 1}: ${step.it}`).toEqual(recorded[index]?.state);
    }
  });
});
