// A regular expression as a program that follows all alternatives in parallel: a list of steps, each leading to others.
import { type Assertion, type CharSet, type Expression, PatternError } from './parse.ts';

export type Step =
  | { readonly op: 'char'; readonly set: CharSet; readonly next: number }
  | { readonly op: 'split'; readonly first: number; readonly second: number }
  | { readonly op: 'assert'; readonly what: Assertion; readonly next: number }
  | { readonly op: 'match' };

export interface Program {
  readonly steps: readonly Step[];
  readonly start: number;
  /** It asserts nothing except the ends of the string, so a set of steps alone is a state. */
  readonly isPlain: boolean;
}

const MAX_STEPS = 20_000;
/** Repeating an empty part adds no step, but takes time all the same. */
const MAX_BUILDS = 10 * MAX_STEPS;
const TOO_LARGE = 'error parsing regexp: expression too large';

/** Built backwards: a step is added after its successor. */
export function programOf(expression: Expression): Program {
  const steps: Step[] = [{ op: 'match' }];
  let isPlain = true;
  const add = (step: Step): number => {
    if (steps.length >= MAX_STEPS) throw new PatternError(TOO_LARGE);
    return steps.push(step) - 1;
  };

  let builds = 0;
  const build = (part: Expression, next: number): number => {
    if (++builds > MAX_BUILDS) throw new PatternError(TOO_LARGE);
    switch (part.op) {
      case 'empty':
        return next;
      case 'char':
        return add({ op: 'char', set: part.set, next });
      case 'assert':
        if (part.what !== 'text-start' && part.what !== 'text-end') isPlain = false;
        return add({ op: 'assert', what: part.what, next });
      case 'all':
        return part.parts.reduceRight((after, each) => build(each, after), next);
      case 'any':
        return part.parts
          .map((each) => build(each, next))
          .reduceRight((second, first) => add({ op: 'split', first, second }));
      case 'repeat':
        return repeat(part, next);
    }
  };

  const choose = (into: number, past: number, greedy: boolean): Step =>
    greedy ? { op: 'split', first: into, second: past } : { op: 'split', first: past, second: into };

  const repeat = (part: Extract<Expression, { op: 'repeat' }>, next: number): number => {
    let after = next;
    if (part.max < 0) {
      // The loop's fork must exist before its body can refer to it.
      const fork = add({ op: 'match' });
      const body = build(part.part, fork);
      steps[fork] = choose(body, next, part.greedy);
      after = fork;
    } else {
      for (let count = part.min; count < part.max; count++)
        after = add(choose(build(part.part, after), next, part.greedy));
    }
    for (let count = 0; count < part.min; count++) after = build(part.part, after);
    return after;
  };

  const start = build(expression, 0);
  return { steps, start, isPlain };
}
