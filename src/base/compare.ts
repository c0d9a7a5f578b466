// Total orders that do not depend on locale, insertion or time.

/** Compares strings by UTF-16 code units: for the ASCII names of Kubernetes this is byte order. */
export const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export const byNumber = (a: number, b: number): number => a - b;

/** Sorts items by a string of each. */
export const by =
  <T>(textOf: (item: T) => string) =>
  (a: T, b: T): number =>
    byText(textOf(a), textOf(b));
