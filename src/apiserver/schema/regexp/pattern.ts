// TEMPORARY first version: replaced by a linear-time engine.
export interface Pattern {
  /** Why the text is no regular expression; undefined = it is one. */
  readonly error: string | undefined;
  test(text: string): boolean;
}

export function compilePattern(source: string): Pattern {
  try {
    const expression = new RegExp(source, 'u');
    return { error: undefined, test: (text) => expression.test(text) };
  } catch (error) {
    return { error: String(error), test: () => false };
  }
}
