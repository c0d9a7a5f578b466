// Which objects, placements and clusters an override applies to. Pure.
import { innerIdentifiers } from '../../api/enveloped.ts';
import type { Resource } from '../../api/kind.ts';
import type { KubeObject, Labels, ObjectMeta } from '../../api/object.ts';
import type { OverrideRule } from '../../api/override.ts';
import type { OverrideSelector } from '../../api/override-admission.ts';
import { identifierOf, type ResourceIdentifier } from '../../api/selected-resource.ts';
import { UserError } from '../../base/errors.ts';
import { compileLabelSelector } from '../../base/selector.ts';

/** An override, or the spec of one from a snapshot. */
export interface Override {
  readonly metadata: ObjectMeta;
  /** The only placement that it applies to. */
  readonly placement?: { readonly name: string; readonly scope?: string };
  readonly selectors: readonly OverrideSelector[];
  readonly rules: readonly OverrideRule[];
  /** The original spec: a snapshot contains the same. */
  readonly spec: object;
}

export interface HubOverride extends Override {
  readonly resource: Resource;
}

export interface HubOverrideSnapshot extends Override {
  /** Name of the override, in the same namespace. */
  readonly override: string;
  readonly index: number;
}

/** A ClusterResourceOverride with a placement reference never applies to a ResourcePlacement. */
export function matchesPlacement({ metadata, placement }: Override, placed: ObjectMeta): boolean {
  if (placement === undefined) return true;
  if (placement.name !== placed.name) return false;
  return placement.scope === 'Namespaced' ? placed.namespace === metadata.namespace : placed.namespace === undefined;
}

/** By name and version; a selected Namespace includes all objects in it. */
export function matches({ metadata, selectors }: Override, object: ResourceIdentifier): boolean {
  const { group = '', version, kind, namespace, name } = object;
  const isSame = (each: OverrideSelector) =>
    each.group === group && each.version === version && each.kind === kind && each.name === name;
  if (metadata.namespace !== undefined) return namespace === metadata.namespace && selectors.some(isSame);
  if (namespace === undefined) return selectors.some(isSame);
  return selectors.some((each) => isNamespace(each) && each.name === namespace);
}

const isNamespace = ({ group, version, kind }: OverrideSelector): boolean =>
  group === '' && version === 'v1' && kind === 'Namespace';

/** The objects of a revision, indexed for lookups: it may have thousands of objects, and a hub has many overrides. */
export interface Offered {
  readonly objects: ReadonlySet<string>;
  readonly namespaces: ReadonlySet<string>;
}

const textOf = (group: string, version: string, kind: string, namespace: string, name: string): string =>
  `${group}/${version}/${kind}/${namespace}/${name}`;

/** Including objects in envelopes. */
export const offeredBy = (objects: readonly KubeObject[]): Offered =>
  offeredIn(objects.flatMap((each) => [identifierOf(each), ...innerIdentifiers(each)]));

export function offeredIn(objects: readonly ResourceIdentifier[]): Offered {
  return {
    objects: new Set(
      objects.map(({ group = '', version, kind, namespace = '', name }) =>
        textOf(group, version, kind, namespace, name),
      ),
    ),
    namespaces: new Set(objects.flatMap(({ namespace }) => namespace ?? [])),
  };
}

/** Whether it selects any of the objects. */
export const isAbout = ({ metadata, selectors }: Override, { objects, namespaces }: Offered): boolean =>
  selectors.some((each) => {
    const { group, version, kind, name = '' } = each;
    if (objects.has(textOf(group, version, kind, metadata.namespace ?? '', name))) return true;
    return metadata.namespace === undefined && isNamespace(each) && namespaces.has(name);
  });

/** Without a selector no cluster matches, with an empty list of terms all of them do. */
export function matchesCluster({ clusterSelector }: OverrideRule, labels: Labels): boolean {
  if (clusterSelector === undefined) return false;
  const { clusterSelectorTerms: terms = [] } = clusterSelector;
  return terms.length === 0 || terms.some(({ labelSelector }) => selects(labelSelector, labels));
}

/** An invalid selector, which admission rejects, selects nothing. */
function selects(selector: Parameters<typeof compileLabelSelector>[0], labels: Labels): boolean {
  try {
    return compileLabelSelector(selector).matches(labels);
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}
