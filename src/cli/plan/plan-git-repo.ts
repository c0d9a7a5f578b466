// `flotilla plan gitrepo/NAME [--branch B]`: what a commit would change before the hub follows it. The repository is
// read here, by the same rules as on the hub; nothing is written.
import { type GitProblem, type GitRepo, problemText } from '../../api/git-repo.ts';
import { memberCluster } from '../../api/member-cluster.ts';
import { SYSTEM_NAMESPACE } from '../../api/names.ts';
import { apiVersionOf, type KubeObject } from '../../api/object.ts';
import type { Placement } from '../../api/placement.ts';
import { secretResource } from '../../api/resources.ts';
import { UserError } from '../../base/errors.ts';
import { createClient } from '../../client/client.ts';
import { createLiveCatalogue } from '../../client/live-catalogue.ts';
import { clusterFamily, namespacedFamily, type PlacementFamily } from '../../hub/families.ts';
import { excludingOf } from '../../hub/git/bundle-variants.ts';
import { isRead } from '../../hub/git/paths.ts';
import { isForeign, wantedPlacement } from '../../hub/git/placements.ts';
import { type RenderedRepo, type RepoBundle, render } from '../../hub/git/render.ts';
import type { Renderer } from '../../hub/git/renderer.ts';
import { type GitClient, GitError } from '../../hub/git/repository.ts';
import { credentialsIn, sourceOf } from '../../hub/git/source.ts';
import type { HubGitRepo } from '../../hub/git/sources.ts';
import { policyOf } from '../../hub/git/targets.ts';
import type { HubPlacement } from '../../hub/placement-sources.ts';
import { createPropagation } from '../../hub/revisions/propagation.ts';
import { type Named, titled } from '../../insight/titled.ts';
import { within } from '../../insight/which-run.ts';
import { readGroups } from '../reading/groups.ts';
import type { Connected } from '../server/connect.ts';
import { getOr404 } from '../server/not-found.ts';
import type { Print } from '../server/target.ts';
import { EXIT } from '../terminal/showing.ts';
import { type PlanRolloutOptions, rolloutPlanOf } from './plan-rollout.ts';
import { type RolloutPlan, renderRolloutPlan } from './render-rollout-plan.ts';

type Server = Pick<Connected, 'transport' | 'catalogue' | 'namespace'>;

export interface PlanGitRepoOptions extends Pick<PlanRolloutOptions, 'output' | 'full' | 'clock' | 'durationMs'> {
  /** Instead of the branch or revision of the GitRepo. */
  readonly branch?: string;
  readonly revision?: string;
  readonly signal: AbortSignal;
  readonly git: { readonly client: GitClient; readonly renderer?: Renderer };
}

export interface GitRepoPlan {
  readonly name: string;
  readonly namespace: string;
  readonly commit: string;
  readonly bundles: readonly BundlePlan[];
  readonly problems: readonly GitProblem[];
  readonly warnings: readonly GitProblem[];
}

export interface BundlePlan {
  readonly name: string;
  readonly change: 'new' | 'changed' | 'unchanged' | 'removed' | 'kept';
  readonly rollout?: RolloutPlan;
}

/** Returns the exit code. */
export async function planGitRepo(
  server: Server,
  at: Named,
  options: PlanGitRepoOptions,
  print: Print,
): Promise<number> {
  const plan = await gitRepoPlanOf(server, at, options);
  print.line(options.output === 'json' ? JSON.stringify(plan, undefined, 2) : textOf(at, plan, options.full));
  const waits = plan.bundles.some(({ rollout }) => rollout !== undefined && rollout.end !== 'completes');
  return plan.problems.length > 0 || waits ? EXIT.waiting : EXIT.complete;
}

async function gitRepoPlanOf(server: Server, at: Named, options: PlanGitRepoOptions): Promise<GitRepoPlan> {
  const repo = (await getOr404(server, at)) as GitRepo;
  const { name = '', namespace = '' } = repo.metadata;
  const client = createClient(server.transport, 'flotilla');
  const [members, groups] = await Promise.all([client.list(memberCluster), readGroups(client)]);
  const clusters = members.items.map(({ metadata }) => metadata.labels ?? {});
  const { commit, read } = await readRepository(server, repo, { ...options, clusters, groups });
  const family = namespace === SYSTEM_NAMESPACE ? clusterFamily : namespacedFamily;
  const scope = family.placement.namespaced ? namespace : undefined;
  const existing = (await client.list(family.placement, within(scope))).items as readonly Placement[];
  const problems = [...read.problems];
  const bundles: BundlePlan[] = [];
  for (const bundle of read.bundles) {
    const known = existing.find(({ metadata }) => metadata.name === bundle.name);
    const wanted = bundle.objects && wantedFor(repo, bundle, groups);
    if (wanted !== undefined && 'reason' in wanted) problems.push({ bundle: bundle.name, ...wanted });
    const isOthers =
      known !== undefined && isForeign(family.placements.project?.(known) as HubPlacement, hubRepo(repo));
    if (isOthers) {
      const message = `${family.placement.kind} "${bundle.name}" exists and is not managed by this GitRepo`;
      problems.push({ bundle: bundle.name, reason: 'PlacementConflict', message });
    }
    if (wanted === undefined || 'reason' in wanted || isOthers) {
      bundles.push({ name: bundle.name, change: 'kept' });
      continue;
    }
    const placement = pretended(family, scope, wanted, known);
    const which = { family, name: bundle.name, ...within(scope) };
    const rollout = await rolloutPlanOf(server, which, {
      ...options,
      images: [],
      manifests: [],
      pretended: { placement, objects: bundle.objects ?? [] },
    });
    const isMoving = rollout.isNewRevision || rollout.waves.length > 0;
    const change = known === undefined ? 'new' : isMoving ? 'changed' : 'unchanged';
    bundles.push({ name: bundle.name, change, ...(change === 'unchanged' ? {} : { rollout }) });
  }
  if (read.problems.length === 0) {
    const names = new Set(read.bundles.map((each) => each.name));
    for (const { metadata, spec } of existing)
      if (spec.source?.gitRepo === name && !names.has(metadata.name ?? ''))
        bundles.push({ name: metadata.name ?? '', change: 'removed' });
  }
  return { name, namespace, commit, bundles, problems, warnings: read.warnings };
}

const hubRepo = ({ metadata, spec, status }: GitRepo): HubGitRepo => ({ metadata, spec, status });

interface Reading extends Pick<PlanGitRepoOptions, 'branch' | 'revision' | 'signal' | 'git'> {
  readonly clusters: readonly Readonly<Record<string, string>>[];
  readonly groups: Awaited<ReturnType<typeof readGroups>>;
}

async function readRepository(
  server: Server,
  { metadata: { name = '', namespace = '' }, spec }: GitRepo,
  { branch, revision, signal, git, clusters, groups }: Reading,
): Promise<{ readonly commit: string; readonly read: RenderedRepo }> {
  const { clientSecretName: secret = '', paths = [], targetNamespace = '', targets } = spec;
  const at = { resource: secretResource, name: secret, namespace };
  const credentials = secret === '' ? undefined : credentialsIn(await getOr404(server, at), titled(at));
  try {
    if (credentials instanceof GitError) throw credentials;
    const { branch: _branch, revision: _revision, ...followed } = spec;
    const ref = branch === undefined && revision === undefined ? spec : followed;
    const source = sourceOf(
      { ...ref, ...(branch === undefined ? {} : { branch }), ...(revision === undefined ? {} : { revision }) },
      credentials,
    );
    const commit = await git.client.fetch(source, undefined, signal);
    const readAgain = (reads: (path: string) => boolean) => git.client.files(source, commit, reads, signal);
    const catalogue = createLiveCatalogue(server.transport);
    await catalogue.refresh();
    const read = await render({
      repo: name,
      ...(namespace === SYSTEM_NAMESPACE ? {} : { namespace }),
      ...(targetNamespace === '' ? {} : { targetNamespace }),
      paths,
      files: await readAgain(isRead),
      readAgain,
      catalogue,
      propagation: createPropagation(),
      parsed: new Map(),
      outputs: new Map(),
      fleet: { clusters, groups, targets },
      renderer: git.renderer,
      breathe: async () => {},
    });
    return { commit, read };
  } catch (error) {
    if (error instanceof GitError) throw new UserError(error.reason, error.message, { cause: error });
    throw error;
  }
}

function wantedFor(repo: GitRepo, bundle: RepoBundle, groups: Reading['groups']) {
  const { options } = bundle;
  const targeted = policyOf(options.overrideTargets ?? repo.spec.targets, groups, excludingOf(options, groups));
  return 'problem' in targeted ? targeted.problem : wantedPlacement(hubRepo(repo), bundle, targeted.policy);
}

/** The placement as the hub would write it. */
function pretended(
  { placement: { group, version, kind } }: PlacementFamily,
  namespace: string | undefined,
  { name, labels, spec }: ReturnType<typeof wantedPlacement>,
  known: Placement | undefined,
): Placement {
  const metadata = { uid: 'forecast', generation: 1, ...known?.metadata, name, labels, ...within(namespace) };
  const object: KubeObject = { apiVersion: apiVersionOf(group, version), kind, metadata, spec };
  return object as Placement;
}

const SHORT = 12;

function textOf(at: Named, { commit, bundles, problems, warnings }: GitRepoPlan, isFull: boolean): string {
  const CHANGES: Readonly<Record<BundlePlan['change'], string>> = {
    new: 'would be placed',
    changed: 'would be rolled out',
    unchanged: 'stays as it is',
    removed: 'would be removed from its clusters',
    kept: 'keeps its last revision',
  };
  return [
    `Commit ${commit.slice(0, SHORT)} for ${titled(at)}:`,
    ...problems.map((each) => `Problem: ${problemText(each)}`),
    ...warnings.map((each) => `Warning: ${problemText(each)}`),
    ...bundles.flatMap(({ name, change, rollout }) => [
      `Bundle "${name}" ${CHANGES[change]}.`,
      ...(rollout === undefined ? [] : [`\n${renderRolloutPlan(rollout, isFull)}\n`]),
    ]),
  ]
    .join('\n')
    .trimEnd();
}
