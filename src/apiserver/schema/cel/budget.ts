// How much work rules may do. Counted in steps, never by the clock: the same object is judged alike on every machine.

/** Thrown past every handler of an expression: nothing inside a rule can swallow it. */
export class BudgetExceeded extends Error {
  override readonly name = 'BudgetExceeded';
}

/** Of one evaluation of one rule. */
export const RULE_LIMIT = 1_000_000;
/** Of all rules on one object. */
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
