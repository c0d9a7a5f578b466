// Whether a CRD may be served under its requested names. Pure.
//
// Names are unique within a group: plural, singular and short names together, and kinds. A name in use is not accepted,
// and the CRD is not established; once established, a CRD stays so.
import { kubeTime } from '../../base/clock.ts';
import { deepEqual } from '../../base/json.ts';
import { type Crd, type CrdNames, type CrdStatus, hasCondition, withCondition } from './crd.ts';

/** Which CRD has which name. Built once for all CRDs of a cluster. */
export class AcceptedNames {
  // By group, then by name: joining both into one key would cost more than everything else.
  readonly #groups = new Map<string, Readonly<Record<What, Map<string, Set<string>>>>>();

  constructor(crds: readonly Crd[]) {
    for (const crd of crds) this.replace(undefined, crd);
  }

  /** Updates the names of a CRD. */
  replace(before: Crd | undefined, after: Crd | undefined): void {
    if (before !== undefined) {
      eachName(before, (what, name) =>
        this.#ownersOf(before, what)
          .get(name)
          ?.delete(before.metadata.name ?? ''),
      );
    }
    if (after === undefined) return;
    eachName(after, (what, name) => {
      const owners = this.#ownersOf(after, what);
      const known = owners.get(name);
      if (known === undefined) owners.set(name, new Set([after.metadata.name ?? '']));
      else known.add(after.metadata.name ?? '');
    });
  }

  /** Whether another CRD of the group has the name. */
  isTaken(crd: Crd, what: What, name: string): boolean {
    const owners = this.#ownersOf(crd, what).get(name);
    return owners !== undefined && owners.size > (owners.has(crd.metadata.name ?? '') ? 1 : 0);
  }

  #ownersOf(crd: Crd, what: What): Map<string, Set<string>> {
    let group = this.#groups.get(crd.spec.group);
    if (group === undefined) {
      group = { resource: new Map(), kind: new Map() };
      this.#groups.set(crd.spec.group, group);
    }
    return group[what];
  }
}

type What = 'resource' | 'kind';

function eachName(crd: Crd, visit: (what: What, name: string) => void): void {
  const names = crd.status?.acceptedNames;
  if (names?.plural) visit('resource', names.plural);
  if (names?.singular) visit('resource', names.singular);
  for (const name of names?.shortNames ?? []) visit('resource', name);
  if (names?.kind) visit('kind', names.kind);
  if (names?.listKind) visit('kind', names.listKind);
}

/** The desired status of a CRD, given the others of its cluster. Returns the same value if nothing changes. */
export const establish = (crd: Crd, others: readonly Crd[], now: number): CrdStatus =>
  establishAmong(crd, new AcceptedNames(others.filter((other) => other.metadata.name !== crd.metadata.name)), now);

export function establishAmong(crd: Crd, names: AcceptedNames, now: number): CrdStatus {
  const { spec, status: before } = crd;
  if (before !== undefined && isSettled(crd, before, names)) return before;
  const time = kubeTime(now);
  const { accepted, conflict } = acceptNames(crd, names);
  const wasEstablished = hasCondition(crd, 'Established');
  let conditions = withCondition(
    crd.status?.conditions ?? [],
    conflict === undefined
      ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
      : { type: 'NamesAccepted', status: 'False', ...conflict },
    time,
  );
  if (!wasEstablished) {
    conditions = withCondition(
      conditions,
      conflict === undefined
        ? {
            type: 'Established',
            status: 'True',
            reason: 'InitialNamesAccepted',
            message: 'the initial names have been accepted',
          }
        : { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' },
      time,
    );
  }
  const stored = crd.status?.storedVersions ?? [];
  const storage = spec.versions.find((version) => version.storage)?.name;
  const storedVersions = storage === undefined || stored.includes(storage) ? stored : [...stored, storage];
  const status: CrdStatus = { conditions, acceptedNames: accepted, storedVersions };
  return crd.status !== undefined && deepEqual(crd.status, status) ? crd.status : status;
}

/** The usual case, decided without an allocation: it has its requested names, and no other CRD has one of them. */
function isSettled(crd: Crd, { acceptedNames, storedVersions }: CrdStatus, names: AcceptedNames): boolean {
  if (!hasCondition(crd, 'NamesAccepted') || !hasCondition(crd, 'Established')) return false;
  const { plural, singular = '', kind, listKind = '', shortNames = [], categories = [] } = crd.spec.names;
  const storage = crd.spec.versions.find((version) => version.storage)?.name;
  return (
    acceptedNames?.plural === plural &&
    acceptedNames.kind === kind &&
    (acceptedNames.singular ?? '') === singular &&
    (acceptedNames.listKind ?? '') === listKind &&
    deepEqual(acceptedNames.shortNames ?? [], shortNames) &&
    deepEqual(acceptedNames.categories ?? [], categories) &&
    (storage === undefined || (storedVersions ?? []).includes(storage)) &&
    ![plural, singular, ...shortNames].some((name) => names.isTaken(crd, 'resource', name)) &&
    ![kind, listKind].some((name) => names.isTaken(crd, 'kind', name))
  );
}

interface Conflict {
  readonly reason: string;
  readonly message: string;
}

function acceptNames(crd: Crd, names: AcceptedNames): { accepted: CrdNames; conflict: Conflict | undefined } {
  const asked = crd.spec.names;
  const before = crd.status?.acceptedNames;
  let conflict: Conflict | undefined;
  const inUse = (name: string): string => `"${name}" is already in use`;
  const choose = (name: string, old: string, what: What, reason: string): string => {
    if (name === '' || !names.isTaken(crd, what, name)) return name;
    // The last conflict is reported, as on a real server.
    conflict = { reason, message: inUse(name) };
    return old;
  };
  const plural = choose(asked.plural, before?.plural ?? '', 'resource', 'PluralConflict');
  const singular = choose(asked.singular ?? '', before?.singular ?? '', 'resource', 'SingularConflict');
  let shortNames = asked.shortNames ?? [];
  const takenShortNames = shortNames.filter((name) => names.isTaken(crd, 'resource', name));
  if (takenShortNames.length > 0) {
    const messages = takenShortNames.map(inUse);
    const message = messages.length === 1 ? (messages[0] ?? '') : `[${messages.join(', ')}]`;
    conflict = { reason: 'ShortNamesConflict', message };
    shortNames = before?.shortNames ?? [];
  }
  const kind = choose(asked.kind, before?.kind ?? '', 'kind', 'KindConflict');
  const listKind = choose(asked.listKind ?? '', before?.listKind ?? '', 'kind', 'ListKindConflict');
  const categories = asked.categories ?? [];
  const accepted: CrdNames = {
    plural,
    ...(singular === '' ? {} : { singular }),
    ...(shortNames.length === 0 ? {} : { shortNames }),
    kind,
    ...(listKind === '' ? {} : { listKind }),
    ...(categories.length === 0 ? {} : { categories }),
  };
  return { accepted, conflict };
}
