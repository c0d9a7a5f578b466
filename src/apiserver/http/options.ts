// The options of a request, from its query or the body of a deletion, in the types of the verbs. An invalid value is
// rejected with the message of a real server.
import type { FieldCause } from '../../api/kind.ts';
import {
  badRequest,
  forbiddenField,
  invalid,
  invalidValue,
  required,
  tooLong,
  unsupportedValue,
} from '../../api/status.ts';
import type { PatchType } from '../../api/transport.ts';
import type { Caller, DeleteOptions, ListOptions, WatchOptions } from '../verbs/call.ts';

export type Query = URLSearchParams;

const NO_QUERY: Query = new URLSearchParams();

/** The part of a URL after `?`. */
export const queryOf = (text: string): Query => (text === '' ? NO_QUERY : new URLSearchParams(text));

const INT64_MOST = 9_223_372_036_854_775_807n;

function integer(query: Query, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!/^[-+]?[0-9]+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${quoted(text)}: invalid syntax`);
  const value = BigInt(text);
  if (value > INT64_MOST || value < -INT64_MOST - 1n) {
    throw badRequest(`strconv.ParseInt: parsing ${quoted(text)}: value out of range`);
  }
  return Number(value);
}

const quoted = (text: string): string => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);

/** Absent = undefined; a bare `?watch` is true, as is every value except these two. */
function flag(query: Query, name: string): boolean | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  return text !== '0' && text.toLowerCase() !== 'false';
}

export const isWatchAsked = (query: Query): boolean => query !== NO_QUERY && flag(query, 'watch') === true;

/** Only set fields: the verbs distinguish absent from empty. */
function textOf(query: Query, name: string): string | undefined {
  const text = query.get(name);
  return text === null || text === '' ? undefined : text;
}

const selection = (query: Query) => {
  const labels = textOf(query, 'labelSelector');
  const fields = textOf(query, 'fieldSelector');
  const revision = textOf(query, 'resourceVersion');
  const revisionMatch = textOf(query, 'resourceVersionMatch');
  return {
    ...(labels === undefined ? {} : { labels }),
    ...(fields === undefined ? {} : { fields }),
    ...(revision === undefined ? {} : { revision }),
    ...(revisionMatch === undefined ? {} : { revisionMatch }),
  };
};

export function listOptions(query: Query): ListOptions {
  if (flag(query, 'sendInitialEvents') !== undefined) {
    throw badOptions('ListOptions', [forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list')]);
  }
  integer(query, 'timeoutSeconds');
  const limit = integer(query, 'limit');
  const token = textOf(query, 'continue');
  return {
    ...selection(query),
    ...(limit === undefined || limit <= 0 ? {} : { limit }),
    ...(token === undefined ? {} : { continue: token }),
  };
}

/** `timeoutSeconds` is the lifetime of the stream; the verb does not use it. */
export function watchOptions(query: Query): WatchOptions & { readonly timeoutSeconds?: number } {
  integer(query, 'limit');
  const bookmarks = flag(query, 'allowWatchBookmarks');
  const sendInitialEvents = flag(query, 'sendInitialEvents');
  const timeoutSeconds = integer(query, 'timeoutSeconds');
  return {
    ...selection(query),
    ...(bookmarks === undefined ? {} : { bookmarks }),
    ...(sendInitialEvents === undefined ? {} : { sendInitialEvents }),
    ...(timeoutSeconds === undefined || timeoutSeconds <= 0 ? {} : { timeoutSeconds }),
  };
}

// ---- writes

export type WriteOptions = Pick<Caller, 'dryRun' | 'fieldValidation' | 'manager'>;
type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions' | 'ListOptions';

const badOptions = (kind: OptionsKind, causes: readonly FieldCause[]) =>
  invalid({ group: 'meta.k8s.io', kind }, '', causes);

const VALIDATIONS = ['', 'Ignore', 'Strict', 'Warn'] as const;
const LONGEST_MANAGER = 128;

/** `userAgent` provides the manager if the query does not. */
export function writeOptions(
  query: Query,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  userAgent: string | undefined,
): WriteOptions {
  if (query === NO_QUERY) return { dryRun: false, fieldValidation: 'Warn', manager: managerOf(userAgent) };
  const manager = query.get('fieldManager') ?? '';
  const validation = query.get('fieldValidation') ?? '';
  const causes = [...dryRunFaults(query.getAll('dryRun')), ...managerFaults(manager)];
  const fieldValidation = VALIDATIONS.find((each) => each === validation);
  if (fieldValidation === undefined) causes.push(unsupportedValue('fieldValidation', validation, VALIDATIONS));
  if (causes.length > 0) throw badOptions(kind, causes);
  return {
    dryRun: query.has('dryRun'),
    fieldValidation: fieldValidation || 'Warn',
    manager: manager === '' ? managerOf(userAgent) : manager,
  };
}

/** The rules for `force` and `fieldManager` of a patch. */
export function patchForce(query: Query, type: PatchType): boolean | undefined {
  const force = flag(query, 'force');
  if (type !== 'apply' && force !== undefined) {
    throw badOptions('PatchOptions', [forbiddenField('force', 'may not be specified for non-apply patch')]);
  }
  if (type === 'apply' && !query.get('fieldManager')) {
    throw badOptions('PatchOptions', [required('fieldManager', 'is required for apply patch')]);
  }
  return force;
}

function dryRunFaults(values: readonly string[]): FieldCause[] {
  const isFine = values.every((each) => each === 'All');
  return isFine ? [] : [unsupportedValue('dryRun', values, ['All'])];
}

function managerFaults(manager: string): FieldCause[] {
  const causes: FieldCause[] = [];
  if (Buffer.byteLength(manager) > LONGEST_MANAGER) causes.push(tooLong('fieldManager', LONGEST_MANAGER));
  const bad = UNPRINTABLE.exec(manager);
  if (bad) {
    const code = (bad[0].codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0');
    causes.push(invalidValue('fieldManager', manager, `invalid character U+${code} (at position ${bad.index})`));
  }
  return causes;
}

const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

/** The program's name in its User-Agent: `kubectl/v1.34.4 (linux/amd64)` is kubectl. */
export function managerOf(userAgent: string | undefined): string {
  const [program = ''] = (userAgent ?? '').split('/', 1);
  const printable = UNPRINTABLE.test(program) ? program.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '') : program;
  return printable.length > LONGEST_MANAGER ? printable.slice(0, LONGEST_MANAGER) : printable || 'unknown';
}

// ---- deletions

export interface Deletion {
  readonly options: DeleteOptions;
  readonly dryRun: boolean;
  /** The deprecated way to request Background; a real server then returns 202 while the object still exists. */
  readonly orphansExplicitlyNot: boolean;
}

const PROPAGATIONS = ['Foreground', 'Background', 'Orphan'] as const;

/** If there is a body, the query is ignored. */
export function deletionOf(query: Query, body: Readonly<Record<string, unknown>> | undefined): Deletion {
  const asked = body ? fromBody(body) : fromQuery(query);
  const causes: FieldCause[] = dryRunFaults(asked.dryRun);
  const propagation = PROPAGATIONS.find((each) => each === asked.propagation);
  if (asked.propagation !== undefined && asked.orphan !== undefined) {
    causes.push(
      invalidValue(
        'propagationPolicy',
        asked.propagation,
        'orphanDependents and deletionPropagation cannot be both set',
      ),
    );
  } else if (asked.propagation !== undefined && propagation === undefined) {
    causes.push(unsupportedValue('propagationPolicy', asked.propagation, [...PROPAGATIONS, 'nil']));
  }
  if (causes.length > 0) throw badOptions('DeleteOptions', causes);
  const chosen = propagation ?? (asked.orphan === undefined ? undefined : asked.orphan ? 'Orphan' : 'Background');
  return {
    options: {
      ...(chosen === undefined ? {} : { propagation: chosen }),
      ...(asked.graceSeconds === undefined ? {} : { graceSeconds: asked.graceSeconds }),
      ...(asked.preconditions === undefined ? {} : { preconditions: asked.preconditions }),
    },
    dryRun: asked.dryRun.length > 0,
    orphansExplicitlyNot: asked.orphan === false,
  };
}

interface Asked {
  readonly dryRun: readonly string[];
  readonly propagation: string | undefined;
  readonly orphan: boolean | undefined;
  readonly graceSeconds: number | undefined;
  readonly preconditions: DeleteOptions['preconditions'];
}

function fromQuery(query: Query): Asked {
  return {
    dryRun: query.getAll('dryRun'),
    propagation: textOf(query, 'propagationPolicy'),
    orphan: flag(query, 'orphanDependents'),
    graceSeconds: integer(query, 'gracePeriodSeconds'),
    preconditions: undefined,
  };
}

function fromBody(body: Readonly<Record<string, unknown>>): Asked {
  const wrong = (field: string, type: string) =>
    badRequest(
      `json: cannot unmarshal ${describe(body[field])} into Go struct field DeleteOptions.${field} of type ${type}`,
    );
  const { dryRun, propagationPolicy, orphanDependents, gracePeriodSeconds, preconditions } = body;
  const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null;
  const isTexts = Array.isArray(dryRun) && dryRun.every((each) => typeof each === 'string');
  if (!isAbsent(dryRun) && !isTexts) throw wrong('dryRun', '[]string');
  if (!isAbsent(propagationPolicy) && typeof propagationPolicy !== 'string') {
    throw wrong('propagationPolicy', 'v1.DeletionPropagation');
  }
  if (!isAbsent(orphanDependents) && typeof orphanDependents !== 'boolean') throw wrong('orphanDependents', 'bool');
  if (!isAbsent(gracePeriodSeconds) && !Number.isSafeInteger(gracePeriodSeconds)) {
    throw wrong('gracePeriodSeconds', 'int64');
  }
  return {
    dryRun: isTexts ? (dryRun as string[]) : [],
    propagation: isAbsent(propagationPolicy) ? undefined : propagationPolicy,
    orphan: isAbsent(orphanDependents) ? undefined : orphanDependents,
    graceSeconds: isAbsent(gracePeriodSeconds) ? undefined : (gracePeriodSeconds as number),
    preconditions: isAbsent(preconditions) ? undefined : preconditionsOf(preconditions, wrong),
  };
}

function preconditionsOf(
  value: unknown,
  wrong: (field: string, type: string) => Error,
): NonNullable<DeleteOptions['preconditions']> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw wrong('preconditions', 'v1.Preconditions');
  const { uid, resourceVersion } = value as Readonly<Record<string, unknown>>;
  for (const word of [uid, resourceVersion]) {
    if (word !== undefined && word !== null && typeof word !== 'string') throw wrong('preconditions', 'string');
  }
  return {
    ...(typeof uid === 'string' ? { uid } : {}),
    ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
  };
}

const describe = (value: unknown): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;

// ---- tables

export type IncludeObject = 'None' | 'Metadata' | 'Object';

export function includeObject(query: Query): IncludeObject {
  const text = query.get('includeObject') ?? '';
  if (text === '') return 'Metadata';
  if (text === 'None' || text === 'Metadata' || text === 'Object') return text;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${quoted(text)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}
