// All scenarios, by name.
import type { Scenario } from '../../sim/scenario.ts';
import { copiesScenario } from './copies.ts';
import { deliveryScenario } from './delivery.ts';
import { ledgerScenario } from './ledger.ts';
import { membershipScenario } from './membership.ts';
import { turnsScenario } from './turns.ts';

export const scenarios: readonly Scenario[] = [
  ledgerScenario({ isDurable: false }),
  ledgerScenario({ isDurable: true }),
  copiesScenario({ copiers: 1 }),
  copiesScenario({ copiers: 2 }),
  turnsScenario,
  membershipScenario({ isLed: true }),
  membershipScenario({ isLed: false }),
  deliveryScenario({ isLed: true }),
  deliveryScenario({ isLed: false }),
];
