// The cost budget of rules. Counted in steps, not in time, so that the result is the same on every machine.

/** No error handler of an expression catches it, so a rule cannot exceed its budget. */
export class BudgetExceeded extends Error {
  override readonly name = 'BudgetExceeded';
}

/** Per evaluation of one rule. */
export const RULE_LIMIT = 1_000_000;
/** For all rules on one object. */
export const OBJECT_LIMIT = 10_000_000;

export class Budget {
  #left: number;
  constructor(limit: number) {
    this.#left = limit;
  }

  get left(): number {
    return this.#left;
  }

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new BudgetExceeded('operation cancelled: actual cost limit exceeded');
  }
}
