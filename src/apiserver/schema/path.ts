// A position in an object. A path is a linked list, and becomes a string only for an error message: traversing a valid
// object allocates no strings.

export interface Path {
  readonly parent: Path | undefined;
  /** A field or map key is a string, a list index a number. */
  readonly step: string | number;
  /** The step is a key of a map, not a field of the schema. */
  readonly isKey: boolean;
}

export const field = (parent: Path | undefined, name: string): Path => ({ parent, step: name, isKey: false });
export const key = (parent: Path | undefined, name: string): Path => ({ parent, step: name, isKey: true });
export const index = (parent: Path | undefined, at: number): Path => ({ parent, step: at, isKey: false });

/** As in schema errors and unknown fields: `spec.ports[0].name`, a map key like a field. */
export function dotted(path: Path | undefined): string {
  if (path === undefined) return '';
  const before = dotted(path.parent);
  if (typeof path.step === 'number') return `${before}[${path.step}]`;
  return before === '' ? path.step : `${before}.${path.step}`;
}

/** As in errors of rules and list types: map keys in brackets, `spec.labels[a.b]`. The object itself is `<nil>`. */
export function bracketed(path: Path | undefined): string {
  if (path === undefined) return '<nil>';
  const before = path.parent === undefined ? '' : bracketed(path.parent);
  if (typeof path.step === 'number') return `${before}[${path.step}]`;
  if (path.isKey) return `${before}[${path.step}]`;
  return before === '' ? path.step : `${before}.${path.step}`;
}
