// An answer in a form that can be compared: normalised, with the causes of a refusal in an order of their own, since a real server walks
// maps in none. What is refused in other words is told apart from what is not refused at all.

import { byText } from '../../src/base/compare.ts';
import { canonicalJson, isObject } from '../../src/base/json.ts';
import { normaliseJson, normaliseText } from './normalise.ts';
import type { Reply } from './server.ts';

export interface Answer {
  readonly code: number;
  readonly warnings?: readonly string[];
  readonly body: unknown;
}

export function answerOf({ code, warnings, type, text }: Reply): Answer {
  const told = warnings.map(normaliseText);
  const body = type.startsWith('application/json') && text !== '' ? bodyOf(text) : normaliseText(text);
  return { code, ...(told.length === 0 ? {} : { warnings: told }), body };
}

/** A watch answers one document per line. */
function bodyOf(text: string): unknown {
  try {
    return statusInOrder(normaliseJson(JSON.parse(text)));
  } catch {
    return text
      .trimEnd()
      .split('\n')
      .map((line) => normaliseJson(JSON.parse(line)));
  }
}

interface Cause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** The message of a refusal for several causes only strings them together, so it is left out there. */
function statusInOrder(body: unknown): unknown {
  if (!isObject(body) || body['kind'] !== 'Status' || !isObject(body['details'])) return body;
  const causes = body['details']['causes'] as readonly Cause[] | undefined;
  if (causes === undefined) return body;
  // On an update a real server tells some of them twice: `repeated-causes` in docs/known-differences.md.
  const sorted = [...new Set(causes.map(canonicalJson))].toSorted(byText);
  const { message, ...rest } = body;
  return {
    ...rest,
    ...(sorted.length > 1 ? {} : { message }),
    details: { ...body['details'], causes: sorted.map((cause) => JSON.parse(cause) as Cause) },
  };
}

export interface Difference {
  readonly path: string;
  readonly ours: unknown;
  readonly real: unknown;
}

/** Where two values differ. */
export function differences(ours: unknown, real: unknown, path = ''): readonly Difference[] {
  if (isObject(ours) && isObject(real)) {
    const keys = [...new Set([...Object.keys(ours), ...Object.keys(real)])];
    return keys.flatMap((key) => differences(ours[key], real[key], path === '' ? key : `${path}.${key}`));
  }
  if (Array.isArray(ours) && Array.isArray(real) && ours.length === real.length) {
    return ours.flatMap((item, index) => differences(item, real[index], `${path}[${index}]`));
  }
  return canonicalJson(ours) === canonicalJson(real) ? [] : [{ path, ours, real }];
}
