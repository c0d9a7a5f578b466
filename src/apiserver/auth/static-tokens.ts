// Bearer tokens from a list in the format of kube-apiserver's token file: `token,user,uid,"group1,group2"` per line.
import { hash } from 'node:crypto';
import type { User } from '../../api/object.ts';
import { UserError } from '../../base/errors.ts';
import { deepFreeze } from '../../base/json.ts';
import { ALL_AUTHENTICATED } from './service-account.ts';

export interface StaticToken {
  readonly token: string;
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
}

export interface StaticTokens {
  /** Returns the same object each time. */
  userOf(token: string): User | undefined;
}

/** Stores digests, not tokens. A lookup need not take constant time, because timing reveals only the digest. */
export function createStaticTokens(list: readonly StaticToken[]): StaticTokens {
  const users = new Map(list.map((entry) => [digestOf(entry.token), userFrom(entry)]));
  return { userOf: (token) => (users.size === 0 ? undefined : users.get(digestOf(token))) };
}

const digestOf = (token: string): string => hash('sha256', token, 'base64');

const userFrom = ({ user, uid, groups = [] }: StaticToken): User =>
  deepFreeze({
    name: user,
    ...(uid ? { uid } : {}),
    groups: groups.includes(ALL_AUTHENTICATED) ? groups : [...groups, ALL_AUTHENTICATED],
  });

/** Parses a token file. Throws a UserError that names the line and never shows a token. */
export function parseTokenFile(text: string): readonly StaticToken[] {
  const tokens: StaticToken[] = [];
  for (const { line, fields } of csvRecords(text)) {
    const [token = '', user = '', uid = '', groups = ''] = fields.map((field) => field.trim());
    if (fields.length < 3) {
      throw badLine(line, `has ${fields.length} columns; at least token, user name and user uid are needed`);
    }
    if (token === '') throw badLine(line, 'has an empty token');
    if (user === '') throw badLine(line, 'has an empty user name');
    const names = groups
      .split(',')
      .map((group) => group.trim())
      .filter((group) => group !== '');
    tokens.push({ token, user, uid, groups: names });
  }
  return tokens;
}

const badLine = (line: number, why: string): UserError =>
  new UserError('BadTokenFile', `line ${line} of the token file ${why}`);

/** RFC 4180: quoted fields may contain commas, line ends and doubled quotes. Empty lines and # comments are skipped. */
function* csvRecords(text: string): Generator<{ readonly line: number; readonly fields: readonly string[] }> {
  let line = 1;
  let at = 0;
  while (at < text.length) {
    const start = line;
    const fields: string[] = [];
    for (let ended = false; !ended; ) {
      let field = '';
      if (text[at] === '"') {
        const close = closingQuote(text, at + 1);
        if (close < 0) throw badLine(start, 'has a quote that is never closed');
        field = text.slice(at + 1, close).replaceAll('""', '"');
        line += field.split('\n').length - 1;
        at = close + 1;
      }
      const end = endOfField(text, at);
      fields.push(field + text.slice(at, end));
      ended = text[end] !== ',';
      at = end + 1;
    }
    line++;
    const isBlank = fields.length === 1 && fields[0]!.trim() === '';
    if (!isBlank && !fields[0]!.startsWith('#')) yield { line: start, fields };
  }
}

function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 2)) if (text[at + 1] !== '"') return at;
  return -1;
}

function endOfField(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== ',' && text[at] !== '\n') at++;
  return at;
}
