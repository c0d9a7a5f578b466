// What the work generator watches and how it sees. Its keys are bindings.
import {
  annotations,
  clusterOfNamespace,
  finalizers,
  labels,
  masterWorkName,
  memberNamespace,
  workBaseName,
} from '../../api/names.ts';
import type { ResourceSnapshot } from '../../api/resource-snapshot.ts';
import { work } from '../../api/work.ts';
import { keyOf, partsOf } from '../../runtime/cache.ts';
import type { Controller, Need, See, WholeRef } from '../../runtime/controller.ts';
import { isNeed } from '../../runtime/controller.ts';
import type { PlacementFamily } from '../families.ts';
import { type HubBinding, isMaster, placementKeyOf, resourceIndexOf } from '../placement-sources.ts';
import { memberClusters } from '../sources.ts';
import { type HubWork, works } from '../work-source.ts';
import { decide, isCleanedUpWith, isReleased, type Observed } from './decide.ts';
import { decideOrphans, type Orphaned } from './orphans.ts';

export function workGenerator(family: PlacementFamily): Controller<Observed | Orphaned> {
  /** Since when there are Works of a binding that is gone. In memory: after a restart they may stay for as long once more. */
  const orphanedSince = new Map<string, number>();
  const keyOfBinding = ({ metadata }: HubBinding) => keyOf(metadata.namespace, metadata.name ?? '');
  const isOurs = ({ metadata }: HubWork) =>
    (metadata.labels?.[labels.parentPlacementNamespace] !== undefined) === family.binding.namespaced;
  const isLabelled = ({ metadata }: HubWork) => metadata.labels?.[labels.parentBinding] !== undefined;
  /** Of one that has lost its labels: it is still the Work of whoever asks for its name. */
  const bindingsByName = ({ metadata }: HubWork, see: See) =>
    see
      .by(family.bindings, 'cluster', clusterOfNamespace(metadata.namespace ?? '') ?? '')
      .filter((binding) => nameFor(binding) === metadata.name)
      .map(keyOfBinding);
  return {
    name: `work-generator/${family.placement.kind}`,
    eventSource: family.eventSource,
    watches: [
      {
        source: family.bindings,
        toKeys: (item, _see, other) => {
          if (other !== undefined && waitsForRelease(item, other)) return [];
          const heir = item.metadata.annotations?.[annotations.twinOf];
          // The heir marks what is on the cluster as its own when nobody else does any more.
          return [keyOfBinding(item), ...(heir === undefined ? [] : [keyOf(item.metadata.namespace, heir)])];
        },
      },
      {
        source: works,
        toKeys(item, see) {
          if (!isLabelled(item)) return bindingsByName(item, see);
          if (!isOurs(item)) return isNamedAsLabelled(item) ? [] : bindingsByName(item, see);
          const own = bindingOf(item);
          // Of one that is gone: whoever asks for that name now takes it over.
          return own.some((key) => isKnown(see, key)) ? own : [...own, ...bindingsByName(item, see)];
        },
      },
      // Which snapshot a binding names is on the binding; that one of them appears late or goes early is what is looked for here.
      {
        source: family.resourceSnapshots,
        toKeys: (item, see, other) =>
          other?.metadata.uid === item.metadata.uid
            ? []
            : see
                .by(family.bindings, 'placement', placementKeyOf(item))
                .filter(({ spec }) => spec.resourceSnapshotName === item.metadata.name)
                .map(keyOfBinding),
      },
      {
        source: memberClusters,
        toKeys: (item, see, old) =>
          old === undefined ? see.by(family.bindings, 'cluster', item.metadata.name ?? '').map(keyOfBinding) : [],
      },
    ],

    observe(see, key) {
      const { name, namespace } = partsOf(key);
      const binding = see.get(family.bindings, name, namespace);
      if (binding === undefined) return orphansOf(see, key);
      orphanedSince.delete(key);
      const found = worksOf(see, binding, key);
      const heir = heirOf(see, binding);
      const unsure =
        isGoing(binding) && !found.some((each) => isCleanedUpWith(binding, each)) ? workOf(binding) : undefined;
      // That nothing is left is not believed to a watch that may be behind: what it does not know would stay for ever. It may also still
      // know the Work of a predecessor, under the same name.
      if (unsure !== undefined && see.whole(unsure) === undefined) return { need: [unsure] };
      const { state } = binding.spec;
      const isActive = !isGoing(binding) && state !== 'Scheduled' && (state !== 'Bound' || isReleased(binding));
      const group = isActive ? groupOf(see, binding) : 'incomplete';
      if (isNeed(group)) return group;
      return {
        family,
        binding,
        works: found,
        group,
        isMemberThere: see.get(memberClusters, binding.spec.targetCluster) !== undefined,
        ...(heir === undefined ? {} : { heir }),
        ...(see.failure === undefined ? {} : { failure: see.failure }),
        now: see.now,
      };
    },

    decide: (observed) => ('orphans' in observed ? decideOrphans(observed) : decide(observed)),
  };

  function isKnown(see: See, key: string): boolean {
    const { name, namespace } = partsOf(key);
    return see.get(family.bindings, name, namespace) !== undefined;
  }

  /** That the binding is gone is not believed to a watch that may be behind. */
  function orphansOf(see: See, key: string): Orphaned | Need | undefined {
    const orphans = see
      .by(works, 'binding', key)
      .filter((each) => isOurs(each) && isLeftBehind(each) && bindingsByName(each, see).length === 0);
    if (orphans.length === 0) {
      orphanedSince.delete(key);
      return undefined;
    }
    const { group, kind } = family.binding;
    const ref: WholeRef = { on: 'hub', resource: family.binding, group, kind, ...partsOf(key), live: true };
    const whole = see.whole(ref);
    if (whole === undefined) return { need: [ref] };
    if (whole !== null) return undefined;
    // If the clock was set back, the count begins anew.
    const since = Math.min(orphanedSince.get(key) ?? see.now, see.now);
    orphanedSince.set(key, since);
    return { orphans, since, now: see.now };
  }

  /** While it stands: if it goes, too, what is on the cluster goes with the last of them. */
  function heirOf(see: See, { metadata }: HubBinding): HubBinding | undefined {
    const name = metadata.annotations?.[annotations.twinOf];
    const heir = name === undefined ? undefined : see.get(family.bindings, name, metadata.namespace);
    return heir === undefined || isGoing(heir) ? undefined : heir;
  }

  /** By label, and the one that has the name: it may have lost its labels. */
  function worksOf(see: See, binding: HubBinding, key: string): readonly HubWork[] {
    const labelled = see.by(works, 'binding', key).filter(isOurs);
    const named = see.get(works, nameFor(binding), memberNamespace(binding.spec.targetCluster));
    if (named === undefined || labelled.includes(named)) return labelled;
    return isGoing(binding) && hasHeir(see, binding) ? labelled : [...labelled, named];
  }

  /** Then what has lost its labels is the other one's, which puts them right. */
  function hasHeir(see: See, binding: HubBinding): boolean {
    return see
      .by(family.bindings, 'cluster', binding.spec.targetCluster)
      .some((each) => nameFor(each) === nameFor(binding) && !isGoing(each) && each.spec.state === 'Bound');
  }

  function groupOf(see: See, binding: HubBinding): Observed['group'] | Need {
    const all = see.by(family.resourceSnapshots, 'placement', placementKeyOf(binding));
    const master = all.find(({ metadata }) => metadata.name === binding.spec.resourceSnapshotName);
    if (master === undefined || !isMaster(master)) return 'missing';
    const index = resourceIndexOf(master);
    const further = all.filter((each) => each !== master && resourceIndexOf(each) === index);
    const size = Number(master.metadata.annotations?.[annotations.numberOfResourceSnapshots] ?? '1');
    if (further.length + 1 < size) return 'incomplete';
    const refs = [master, ...further].map(
      ({ metadata }): WholeRef => ({
        on: 'hub',
        resource: family.resourceSnapshot,
        group: family.resourceSnapshot.group,
        kind: family.resourceSnapshot.kind,
        ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
        name: metadata.name ?? '',
        // That another one is the newest now concerns nobody who has this one: with a thousand clusters it would wake a thousand.
        specOnly: true,
      }),
    );
    const wholes = refs.map((ref) => ({ ref, whole: see.whole(ref) }));
    const need = wholes.filter(({ whole }) => whole === undefined).map(({ ref }) => ref);
    if (need.length > 0) return { need };
    if (wholes.some(({ whole }) => whole === null)) return 'missing';
    return wholes.map(({ whole }) => whole as ResourceSnapshot);
  }
}

/** Made by us; one that somebody else made is his to take away. */
const isLeftBehind = ({ metadata }: HubWork): boolean =>
  metadata.deletionTimestamp === undefined && metadata.annotations?.[annotations.orderedBy] !== undefined;

/**
 * It was moved; whoever moved it says when it may be ordered, and until then there is nothing to do. Either of the two may be the newer one. A
 * server that went back reads the other way round: then the Works, which change too, bring us here.
 */
function waitsForRelease(a: HubBinding, b: HubBinding): boolean {
  const newer = (a.metadata.generation ?? 0) > (b.metadata.generation ?? 0) ? a : b;
  return (
    a.metadata.uid === b.metadata.uid &&
    newer.spec.state === 'Bound' &&
    !isGoing(newer) &&
    !isReleased(newer) &&
    (newer.metadata.finalizers ?? []).includes(finalizers.workCleanup) &&
    [a, b].every(({ metadata }) => metadata.annotations?.[annotations.twinOf] === undefined)
  );
}

const isGoing = ({ metadata }: HubBinding): boolean => metadata.deletionTimestamp !== undefined;

const workOf = (binding: HubBinding): WholeRef => ({
  on: 'hub',
  resource: work,
  group: work.group,
  kind: work.kind,
  namespace: memberNamespace(binding.spec.targetCluster),
  name: nameFor(binding),
  live: true,
});

const nameFor = ({ metadata }: HubBinding): string =>
  masterWorkName(workBaseName(metadata.labels?.[labels.parentPlacement] ?? '', metadata.namespace));

/** Else its labels were changed by hand, perhaps to those of the other scope. */
const isNamedAsLabelled = ({ metadata: { name = '', labels: told } }: HubWork): boolean =>
  name.startsWith(`${workBaseName(told?.[labels.parentPlacement] ?? '', told?.[labels.parentPlacementNamespace])}-`);

const bindingOf = ({ metadata }: HubWork): readonly string[] => {
  const binding = metadata.labels?.[labels.parentBinding];
  return binding === undefined ? [] : [keyOf(metadata.labels?.[labels.parentPlacementNamespace], binding)];
};
