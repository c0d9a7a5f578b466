// Text as Go's %q prints it, because Kubernetes' messages quote names that way.

/** Like JSON, but control characters are `\x01`, `\a`, `\v`, and DEL is escaped, too. */
export const quote = (text: string): string =>
  JSON.stringify(text)
    .replaceAll(/\\(?:\\|u00([01][0-9a-f]))/g, (all, code: string | undefined) =>
      code === undefined ? all : (NAMED[code] ?? `\\x${code}`),
    )
    .replaceAll('\x7f', '\\x7f');

const NAMED: Readonly<Record<string, string>> = { '07': '\\a', '0b': '\\v' };

/** A list of strings: `["a" "b"]`. */
export const quoteAll = (texts: readonly string[]): string => `[${texts.map(quote).join(' ')}]`;
