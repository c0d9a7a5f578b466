/** A word that a POSIX shell reads as this text; unchanged where nothing in it is special to a shell. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
