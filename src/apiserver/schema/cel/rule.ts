// One rule of a schema, compiled: the check and its messageExpression.
import type { CelRule } from '../../../api/schema.ts';
import { compileExpression, type Program } from './compile.ts';
import { CompileError } from './issue.ts';
import { type CelType, optionalOf } from './type.ts';

export interface CompiledRule {
  readonly rule: CelRule;
  /** undefined = it does not compile, or is empty. */
  readonly program: Program | undefined;
  readonly message: Program | undefined;
  /** Why the rule does not compile. */
  readonly error: string | undefined;
  /** Why its messageExpression does not compile. */
  readonly messageError: string | undefined;
}

export function compileRule(rule: CelRule, self: CelType): CompiledRule {
  const variables = { self, oldSelf: rule.optionalOldSelf === true ? optionalOf(self) : self };
  const check =
    rule.rule.trim() === '' ? NOTHING : attempt(rule.rule, variables, 'bool', 'cel expression must evaluate to a bool');
  const text = rule.messageExpression ?? '';
  const message =
    text.trim() === '' ? NOTHING : attempt(text, variables, 'string', 'messageExpression must evaluate to a string');
  return {
    rule,
    program: check.program,
    error: check.error,
    message: message.program,
    messageError: message.error?.replace(/^(compilation|program)/, 'messageExpression $1'),
  };
}

interface Attempt {
  readonly program: Program | undefined;
  readonly error: string | undefined;
}

const NOTHING: Attempt = { program: undefined, error: undefined };

function attempt(
  source: string,
  variables: Readonly<Record<string, CelType>>,
  kind: string,
  otherwise: string,
): Attempt {
  try {
    const program = compileExpression(source, variables);
    return program.type.kind === kind ? { program, error: undefined } : { program: undefined, error: otherwise };
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    return { program: undefined, error: error.message };
  }
}
