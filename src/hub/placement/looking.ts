// How a pass looks at what a placement selects: kinds watched on demand, whole objects by need. What could not be told yet is remembered, so
// that one Need asks for all of it.
import type { LiveCatalogue } from '../../api/catalogue.ts';
import type { Resource } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Part, See, Source, WholeRef } from '../../runtime/controller.ts';
import type { HubPlacement } from '../placement-sources.ts';
import { type Content, contentOf } from './content.ts';
import type { Selected } from './observed.ts';
import type { Candidate, Propagation } from './propagation.ts';
import { type Picked, type Sight, select } from './select.ts';
import type { WatchPlan } from './watch-plan.ts';

export interface Looking {
  readonly catalogue: LiveCatalogue;
  readonly propagation: Propagation;
  readonly plan: WatchPlan;
  readonly contents: Contents;
}

/** What must be there before anything can be told. */
export interface Missing {
  readonly need: readonly WholeRef[];
  readonly watch: readonly Source[];
}

export const isMissing = (found: Selected | Missing): found is Missing => 'need' in found;

/** The content of a placement's last pass, so that nothing is made anew while the objects are the same. */
export interface Contents {
  of(key: string, wholes: readonly KubeObject[]): Content;
  forget(key: string): void;
}

export function createContents(): Contents {
  const last = new Map<string, { readonly wholes: readonly KubeObject[]; readonly content: Content }>();
  return {
    of(key, wholes) {
      const known = last.get(key);
      if (known !== undefined && isSame(known.wholes, wholes)) return known.content;
      const content = contentOf(wholes);
      last.set(key, { wholes, content });
      return content;
    },
    forget: (key) => {
      last.delete(key);
    },
  };
}

const isSame = (a: readonly KubeObject[], b: readonly KubeObject[]): boolean =>
  a.length === b.length && a.every((item, index) => item === b[index]);

/** `reader` names the placement among all that look. */
export function lookAt(
  see: See,
  reader: string,
  { metadata, spec }: HubPlacement,
  { catalogue, propagation, plan, contents }: Looking,
): Selected | Missing {
  const used = new Set<Source<Candidate>>();
  const unlisted = new Set<Source<Candidate>>();
  const sight: Sight = {
    list(resource: Resource, part: Part) {
      const source = plan.sourceFor(resource, resource.namespaced ? part.namespace : undefined, reader);
      used.add(source);
      const found = see.among(source, part);
      if (found === undefined) unlisted.add(source);
      return found;
    },
  };
  const selection = select({
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    selectors: spec.resourceSelectors,
    catalogue,
    propagation,
    sight,
  });
  plan.keep(reader, used);
  if (selection.state === 'invalid') return selection;
  if (selection.state === 'unknown') return waitFor(see, [...unlisted]);
  return contentIn(see, reader, selection, contents);
}

/** What the server refuses to list is told; what it has only not listed yet is waited for. */
function waitFor(see: See, unlisted: readonly Source<Candidate>[]): Selected | Missing {
  const waiting = unlisted.filter((source) => see.amiss(source as Source) === undefined);
  if (waiting.length > 0) return { need: [], watch: waiting as readonly Source[] };
  const [first] = unlisted;
  const trouble = first === undefined ? undefined : see.amiss(first as Source);
  return {
    state: 'pending',
    kind:
      first === undefined
        ? ''
        : `${first.resource.plural}${first.resource.group === '' ? '' : `.${first.resource.group}`}`,
    message: trouble?.message ?? '',
  };
}

const refOf = ({ resource, namespace, name }: Picked): WholeRef => ({
  on: 'hub',
  resource,
  group: resource.group,
  kind: resource.kind,
  ...(namespace === undefined ? {} : { namespace }),
  name,
});

function contentIn(
  see: See,
  reader: string,
  { picked, notes }: { readonly picked: readonly Picked[]; readonly notes: readonly string[] },
  contents: Contents,
): Selected | Missing {
  const wholes: KubeObject[] = [];
  const need: WholeRef[] = [];
  for (const each of picked) {
    const ref = refOf(each);
    const whole = see.whole(ref);
    // Gone since it was listed: the next pass will not list it.
    if (whole === null) continue;
    if (whole === undefined) need.push(ref);
    else wholes.push(whole);
  }
  if (need.length > 0) return { need, watch: [] };
  return { state: 'selected', content: contents.of(reader, wholes), notes };
}
