// GitRepos: which repositories are followed, and the placements created from them. Start at decide.ts; following.ts
// polls, render.ts turns files into bundles. It owns repositories, bundles, their placements and the status of the
// GitRepo. Snapshots, scheduling and rollout are the same as for any placement (hub/placement, hub/scheduler,
// hub/rollout). Without a GitRepo it costs one idle watch.
import type { LiveCatalogue } from '../../api/catalogue.ts';
import type { GitProblem, GitRepoSpec } from '../../api/git-repo.ts';
import type { MemberCluster } from '../../api/member-cluster.ts';
import { SYSTEM_NAMESPACE } from '../../api/names.ts';
import { secretResource } from '../../api/resources.ts';
import type { Clock } from '../../base/clock.ts';
import { parseDuration } from '../../base/duration.ts';
import { sha256 } from '../../base/hash.ts';
import { canonicalJson, deepEqual, type Json } from '../../base/json.ts';
import { createLru } from '../../base/lru.ts';
import type { Random } from '../../base/random.ts';
import { keyOf, partsOf } from '../../runtime/cache.ts';
import type { Controller, FullRef, Need, View } from '../../runtime/controller.ts';
import { families, type PlacementFamily } from '../families.ts';
import { clusterGroups, groupsIn, type HubClusterGroup } from '../groups/sources.ts';
import { type HubPlacement, type HubResourceSnapshot, placementKeyOf } from '../placement-sources.ts';
import { contentOf, marksOf } from '../revisions/content.ts';
import { createPropagation, type PropagationSettings } from '../revisions/propagation.ts';
import { bundleKey, bundleKeyOf, type Rendered, repoKeyOf } from '../revisions/rendered.ts';
import { latestMaster } from '../revisions/resource-snapshot.ts';
import { memberClusters } from '../sources.ts';
import type { Outputs } from './bundle-content.ts';
import { excludingOf, type Fleet } from './bundle-variants.ts';
import { decide, type Observed } from './decide.ts';
import { createFollowing, type Followed, type ReadAgain } from './following.ts';
import type { ParsedFiles } from './manifests.ts';
import { type WantedPlacement, wantedPlacement } from './placements.ts';
import { type RepoBundle, render } from './render.ts';
import type { Renderer } from './renderer.ts';
import { type GitClient, type GitCredentials, GitError, type GitSource } from './repository.ts';
import { credentialsIn, sourceOf } from './source.ts';
import { familyOf, gitRepos, type HubGitRepo } from './sources.ts';
import { policyOf } from './targets.ts';
import { type CommitContent, sourceHashOf, upToNow } from './up-to-now.ts';

export interface GitOptions {
  readonly client: GitClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly catalogue: LiveCatalogue;
  readonly propagation?: PropagationSettings;
  readonly rendered: Rendered;
  /** Absent = bundles with plain YAML only. */
  readonly renderer?: Renderer;
  /** Yields to the event loop between two files. */
  breathe?(): Promise<void>;
}

const DEFAULT_INTERVAL_MS = 15_000;
const MIN_INTERVAL_MS = 1_000;
/** Status events of a GitRepo's placements within this time are coalesced. */
const SUMMARY_MS = 250;
const MAX_PARSED = 20_000;
const MAX_OUTPUTS = 2_000;

interface Memory {
  /** The GitRepo is not being deleted. */
  isLiving: boolean;
  /** Its content depends on which clusters exist. */
  usesClusters: boolean;
}

export function gitRepoController(options: GitOptions): Controller<Observed, Memory> {
  const { client, clock, random, catalogue, rendered, breathe = async () => {} } = options;
  const following = createFollowing({ client, clock, random });
  const propagation = createPropagation(options.propagation);
  const parsed: ParsedFiles = createLru(MAX_PARSED);
  const outputs: Outputs = createLru(MAX_OUTPUTS);
  /** Counts changes of the served kinds, which decide which objects are namespaced. */
  let kinds = 0;

  function wantedOf(view: View, repo: HubGitRepo, source: GitSource, memory: Memory) {
    const { spec, metadata } = repo;
    const { paths = [], targetNamespace = '', forceSyncGeneration = 0, syncGeneration = 0, targets } = spec;
    const isSystem = metadata.namespace === SYSTEM_NAMESPACE;
    const fleet = fleetIn(view, targets);
    return {
      source,
      intervalMs: intervalOf(spec),
      force: `${forceSyncGeneration}/${syncGeneration}`,
      placed: repo.status?.commit,
      options: canonicalJson([paths, targetNamespace, kinds, ...(memory.usesClusters ? [digestOf(fleet)] : [])]),
      read: (files: Parameters<typeof render>[0]['files'], readAgain: ReadAgain) =>
        render({
          repo: metadata.name ?? '',
          ...(isSystem ? {} : { namespace: metadata.namespace ?? '' }),
          ...(targetNamespace === '' ? {} : { targetNamespace }),
          paths,
          files,
          catalogue,
          propagation,
          parsed,
          outputs,
          fleet,
          renderer: options.renderer,
          readAgain,
          breathe,
        }),
    };
  }

  function followedBy(
    view: View,
    key: string,
    repo: HubGitRepo,
    memory: Memory,
  ): (Followed & { readonly retryAt?: number }) | Need {
    const credentials = credentialsOf(view, repo);
    if (credentials !== undefined && 'need' in credentials) return credentials;
    if (credentials instanceof GitError) {
      // Without valid credentials the repository is not polled, not even with the former ones; the placements keep what
      // was read.
      following.forget(key);
      const { commit } = repo.status ?? {};
      return {
        ...(commit === undefined ? {} : { commit }),
        failure: { reason: credentials.reason, message: credentials.message },
        retryAt: view.now + (intervalOf(repo.spec) ?? DEFAULT_INTERVAL_MS),
      };
    }
    return following.follow(key, wantedOf(view, repo, sourceOf(repo.spec, credentials), memory));
  }

  /**
   * Makes content available to placements before they are created, for their first reconcile. Content is not published
   * without the options that the placement can get, or it would be rolled out with those of an earlier commit.
   */
  function publish(
    key: string,
    { repo, commit }: Followed,
    memory: Memory,
    placementFor: (bundle: RepoBundle) => Wanted,
  ): void {
    if (repo === undefined || commit === undefined) return;
    memory.usesClusters = repo.usesClusters === true;
    for (const bundle of repo.bundles) {
      const { name, objects, variants } = bundle;
      const wanted = objects === undefined ? undefined : placementFor(bundle);
      if (objects === undefined || wanted === undefined || 'reason' in wanted) continue;
      const { hash: sourceHash } = wanted;
      rendered.put(bundleKey(key, name), {
        commit,
        sourceHash,
        objects,
        ...(variants === undefined ? {} : { variants }),
      });
    }
    if (repo.problems.length === 0) rendered.keepOnly(key, new Set(repo.bundles.map(({ name }) => name)));
  }

  function forget(key: string): void {
    following.forget(key);
    rendered.keepOnly(key, new Set());
  }

  return {
    name: 'gitrepos',
    eventSource: 'gitrepo-controller',
    watches: [
      { source: gitRepos, optional: true, toKeys: ({ metadata }) => [keyOf(metadata.namespace, metadata.name ?? '')] },
      ...families.map((family) => ({
        source: family.resourceSnapshots,
        toKeys(snapshot: HubResourceSnapshot, view: View, old?: HubResourceSnapshot) {
          if (old !== undefined && sourceHashOf(snapshot) === sourceHashOf(old)) return [];
          const { name, namespace } = partsOf(placementKeyOf(snapshot));
          const placement = view.get(family.placements, name, namespace);
          return [(placement && repoKeyOf(placement)) ?? []].flat();
        },
      })),
      ...families.map((family) => ({
        source: family.placements,
        toKeys: (placement: HubPlacement, _view: View, old?: HubPlacement) => {
          const repos = [placement, ...(old === undefined ? [] : [old])].flatMap((each) => repoKeyOf(each) ?? []);
          return isSameFor(placement, old) ? [] : [...new Set(repos)];
        },
        wait: { coalesceMs: SUMMARY_MS },
      })),
      {
        source: clusterGroups,
        optional: true,
        toKeys: (group: HubClusterGroup, view: View, old?: HubClusterGroup) =>
          old !== undefined && deepEqual([group.labels, group.selector], [old.labels, old.selector])
            ? []
            : view.all(gitRepos).map(({ metadata }) => keyOf(metadata.namespace, metadata.name ?? '')),
      },
      // Content may depend on the labels of clusters.
      {
        source: memberClusters,
        toKeys: (member: MemberCluster, view: View, old?: MemberCluster) =>
          old !== undefined && deepEqual(member.metadata.labels, old.metadata.labels)
            ? []
            : view.all(gitRepos).map(({ metadata }) => keyOf(metadata.namespace, metadata.name ?? '')),
        onlyIf: ({ usesClusters }) => usesClusters,
      },
    ],
    memory: () => ({ isLiving: false, usesClusters: false }),
    forget,
    begin(wake, signal, memories) {
      following.start(wake, signal);
      const stop = catalogue.subscribe(() => {
        kinds++;
        for (const [key, { isLiving }] of memories) if (isLiving) wake(key);
      });
      signal.addEventListener('abort', stop, { once: true });
    },
    observe(view, key, memory) {
      const { name, namespace } = partsOf(key);
      const repo = view.get(gitRepos, name, namespace);
      if (repo === undefined) return undefined;
      memory.isLiving = repo.metadata.deletionTimestamp === undefined;
      if (!memory.isLiving) {
        forget(key);
        memory.usesClusters = false;
      }
      const family = familyOf(repo);
      const placements = view.by(family.placements, 'gitRepo', key);
      const common = {
        repo,
        family,
        placements,
        ...(view.failure === undefined ? {} : { failure: view.failure }),
        now: view.now,
      };
      if (repo.metadata.deletionTimestamp !== undefined) return { ...common, named: [], followed: {} };
      const followed = followedBy(view, key, repo, memory);
      if ('need' in followed) return followed;
      const { retryAt } = followed;
      const groups = groupsIn(view);
      const placementFor = remembering((bundle: RepoBundle) => {
        const { options: asked } = bundle;
        const targeted = policyOf(asked.overrideTargets ?? repo.spec.targets, groups, excludingOf(asked, groups));
        return 'problem' in targeted ? targeted.problem : wantedPlacement(repo, bundle, targeted.policy);
      });
      // The status records a commit before any of it is placed, so that the next leader never goes back to an earlier
      // one.
      const isAhead = followed.repo !== undefined && followed.commit !== repo.status?.commit;
      if (!isAhead) publish(key, followed, memory, placementFor);
      const contentFor = (placement: HubPlacement) =>
        isAhead
          ? contentIn(followed, placement, placementFor)
          : rendered.contentOf(bundleKeyOf(placement) ?? '', marksOf(placement));
      return {
        ...common,
        isAhead,
        placements: placements.map((placement) =>
          upToNow({
            family,
            placement,
            newest: latestMaster(view.by(family.resourceSnapshots, 'placement', placementKey(placement))),
            content: contentFor(placement),
          }),
        ),
        named: namedIn(view, family, repo, followed),
        followed,
        ...(retryAt === undefined ? {} : { retryAt }),
        placementFor,
      };
    },
    decide,
  };
}

const fleetIn = (view: View, targets: GitRepoSpec['targets']): Fleet => ({
  clusters: view.all(memberClusters).map(({ metadata }) => metadata.labels ?? {}),
  groups: groupsIn(view),
  targets,
});

const digestOf = ({ clusters, groups = [], targets = [] }: Fleet): string =>
  sha256(
    canonicalJson([
      clusters.map((labels) => canonicalJson(labels)).toSorted(),
      groups.map(({ name, labels, selector }) => canonicalJson([name, labels, selector ?? null])).toSorted(),
      targets as unknown as Json,
    ]),
  );

/** The content that a placement is about to get. */
function contentIn(
  { repo }: Followed,
  placement: HubPlacement,
  placementFor: (bundle: RepoBundle) => Wanted,
): CommitContent | undefined {
  const bundle = repo?.bundles.find(({ name }) => name === placement.spec.source?.bundle);
  if (bundle?.objects === undefined) return undefined;
  const wanted = placementFor(bundle);
  if ('reason' in wanted) return undefined;
  return { hash: contentOf(bundle.objects, marksOf(placement), bundle.variants).hash, sourceHash: wanted.hash };
}

type Wanted = WantedPlacement | GitProblem;

function remembering(work: (bundle: RepoBundle) => Wanted): (bundle: RepoBundle) => Wanted {
  const known = new Map<RepoBundle, Wanted>();
  return (bundle) => {
    const wanted = known.get(bundle) ?? work(bundle);
    known.set(bundle, wanted);
    return wanted;
  };
}

/** Compares all fields that a GitRepo reads from its placements. */
const isSameFor = (a: HubPlacement, b: HubPlacement | undefined): boolean =>
  b !== undefined &&
  a.metadata.generation === b.metadata.generation &&
  a.metadata.deletionTimestamp === b.metadata.deletionTimestamp &&
  a.observedResourceIndex === b.observedResourceIndex &&
  deepEqual(a.rollout, b.rollout) &&
  deepEqual(a.conditions, b.conditions) &&
  deepEqual(a.metadata.annotations, b.metadata.annotations);

const placementKey = ({ metadata }: HubPlacement): string => keyOf(metadata.namespace, metadata.name ?? '');

const namedIn = (view: View, family: PlacementFamily, repo: HubGitRepo, { repo: read }: Followed) =>
  (read?.bundles ?? []).flatMap(
    ({ name }) =>
      view.get(family.placements, name, family.placement.namespaced ? repo.metadata.namespace : undefined) ?? [],
  );

/** undefined = no polling, only when something changes. */
function intervalOf({ pollingInterval, disablePolling }: GitRepoSpec): number | undefined {
  if (disablePolling === true) return undefined;
  const asked = pollingInterval === undefined ? undefined : parseDuration(pollingInterval);
  return Math.max(MIN_INTERVAL_MS, asked ?? DEFAULT_INTERVAL_MS);
}

// ---- credentials

/** Read live in every reconcile: a replaced Secret is used from the next attempt on, and no credentials are cached. */
function credentialsOf(view: View, { metadata, spec }: HubGitRepo): GitCredentials | GitError | Need | undefined {
  const { clientSecretName = '' } = spec;
  if (clientSecretName === '') return undefined;
  const ref: FullRef = {
    on: 'hub',
    resource: secretResource,
    group: '',
    kind: 'Secret',
    namespace: metadata.namespace ?? '',
    name: clientSecretName,
    live: true,
    mayBeRefused: true,
  };
  const what = `Secret "${metadata.namespace}/${clientSecretName}"`;
  const secret = view.getFull(ref);
  if (secret === null) return new GitError('SecretNotFound', `${what} of clientSecretName does not exist`);
  if (secret !== undefined) return credentialsIn(secret, what);
  const refusal = view.refusal?.(ref);
  if (refusal !== undefined) return new GitError('SecretInvalid', `${what} cannot be read: ${refusal.message}`);
  return { need: [ref] };
}
