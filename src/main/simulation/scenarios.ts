// All scenarios, by name.
import type { Scenario } from '../../sim/scenario.ts';
import { ledgerScenario } from './ledger.ts';

export const scenarios: readonly Scenario[] = [
  ledgerScenario({ isDurable: false }),
  ledgerScenario({ isDurable: true }),
];
