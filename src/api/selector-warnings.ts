// A selector that matches nothing is complete immediately, as in KubeFleet. Usually it is a typo, so the author gets a
// warning. Only built-in kinds are checked, because the plural of a custom kind is not known here.
import { deepEqual } from '../base/json.ts';
import { compileLabelSelector, everything } from '../base/selector.ts';
import { builtinKinds } from './builtin/kinds.ts';
import type { AdmitQuestion, AdmitRead, AdmitRequest, Admitted, ReadOnly } from './kind.ts';
import { apiVersionOf } from './object.ts';
import type { PlacementSpec, PlacementStatus } from './placement.ts';
import type { ResourceSelector } from './resource-selector.ts';

type Question = AdmitQuestion<PlacementSpec, PlacementStatus>;
type Admit = (request: AdmitRequest<PlacementSpec, PlacementStatus>) => Admitted;

const nameOf = (group: string, kind: string): string => `${group}/${kind}`;
const kindsByName = new Map(builtinKinds.map((each) => [nameOf(each.group, each.kind), each]));

interface Looked {
  readonly read: AdmitRead;
  readonly selector: ResourceSelector;
  readonly index: number;
}

/** The reads for new or changed selectors. */
function lookedUp({ verb, subresource, object, old }: Question): readonly Looked[] {
  const selectors = object?.spec?.resourceSelectors;
  if (verb === 'delete' || subresource !== undefined || selectors === undefined) return [];
  if (deepEqual(selectors, old?.spec?.resourceSelectors)) return [];
  const inner = selectors.find((each) => each.selectionScope === 'NamespaceWithResourceSelectors')?.name;
  const within = object?.metadata.namespace ?? inner;
  return selectors.flatMap((selector, index): readonly Looked[] => {
    const { group, version, kind, name } = selector;
    const known = kindsByName.get(nameOf(group, kind));
    if (known === undefined || (known.namespaced && within === undefined)) return [];
    const { plural, namespaced } = known;
    const read = {
      resource: { group, version, kind, plural, namespaced },
      ...(namespaced && within !== undefined ? { namespace: within } : {}),
      ...(name ? { name } : {}),
    };
    return [{ read, selector, index }];
  });
}

export const selectorReads = (question: Question): readonly AdmitRead[] => lookedUp(question).map(({ read }) => read);

/** The same admission, with a warning for each new selector that currently matches nothing. */
export const warningOfNothing =
  (admit: Admit): Admit =>
  (request) => {
    const admitted = admit(request);
    if (!admitted.ok) return admitted;
    const missing = lookedUp(request).filter((each) => !matches(each, request.lookup));
    return missing.length === 0
      ? admitted
      : { ...admitted, warnings: [...admitted.warnings, ...missing.map(warningAbout)] };
  };

const warningAbout = ({ selector: { group, version, kind, name }, index }: Looked): string =>
  `spec.resourceSelectors[${index}] (${apiVersionOf(group, version)} ${kind}${name ? ` "${name}"` : ''}) matches nothing on the hub now: the placement is complete without it`;

function matches(
  { read: { resource, namespace }, selector: { name, labelSelector } }: Looked,
  lookup: ReadOnly,
): boolean {
  if (name) return lookup.get(resource, name, namespace) !== undefined;
  try {
    const selector = labelSelector === undefined ? everything : compileLabelSelector(labelSelector);
    return lookup.list(resource, namespace).some(({ metadata }) => selector.matches(metadata.labels));
  } catch {
    // The status reports an invalid label selector.
    return true;
  }
}
