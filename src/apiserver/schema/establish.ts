// Whether a CRD may be served under the names it asks for. Pure.
//
// Names are unique within a group: plural, singular and short names among each other, kinds among each other. A name that is taken is
// not accepted, and the rest of the definition waits; a definition that is established once stays so.
import { kubeTime } from '../../base/clock.ts';
import { deepEqual } from '../../base/json.ts';
import { type Crd, type CrdNames, type CrdStatus, hasCondition, withCondition } from './crd.ts';

/** The status that a CRD should have beside the others of its cluster. The same value when nothing changes. */
export function establish(crd: Crd, others: readonly Crd[], now: number): CrdStatus {
  const { spec } = crd;
  const time = kubeTime(now);
  const { accepted, conflict } = acceptNames(
    crd,
    others.filter((other) => other.spec.group === spec.group && other.metadata.name !== crd.metadata.name),
  );
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

interface Conflict {
  readonly reason: string;
  readonly message: string;
}

function acceptNames(crd: Crd, others: readonly Crd[]): { accepted: CrdNames; conflict: Conflict | undefined } {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const { status } of others) {
    const names = status?.acceptedNames;
    for (const name of [names?.plural, names?.singular, ...(names?.shortNames ?? [])]) if (name) resources.add(name);
    for (const name of [names?.kind, names?.listKind]) if (name) kinds.add(name);
  }
  const asked = crd.spec.names;
  const before = crd.status?.acceptedNames;
  let conflict: Conflict | undefined;
  const inUse = (name: string): string => `"${name}" is already in use`;
  const choose = (name: string, old: string, taken: ReadonlySet<string>, reason: string): string => {
    if (name === '' || !taken.has(name)) return name;
    // The last conflict is the one that is told, as on a real server.
    conflict = { reason, message: inUse(name) };
    return old;
  };
  const plural = choose(asked.plural, before?.plural ?? '', resources, 'PluralConflict');
  const singular = choose(asked.singular ?? '', before?.singular ?? '', resources, 'SingularConflict');
  let shortNames = asked.shortNames ?? [];
  const takenShortNames = shortNames.filter((name) => resources.has(name));
  if (takenShortNames.length > 0) {
    const messages = takenShortNames.map(inUse);
    const message = messages.length === 1 ? (messages[0] ?? '') : `[${messages.join(', ')}]`;
    conflict = { reason: 'ShortNamesConflict', message };
    shortNames = before?.shortNames ?? [];
  }
  const kind = choose(asked.kind, before?.kind ?? '', kinds, 'KindConflict');
  const listKind = choose(asked.listKind ?? '', before?.listKind ?? '', kinds, 'ListKindConflict');
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
