// Values that are made when first asked for and kept: constants that most runs never need, never state.

/** Makes the value on the first call and returns the same one ever after. */
export function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Makes one value per text and keeps it. Only for a closed set of texts: nothing is ever forgotten. */
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
