// Which objects a placement selects: its selectors, applied to the caches of the hub. Pure: it reads through `Sight`,
// which records what is not known yet.
//
// Differs from KubeFleet: a named object that does not exist is reported; reserved namespaces that match a label are
// left out and reported instead of being an error; NamespaceOnly does not place reserved namespaces either; an object
// that two selectors match is selected once; kinds may be named in any served version. Objects that belong to a cluster
// itself are never placed (ADR 10).
import type { LiveCatalogue } from '../../api/catalogue.ts';
import { hasClusterOwnedName, isClusterOwned } from '../../api/cluster-owned.ts';
import type { Resource } from '../../api/kind.ts';
import { apiVersionOf } from '../../api/object.ts';
import type { ResourceSelector } from '../../api/resource-selector.ts';
import { namespaceResource } from '../../api/resources.ts';
import { UserError } from '../../base/errors.ts';
import { compileLabelSelector, everything, type Selector } from '../../base/selector.ts';
import type { Part } from '../../runtime/controller.ts';
import { inOrder } from './order.ts';
import type { Candidate, Propagation } from './propagation.ts';

export interface Sight {
  /** Sorted by key; undefined = not known yet. */
  list(resource: Resource, part: Part): readonly Candidate[] | undefined;
}

/**
 * A group version whose API server does not answer, so that its kinds are unknown. A selector that names one of them
 * waits. A selector of whole namespaces waits only if objects of this group are placed from the namespace: they are
 * unseen, not deleted, and members would delete them. Otherwise it continues, or one dead API would block all such
 * selectors; the objects are placed once it answers.
 */
export interface Unread {
  readonly group: string;
  readonly version: string;
  /** Namespaces from which the newest revision has objects of this group. */
  readonly placedIn: ReadonlySet<string>;
}

export interface SelectInput {
  /** The namespace of a ResourcePlacement. Absent = cluster scope. */
  readonly namespace?: string;
  readonly selectors: readonly ResourceSelector[];
  readonly catalogue: Pick<LiveCatalogue, 'byKind' | 'preferred'>;
  readonly propagation: Propagation;
  readonly sight: Sight;
  readonly unread?: readonly Unread[];
}

export interface Picked {
  readonly resource: Resource;
  readonly namespace?: string;
  readonly name: string;
}

export type Selection =
  | { readonly state: 'selected'; readonly picked: readonly Picked[]; readonly notes: readonly string[] }
  | { readonly state: 'invalid'; readonly message: string }
  /** The selection depends on a group version that cannot be read. */
  | { readonly state: 'unread'; readonly groupVersion: string }
  /** The selection depends on objects that are not known yet. */
  | { readonly state: 'unknown' };

const MAX_NAMED = 5;

/** In the order of snapshots, each object once. */
export function select(input: SelectInput): Selection {
  const run = begin(input);
  try {
    if (input.namespace === undefined) run.pickAtClusterScope();
    else run.pickInNamespace(input.namespace);
    const [groupVersion] = run.unread;
    if (groupVersion !== undefined) return { state: 'unread', groupVersion };
    const picked = [...run.picked.values()].sort((a, b) => inOrder(ordered(a), ordered(b)));
    return run.isMissingSomething() ? { state: 'unknown' } : { state: 'selected', picked, notes: run.notes };
  } catch (error) {
    if (error instanceof UserError) return { state: 'invalid', message: error.message };
    throw error;
  }
}

const ordered = ({ resource, namespace, name }: Picked) => ({
  group: resource.group,
  version: resource.version,
  kind: resource.kind,
  ...(namespace === undefined ? {} : { namespace }),
  name,
});

const wrong = (message: string): UserError => new UserError('InvalidResourceSelectors', message);

const ownedByCluster = (term: ResourceSelector): UserError =>
  wrong(`${described(term)} belongs to the cluster itself and cannot be placed: every cluster has its own`);

const isNamespaceTerm = ({ group, version, kind }: ResourceSelector): boolean =>
  group === '' && version === 'v1' && kind === 'Namespace';

/** A selector in words that a user recognizes. */
function described({ group, version, kind, name, labelSelector }: ResourceSelector): string {
  const what = `${apiVersionOf(group, version)} ${kind}`;
  if (name !== undefined && name !== '') return `${what} "${name}"`;
  return labelSelector === undefined ? `${what}, all` : `${what} by labels`;
}

const nameOf = ({ name }: ResourceSelector): string | undefined => (name === '' ? undefined : name);

/** An absent selector matches everything here. */
const labelsOf = ({ labelSelector }: ResourceSelector): Selector =>
  labelSelector === undefined ? everything : compileLabelSelector(labelSelector);

const summed = (names: readonly string[]): string =>
  names.length <= MAX_NAMED
    ? names.join(', ')
    : `${names.slice(0, MAX_NAMED).join(', ')} and ${names.length - MAX_NAMED} more`;

function begin({ selectors, catalogue, propagation, sight, unread: silent = [] }: SelectInput) {
  const picked = new Map<string, Picked>();
  /** The version per kind: the same object in two versions would be two objects in the snapshot. */
  const versions = new Map<string, string>();
  const notes: string[] = [];
  /** Unreadable group versions that the selection depends on. */
  const unread = new Set<string>();
  let isMissing = false;

  const list = (resource: Resource, part: Part): readonly Candidate[] => {
    const found = sight.list(resource, part);
    if (found === undefined) isMissing = true;
    return found ?? [];
  };

  function add(resource: Resource, { metadata }: Candidate): void {
    const { namespace, name = '' } = metadata;
    const object = `${resource.group}/${resource.kind}/${namespace ?? ''}/${name}`;
    const version = versions.get(object);
    if (version !== undefined && version !== resource.version) {
      throw wrong(`${resource.kind} "${name}" is selected in two versions, ${version} and ${resource.version}`);
    }
    versions.set(object, resource.version);
    picked.set(object, { resource, ...(namespace === undefined ? {} : { namespace }), name });
  }

  /** undefined = the selector matches nothing, or its kind is not known yet. */
  function kindOf(term: ResourceSelector): Resource | undefined {
    const { group, version, kind } = term;
    const groupVersion = apiVersionOf(group, version);
    const resource = catalogue.byKind(groupVersion, kind);
    const isSilent = resource === undefined && silent.some((each) => each.group === group && each.version === version);
    if (resource === undefined && !isSilent) throw wrong(`the hub serves no ${kind} in ${groupVersion}`);
    if (!propagation.allowsKind(resource ?? { group, version, kind })) {
      notes.push(`selector ${described(term)} brings nothing: objects of this kind are never placed`);
      return undefined;
    }
    if (isSilent) unread.add(groupVersion);
    return resource;
  }

  function hasService(namespace: string | undefined, name: string): boolean {
    const service = catalogue.byKind('v1', 'Service');
    if (service === undefined || namespace === undefined) return false;
    return list(service, { namespace, name }).length > 0;
  }

  const mayBePlaced = (resource: Resource, object: Candidate): boolean =>
    !isClusterOwned(resource, object.metadata) &&
    propagation.allowsObject(resource, object, () => hasService(object.metadata.namespace, object.metadata.name ?? ''));

  /** Selects objects of one kind, in the whole cluster or in one namespace. */
  function pickMatching(term: ResourceSelector, resource: Resource, namespace: string | undefined): void {
    const name = nameOf(term);
    if (name !== undefined && hasClusterOwnedName(resource, name)) throw ownedByCluster(term);
    const matcher = labelsOf(term);
    const part = { ...(namespace === undefined ? {} : { namespace }), ...(name === undefined ? {} : { name }) };
    const found = list(resource, part).filter((object) => matcher.matches(object.metadata.labels));
    if (name !== undefined && found.some(({ metadata }) => isClusterOwned(resource, metadata)))
      throw ownedByCluster(term);
    const placed = found.filter((object) => mayBePlaced(resource, object));
    for (const object of placed) add(resource, object);
    if (found.length === 0 && !isMissing) notes.push(`selector ${described(term)} matches nothing`);
    if (name === undefined || placed.length > 0 || found.length === 0) return;
    notes.push(
      found[0]?.metadata.deletionTimestamp === undefined
        ? `selector ${described(term)} brings nothing: this object is never placed`
        : `selector ${described(term)} brings nothing: the object is being deleted`,
    );
  }

  /** The namespaces that a selector matches, without reserved ones. */
  function namespacesOf(term: ResourceSelector): readonly Candidate[] {
    const name = nameOf(term);
    const matcher = labelsOf(term);
    if (name !== undefined && !propagation.allowsNamespace(name)) {
      throw wrong(`namespace "${name}" is reserved and cannot be placed`);
    }
    const found = list(namespaceResource, name === undefined ? {} : { name }).filter(({ metadata }) =>
      matcher.matches(metadata.labels),
    );
    const reserved = found.filter(({ metadata }) => !propagation.allowsNamespace(metadata.name ?? ''));
    if (reserved.length > 0) {
      const names = reserved.map(({ metadata }) => metadata.name ?? '');
      notes.push(`selector ${described(term)} leaves out reserved namespaces: ${summed(names)}`);
    }
    if (name !== undefined && found.some(({ metadata }) => isClusterOwned(namespaceResource, metadata)))
      throw ownedByCluster(term);
    const living = found.filter(
      ({ metadata }) =>
        metadata.deletionTimestamp === undefined &&
        !isClusterOwned(namespaceResource, metadata) &&
        propagation.allowsNamespace(metadata.name ?? ''),
    );
    if (found.length === 0 && !isMissing) notes.push(`selector ${described(term)} matches nothing`);
    if (name !== undefined && found.length > 0 && living.length === 0)
      notes.push(`selector ${described(term)} brings nothing: the object is being deleted`);
    return living;
  }

  function pickWithContent(namespace: Candidate): void {
    add(namespaceResource, namespace);
    const { name = '' } = namespace.metadata;
    for (const { group, version, placedIn } of silent) {
      if (placedIn.has(name)) unread.add(apiVersionOf(group, version));
    }
    for (const resource of catalogue.preferred) {
      if (!resource.namespaced || !propagation.allowsKind(resource)) continue;
      for (const object of list(resource, { namespace: name })) {
        if (mayBePlaced(resource, object)) add(resource, object);
      }
    }
  }

  /** The only namespace for selectors of namespaced kinds. */
  function innerNamespace(): string | undefined {
    const term = selectors.find(
      (each) => isNamespaceTerm(each) && each.selectionScope === 'NamespaceWithResourceSelectors',
    );
    if (term === undefined) return undefined;
    const name = nameOf(term);
    if (name === undefined) throw wrong('a Namespace selector with NamespaceWithResourceSelectors needs a name');
    const wasMissing = isMissing;
    const [found] = namespacesOf(term);
    if (found === undefined && isMissing === wasMissing) {
      throw wrong(`exactly one namespace is needed to select inside it, and there is no namespace "${name}"`);
    }
    return name;
  }

  function pickAtClusterScope(): void {
    const inner = innerNamespace();
    notes.length = 0;
    for (const term of selectors) {
      const resource = kindOf(term);
      if (resource === undefined) continue;
      if (isNamespaceTerm(term)) {
        const isWithContent =
          term.selectionScope !== 'NamespaceOnly' && term.selectionScope !== 'NamespaceWithResourceSelectors';
        for (const namespace of namespacesOf(term)) {
          if (isWithContent) pickWithContent(namespace);
          else add(namespaceResource, namespace);
        }
      } else if (!resource.namespaced) {
        pickMatching(term, resource, undefined);
      } else if (inner === undefined) {
        throw wrong(
          `${term.kind} lives in namespaces: select its Namespace, with NamespaceWithResourceSelectors for only some of what it contains`,
        );
      } else {
        pickMatching(term, resource, inner);
      }
    }
  }

  function pickInNamespace(namespace: string): void {
    // Differs from KubeFleet, where a ResourcePlacement in a reserved namespace places objects that must stay on the
    // hub.
    if (!propagation.allowsNamespace(namespace)) {
      throw wrong(`namespace "${namespace}" is reserved: nothing in it can be placed`);
    }
    for (const term of selectors) {
      const resource = kindOf(term);
      if (resource === undefined) continue;
      if (!resource.namespaced) {
        throw wrong(`${term.kind} is cluster-scoped: a ResourcePlacement selects in its own namespace only`);
      }
      pickMatching(term, resource, namespace);
    }
  }

  return { picked, notes, unread, pickAtClusterScope, pickInNamespace, isMissingSomething: () => isMissing };
}
