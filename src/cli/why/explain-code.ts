// `flotilla explain CODE`: the meaning of a hold code. The rows come from docs/holds.md itself, so that the page and
// the command agree.
import { UserError } from '../../base/errors.ts';
import { plainText } from '../../insight/plain-text.ts';

const HEADER = /^\| code \| meaning \|$/;

/** By code; one row of the page may be about several. */
export function codesIn(page: string): ReadonlyMap<string, string> {
  const lines = page.split('\n');
  const start = lines.findIndex((line) => HEADER.test(line.trim()));
  const rows = start < 0 ? [] : lines.slice(start + 2);
  const end = rows.findIndex((line) => !line.startsWith('|'));
  return new Map(
    rows.slice(0, end < 0 ? rows.length : end).flatMap((row) => {
      const [codes = '', ...meaning] = row.slice(1, row.lastIndexOf('|')).split(' | ');
      return codes.split(',').map((code): [string, string] => [code.trim(), meaning.join(' | ').trim()]);
    }),
  );
}

/** Throws a UserError that lists all codes. */
export function explainCode(page: string, code: string): string {
  const codes = codesIn(page);
  const found = [...codes].find(([each]) => each.toLowerCase() === code.toLowerCase());
  if (found === undefined)
    throw new UserError(
      'NotFound',
      `hold code "${plainText(code)}" not found (known: ${[...codes.keys()].sort().join(', ')})`,
    );
  return `${found[0]}: ${found[1].replaceAll('`', '')}`;
}
