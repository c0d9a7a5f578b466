// Values that are created on first use and kept: for constants that most runs do not need, never for state.

/** Creates the value on the first call and returns the same one afterwards. */
export function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Creates and keeps one value per string. Only for a closed set of strings, because nothing is ever evicted. */
export function lazyByText<T>(make: (text: string) => T): (text: string) => T {
  const made = new Map<string, T>();
  return (text) => {
    let value = made.get(text);
    if (value === undefined && !made.has(text)) {
      value = make(text);
      made.set(text, value);
    }
    return value as T;
  };
}
