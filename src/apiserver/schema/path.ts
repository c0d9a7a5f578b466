// Where in an object we are. A path is built only by links, and put into words only when there is something to say: walking a
// valid object costs no string.

export interface Path {
  readonly parent: Path | undefined;
  /** A field or map key is text, a list index is a number. */
  readonly step: string | number;
  /** The step is a key of a map, not a field that the schema names. */
  readonly isKey: boolean;
}

export const field = (parent: Path | undefined, name: string): Path => ({ parent, step: name, isKey: false });
export const key = (parent: Path | undefined, name: string): Path => ({ parent, step: name, isKey: true });
export const index = (parent: Path | undefined, at: number): Path => ({ parent, step: at, isKey: false });

/** As schema errors and unknown fields print it: `spec.ports[0].name`, a map's key like a field. */
export function dotted(path: Path | undefined): string {
  if (path === undefined) return '';
  const before = dotted(path.parent);
  if (typeof path.step === 'number') return `${before}[${path.step}]`;
  return before === '' ? path.step : `${before}.${path.step}`;
}

/** As rules and list types print it: a map's key is in brackets, `spec.labels[a.b]`. The object itself is `<nil>`. */
export function bracketed(path: Path | undefined): string {
  if (path === undefined) return '<nil>';
  const before = path.parent === undefined ? '' : bracketed(path.parent);
  if (typeof path.step === 'number') return `${before}[${path.step}]`;
  if (path.isKey) return `${before}[${path.step}]`;
  return before === '' ? path.step : `${before}.${path.step}`;
}
