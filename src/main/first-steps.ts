// The first commands that `flotilla up` suggests: those of the README's first page, up to a workload that runs on a
// member; or, for a fleet of a walk-through, where that begins.
import { relative, resolve } from 'node:path';
import { deepEqual } from '../base/json.ts';
import { type FleetMember, shippedFleet } from './fleet.ts';

/** For each built-in fleet: the label that orders its clusters, and the heading in docs/seeds.md. */
const WALKS: Readonly<Record<string, { readonly order: string; readonly heading: string }>> = {
  'seed-002-cluster': { order: 'order', heading: 'For the whole fleet' },
  'seed-002-namespace': { order: 'deployment-order', heading: 'For one namespace' },
};

export function firstSteps(fleet: readonly FleetMember[]): readonly string[] {
  // Compared by content, because its name is not known after a restart.
  for (const [name, { order, heading }] of Object.entries(WALKS)) {
    if (!deepEqual(fleet, shippedFleet(name))) continue;
    return [`kubectl get memberclusters -L environment,${order}`, `# then, step by step: docs/seeds.md, "${heading}"`];
  }
  const [member] = fleet;
  const look = 'kubectl get memberclusters';
  if (member === undefined) return [look];
  return [
    look,
    `kubectl apply -f ${example('shop.yaml')} -f ${example('placement.yaml')}`,
    'kubectl wait --for=condition=ClusterResourcePlacementAvailable crp/shop --timeout=60s',
    `kubectl --context ${member.name} -n shop get deployments`,
  ];
}

/** The path from the working directory: the examples are part of the installed program. */
function example(name: string): string {
  const file = resolve(import.meta.dirname, '../../examples', name);
  const near = relative('.', file);
  return near.startsWith('..') ? file : near;
}
