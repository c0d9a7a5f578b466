// All scenarios, by name.
import { clusterFamily, namespacedFamily } from '../../../src/hub/families.ts';
import type { Scenario } from '../../../src/sim/scenario.ts';
import { copiesScenario } from './copies.ts';
import { deliveryScenario } from './delivery.ts';
import { driftingScenario } from './drifting.ts';
import { evictionsScenario } from './evictions.ts';
import { freezesScenario } from './freezes.ts';
import { gitScenario } from './git.ts';
import { keepingScenario } from './keeping.ts';
import { ledgerScenario } from './ledger.ts';
import { membershipScenario } from './membership.ts';
import { overridesScenario } from './overrides.ts';
import { partitionedScenario } from './partitioned.ts';
import { partitionedBatchesScenario } from './partitioned-batches.ts';
import { pausedScenario } from './paused.ts';
import { schedulingScenario } from './scheduling.ts';
import { stagedScenario } from './staged.ts';
import { turnsScenario } from './turns.ts';
import { wanderingScenario } from './wandering.ts';

export const scenarios: readonly Scenario[] = [
  ledgerScenario({ isDurable: false }),
  ledgerScenario({ isDurable: true }),
  copiesScenario({ copiers: 1 }),
  copiesScenario({ copiers: 2 }),
  turnsScenario,
  membershipScenario({ isLed: true }),
  membershipScenario({ isLed: false }),
  schedulingScenario({ name: 'scheduling', family: clusterFamily, ciRuns: 150 }),
  schedulingScenario({ name: 'scheduling-namespaced', family: namespacedFamily, ciRuns: 120 }),
  deliveryScenario({ name: 'delivery', isLed: true, family: clusterFamily, ciRuns: 500 }),
  deliveryScenario({ name: 'delivery-namespaced', isLed: true, family: namespacedFamily, ciRuns: 250 }),
  // Two active hubs undo each other's writes, so a run takes more than twice as long.
  deliveryScenario({ name: 'delivery-two-leaders', isLed: false, family: clusterFamily, ciRuns: 100 }),
  keepingScenario,
  wanderingScenario,
  driftingScenario,
  evictionsScenario,
  freezesScenario,
  gitScenario({ name: 'git', family: clusterFamily, ciRuns: 150 }),
  gitScenario({ name: 'git-namespaced', family: namespacedFamily, ciRuns: 80 }),
  overridesScenario,
  partitionedScenario({ name: 'partitioned', isLed: true, ciRuns: 120 }),
  partitionedScenario({ name: 'partitioned-two-leaders', isLed: false, ciRuns: 60 }),
  partitionedBatchesScenario,
  pausedScenario,
  stagedScenario({ name: 'staged', isLed: true, family: clusterFamily, ciRuns: 250 }),
  stagedScenario({ name: 'staged-namespaced', isLed: true, family: namespacedFamily, ciRuns: 300, relabels: true }),
  stagedScenario({ name: 'staged-two-leaders', isLed: false, family: clusterFamily, ciRuns: 100 }),
];
