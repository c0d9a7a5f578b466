// Plays the scenarios of sim/pretend on a real control plane without nodes, and writes down what kube-controller-manager made of them, for
// the tests of the pretend cluster. Run by hand, with `kubectl proxy` to a cluster that has kube-controller-manager:
//   npx tsx scripts/capture-workloads.ts http://127.0.0.1:8001 [scenario …]
// Works in namespaces of its own; the Nodes of one scenario are there for its duration only.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject } from '../src/api/object.ts';
import { kubeTime } from '../src/base/clock.ts';
import { COMPARED, normalise, type State } from '../src/sim/pretend/golden/normalise.ts';
import { chosen, goldenNode, podStatus } from '../src/sim/pretend/golden/pod-states.ts';
import { type Scenario, type Step, scenarios } from '../src/sim/pretend/golden/scenarios.ts';

const [base = '', ...wanted] = process.argv.slice(2);
const MERGE = 'application/merge-patch+json';

async function call(method: string, path: string, body?: object, type = 'application/json'): Promise<KubeObject> {
  const init = {
    method,
    headers: { 'content-type': type },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  const response = await fetch(base + path, init);
  const answer = (await response.json()) as KubeObject;
  if (!response.ok) throw new Error(`${method} ${path}: ${answer['message']}`);
  return answer;
}

async function play({ name, steps }: Scenario): Promise<void> {
  const namespace = `golden-${name}-${Date.now().toString(36)}`;
  await call('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  await sleep(1000);
  const path = (plural: string, object = '') =>
    `${COMPARED[plural]}/namespaces/${namespace}/${plural}${object === '' ? '' : `/${object}`}`;
  const list = async (plural: string) => (await call('GET', path(plural)))['items'] as readonly KubeObject[];

  const act = async (step: Step): Promise<void> => {
    const at = kubeTime(Date.now());
    if (step.do === 'create') await call('POST', path(step.plural), step.object);
    else if (step.do === 'patch') await call('PATCH', path(step.plural, step.name), step.body, MERGE);
    else if (step.do === 'delete')
      await call('DELETE', path(step.plural, step.name), { propagationPolicy: 'Background' });
    else if (step.do === 'node') {
      await call('POST', '/api/v1/nodes', goldenNode(step.name));
      await call('PATCH', `/api/v1/nodes/${step.name}`, { spec: { taints: null } }, MERGE);
    } else if (step.do !== 'wait') {
      for (const pod of chosen(step, await list('pods'))) {
        const target = path('pods', pod.metadata.name);
        if (step.become === 'Deleted') await call('DELETE', target);
        else await call('PATCH', `${target}/status`, { status: podStatus(pod, step.become, at) }, MERGE);
      }
    }
  };
  const golden: { readonly it: string; readonly state: State }[] = [];
  try {
    for (const step of steps) {
      await act(step);
      await sleep((step.quietMs ?? 0) + 1200);
      const state: Record<string, readonly KubeObject[]> = {};
      for (const plural of Object.keys(COMPARED)) state[plural] = await list(plural);
      golden.push({ it: step.it, state: normalise(state as unknown as State) });
    }
  } finally {
    for (const step of steps)
      if (step.do === 'node') await call('DELETE', `/api/v1/nodes/${step.name}`).catch(() => {});
    await call('DELETE', `/api/v1/namespaces/${namespace}`);
  }
  const file = join(import.meta.dirname, `../src/sim/pretend/golden/${name}.jsonl`);
  writeFileSync(file, golden.map((each) => `${JSON.stringify(each)}\n`).join(''));
  console.log(`${name}: ${golden.length} steps`);
}

for (const scenario of scenarios) {
  if (wanted.length === 0 || wanted.includes(scenario.name)) await play(scenario);
}
