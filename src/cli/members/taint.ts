// `flotilla taint|untaint MEMBER`: taints in the format of `kubectl taint`, key=value:NoSchedule. Only the given taints
// are changed.
import { memberCluster, type Taint } from '../../api/member-cluster.ts';
import { LABEL_VALUE, LABEL_VALUE_LENGTH, QUALIFIED_NAME, QUALIFIED_NAME_LENGTH } from '../../api/patterns.ts';
import { UserError } from '../../base/errors.ts';
import { taintText } from '../../insight/progress/member-view.ts';
import type { Connected } from '../server/connect.ts';
import { type Print, refer } from '../server/target.ts';
import { retaint } from './cordon.ts';

type Server = Pick<Connected, 'transport' | 'catalogue'>;

/** Absent parts match any. */
export interface TaintPattern {
  readonly key: string;
  readonly value?: string;
}

const FORM = 'a taint is KEY[=VALUE]:NoSchedule';

/** Throws a UserError with the reason if it is invalid. */
export function parseTaint(text: string): Taint {
  const { pattern, effect } = split(text);
  if (effect === undefined) throw new UserError('BadArgument', `"${text}" has no effect: ${FORM}`);
  return { ...pattern, effect };
}

/** For `untaint`: KEY, KEY=VALUE, with or without the effect. */
export const parsePattern = (text: string): TaintPattern => split(text).pattern;

function split(text: string): { readonly pattern: TaintPattern; readonly effect?: 'NoSchedule' } {
  const [tagged = '', effect, ...more] = text.split(':');
  const [key = '', value, ...rest] = tagged.split('=');
  const bad = (why: string) => new UserError('BadArgument', `"${text}" ${why}: ${FORM}`);
  if (more.length > 0 || rest.length > 0) throw bad('is not a taint');
  if (key.length > QUALIFIED_NAME_LENGTH || !new RegExp(QUALIFIED_NAME).test(key)) throw bad('has no valid key');
  if (value !== undefined && (value.length > LABEL_VALUE_LENGTH || !new RegExp(LABEL_VALUE).test(value)))
    throw bad('has no valid value');
  if (effect !== undefined && effect !== 'NoSchedule') throw bad(`has the unknown effect "${effect}"`);
  return {
    pattern: { key, ...(value === undefined || value === '' ? {} : { value }) },
    effect,
  };
}

/**
 * Like `kubectl taint`: a taint of the same key and effect with another value is an error, unless it may be replaced.
 */
export async function taint(
  server: Server,
  cluster: string,
  wanted: readonly Taint[],
  { overwrite }: { readonly overwrite: boolean },
  print: Print,
): Promise<void> {
  const title = refer({ resource: memberCluster, name: cluster });
  const isChanged = await retaint(server, cluster, (before) => withTaints(before, wanted, overwrite, cluster));
  print.line(isChanged ? `${title} tainted: ${wanted.map(taintText).join(', ')}` : `${title} has these taints already`);
  if (isChanged) print.line('Objects that are already placed there stay; `flotilla drain` removes them.');
}

export function withTaints(
  before: readonly Taint[],
  wanted: readonly Taint[],
  overwrite: boolean,
  cluster: string,
): readonly Taint[] {
  const isSame = (a: Taint, b: Taint) => taintText(a) === taintText(b);
  const fresh = wanted.filter((each, index) => wanted.findIndex((other) => isSame(other, each)) === index);
  const missing = fresh.filter((each) => !before.some((other) => isSame(other, each)));
  if (missing.length === 0) return before;
  const rivals = before.filter((each) => missing.some(({ key, effect }) => key === each.key && effect === each.effect));
  const [rival] = rivals;
  if (rival !== undefined && !overwrite) {
    const message = `MemberCluster "${cluster}" has the taint ${taintText(rival)}; --overwrite replaces it`;
    throw new UserError('TaintExists', message);
  }
  return [...before.filter((each) => !rivals.includes(each)), ...missing];
}

/** A pattern that matches nothing is an error, because it is usually misspelled. */
export async function untaint(
  server: Server,
  cluster: string,
  patterns: readonly TaintPattern[],
  print: Print,
): Promise<void> {
  let removed: readonly Taint[] = [];
  await retaint(server, cluster, (before) => {
    for (const pattern of patterns) {
      if (before.some((each) => matches(each, pattern))) continue;
      const has = before.length === 0 ? 'it has none' : `it has ${before.map(taintText).join(', ')}`;
      throw new UserError('NoTaint', `MemberCluster "${cluster}" has no taint ${patternText(pattern)}: ${has}`);
    }
    removed = before.filter((each) => patterns.some((pattern) => matches(each, pattern)));
    return before.filter((each) => !removed.includes(each));
  });
  print.line(`${refer({ resource: memberCluster, name: cluster })} untainted: ${removed.map(taintText).join(', ')}`);
}

const matches = (each: Taint, { key, value }: TaintPattern): boolean =>
  each.key === key && (value === undefined || each.value === value);

const patternText = ({ key, value }: TaintPattern): string => `"${key}${value === undefined ? '' : `=${value}`}"`;
