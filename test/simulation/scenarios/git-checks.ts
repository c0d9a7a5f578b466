// What clusters get from a repository, observed from outside: from the history of pushes, and the state of the hub's
// server.

import type { Binding } from '../../../src/api/binding.ts';
import { type GitRepo, gitRepo } from '../../../src/api/git-repo.ts';
import { clusterOfNamespace, labels } from '../../../src/api/names.ts';
import { conditionOf } from '../../../src/api/next-condition.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import type { Work } from '../../../src/api/work.ts';
import { work } from '../../../src/api/work.ts';
import type { PlacementFamily } from '../../../src/hub/families.ts';
import { type Checker, changeChecker } from '../../../src/sim/check.ts';
import { type BundleState, broughtTo, type Commit, isWhole, type Repository } from './git-repository.ts';
import { textIn } from './light-member.ts';
import { isDeleting } from './rollout-world.ts';

/** The first head from `from` on that matches. */
const headFrom = ({ heads }: Repository, from: number, fits: (commit: Commit) => boolean): number | undefined => {
  for (let at = from; at < heads.length; at++) if (fits(heads[at] as Commit)) return at;
  return undefined;
};

const pair = (cluster: string, bundle: string): string => `${cluster} ${bundle}`;

/** Both texts of a bundle in these objects; `?` = it is absent. */
export function textsIn(objects: readonly KubeObject[], bundle: string): string {
  const textOf = (name: string) => {
    const found = objects.find(({ metadata }) => metadata.name === `${bundle}-${name}`);
    return found === undefined ? '?' : textIn(found);
  };
  return `${textOf('one')} ${textOf('two')}`;
}

export const bundleOf = ({ metadata }: KubeObject): string => metadata.labels?.[labels.parentPlacement] ?? '';

export interface GitChecks {
  readonly checkers: readonly Checker[];
}

export function gitChecks(repository: Repository, family: PlacementFamily): readonly Checker[] {
  /** By cluster and bundle: the earliest head with the cluster's content. */
  const given = new Map<string, number>();
  /** The number of heads when a GitRepo was last deleted. */
  let deletedAt = -1;
  const created = new Map<string, number>();

  const isPlacement = ({ kind }: KubeObject) => kind === family.placement.kind;
  const isOfRepository = (bundle: string) => repository.heads.some(({ bundles }) => bundle in bundles);

  const prefix = changeChecker('clusters get one commit after the other', ({ stored, deleted }, server) => {
    const object = stored.object();
    if (server !== 'hub' || object.kind !== work.kind || deleted || isDeleting(object)) return undefined;
    const cluster = clusterOfNamespace(object.metadata.namespace ?? '');
    const bundle = bundleOf(object);
    if (cluster === undefined || !isOfRepository(bundle)) return undefined;
    const manifests = ((object as Work).spec?.workload?.manifests ?? []) as unknown as readonly KubeObject[];
    const has = textsIn(manifests, bundle);
    const key = pair(cluster, bundle);
    const from = given.get(key) ?? 0;
    const fits = ({ bundles }: Commit) => broughtTo(cluster, bundles[bundle]) === has;
    const at = headFrom(repository, from, fits);
    if (at !== undefined) {
      given.set(key, at);
      return undefined;
    }
    const before = headFrom(repository, 0, fits);
    const isKnown = headFrom(repository, 0, ({ bundles }) => textsOf(bundles[bundle]).includes(has));
    const why =
      before !== undefined
        ? `of head ${before}, after one of head ${from}`
        : isKnown === undefined
          ? 'which no commit has'
          : `of head ${isKnown}, which does not let it have that`;
    return `${cluster} gets "${has}" of bundle ${bundle}, ${why}`;
  });

  const pruning = changeChecker(
    'only what a whole commit lacks is removed',
    ({ key, stored, previous, deleted }, server) => {
      const object = stored.object();
      if (server !== 'hub') return undefined;
      if (object.kind === gitRepo.kind) {
        if (deleted || isDeleting(object)) deletedAt = repository.heads.length;
        return undefined;
      }
      if (isPlacement(object)) {
        if (!deleted && !created.has(key)) created.set(key, repository.heads.length);
        if (deleted || (isDeleting(object) && !(previous && isDeleting(previous.object())))) {
          const bundle = object.metadata.name ?? '';
          const born = created.get(key) ?? 0;
          if (deleted) created.delete(key);
          if (deletedAt >= born) return undefined;
          const lacks = (commit: Commit) => isWhole(commit) && !(bundle in commit.bundles);
          return headFrom(
            repository,
            Math.max(0, born - 1, ...CLUSTERS.map((each) => given.get(pair(each, bundle)) ?? 0)),
            lacks,
          ) === undefined
            ? `placement ${bundle} is deleted, and every commit since it was made has it or is broken`
            : undefined;
        }
        return undefined;
      }
      if (object.kind !== family.binding.kind) return undefined;
      const { targetCluster: cluster, state } = (object as Binding).spec;
      const before = previous?.object() as Binding | undefined;
      const isLost = (each: Binding | undefined) =>
        each === undefined || isDeleting(each) || each.spec.state === 'Unscheduled';
      if (isLost(before) || !(deleted || isDeleting(object) || state === 'Unscheduled')) return undefined;
      const bundle = bundleOf(object);
      const excludes = ({ bundles }: Commit) =>
        bundles[bundle] === undefined ||
        (bundles[bundle].flaw === undefined && bundles[bundle].excluded.includes(cluster));
      return deletedAt >= 0 || headFrom(repository, given.get(pair(cluster, bundle)) ?? 0, excludes) !== undefined
        ? undefined
        : `bundle ${bundle} is taken from ${cluster}, and no commit asks for that`;
    },
  );

  let reported = 0;
  const status = changeChecker('the status follows the history', ({ stored, previous, deleted }, server) => {
    const object = stored.object() as GitRepo;
    if (server !== 'hub' || object.kind !== gitRepo.kind || deleted) return undefined;
    const { commit } = object.status ?? {};
    if (commit === undefined) return undefined;
    const at = headFrom(repository, reported, ({ id }) => id === commit);
    if (at === undefined) return `the status names commit ${commit}, which is older than head ${reported}`;
    reported = at;
    const isReady = (each: GitRepo | undefined) => conditionOf(each?.status?.conditions, 'Ready')?.status === 'True';
    if (!isReady(object) || isReady(previous?.object() as GitRepo | undefined)) return undefined;
    for (const [bundle, state] of Object.entries(repository.heads[at]?.bundles ?? {}))
      for (const cluster of CLUSTERS) {
        if (broughtTo(cluster, { ...state, paused: false }) === undefined) continue;
        const has = given.get(pair(cluster, bundle));
        // The current content may be from the earliest head with the same content.
        const wanted = broughtTo(cluster, { ...state, paused: false });
        const later = headFrom(
          repository,
          at,
          ({ bundles }) =>
            has !== undefined &&
            broughtTo(cluster, bundles[bundle]) === broughtTo(cluster, repository.heads[has]?.bundles[bundle]),
        );
        if (has === undefined || later === undefined)
          return `the GitRepo is Ready at head ${at}, and ${cluster} has not got "${wanted}" of bundle ${bundle}`;
      }
    return undefined;
  });
  return [prefix, pruning, status];
}

export const CLUSTERS = ['c1', 'c2', 'c3'];

/** The texts that a bundle could bring to any cluster, regardless of its options. */
const textsOf = (state: BundleState | undefined): readonly string[] =>
  state === undefined
    ? []
    : [state.one, ...(state.over === undefined ? [] : [state.over])].map((one) => `${one} ${state.two}`);
