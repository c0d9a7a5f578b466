// A page that is a walk: its blocks of commands, in order, each with what it prints. What differs from time to time is left open with an
// ellipsis; everything else is compared, word for word.

export interface Step {
  /** Where it stands, for whoever has to mend it. */
  readonly line: number;
  readonly commands: string;
  /** Of its last command. */
  readonly code: number;
  /** What it prints on either output; empty = nothing. */
  readonly prints: string;
}

const FENCE = /^```(.*)$/;

/** Reads blocks of ```sh, or ```sh exit-1, and of ```text below each. Anything else between fences is a mistake of the page. */
export function stepsOf(page: string): readonly Step[] {
  const steps: Step[] = [];
  const lines = page.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const [, info] = FENCE.exec(lines[at] as string) ?? [];
    if (info === undefined) continue;
    const end = lines.indexOf('```', at + 1);
    if (end < 0) throw new Error(`line ${at + 1}: a block that does not end`);
    const text = lines
      .slice(at + 1, end)
      .map((each) => `${each}\n`)
      .join('');
    const line = at + 1;
    const last = steps.at(-1);
    const [isShell, code = '0'] = /^sh(?: exit-(\d+))?$/.exec(info) ?? [];
    if (isShell !== undefined) steps.push({ line, commands: text, code: Number(code), prints: '' });
    else if (info === 'text' && last !== undefined && last.prints === '')
      steps[steps.length - 1] = { ...last, prints: text };
    else throw new Error(`line ${line}: a block of ${info || 'nothing'} has no place here`);
    at = end;
  }
  return steps;
}

/** Columns are as wide as what stands in them, and so differ with it. */
const words = (text: string): string => text.replace(/[ \t]+/g, ' ').replace(/ $/gm, '');

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/**
 * An ellipsis is whatever stands there up to the next blank; at the end of a word that ends a line, up to the end of that; as a line of its own,
 * any number of lines.
 */
function patternOf(prints: string): RegExp {
  const lines = words(prints).split('\n').slice(0, -1);
  const patterns = lines.map((line) => {
    if (line.trim() === '…') return '(?:.*\\n)*?';
    const [, head = '', rest = ''] = /^(.*?)((?<=\S)…)?$/.exec(line) ?? [];
    return `${head.split('…').map(escaped).join('\\S+')}${rest && '.*'}\\n`;
  });
  return new RegExp(`^${patterns.join('')}$`);
}

export const isAsShown = (prints: string, printed: string): boolean => patternOf(prints).test(words(printed));
