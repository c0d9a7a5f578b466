// The placement of a bundle: its policy comes from targets, its strategy from rolloutStrategy, its content from the
// bundle itself. Pure.
import { annotations, labels } from '../../api/names.ts';
import { apiVersionOf, type KubeObject } from '../../api/object.ts';
import type { PlacementSpec } from '../../api/placement.ts';
import { sha256 } from '../../base/hash.ts';
import { canonicalJson, type Json } from '../../base/json.ts';
import { create, patchByOperations, seen } from '../../runtime/actions.ts';
import type { Action } from '../../runtime/controller.ts';
import type { PlacementFamily } from '../families.ts';
import type { HubPlacement } from '../placement-sources.ts';
import type { RepoBundle } from './render.ts';
import type { HubGitRepo } from './sources.ts';

export interface WantedPlacement {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: {
    readonly source: NonNullable<PlacementSpec['source']>;
    readonly dependsOn?: NonNullable<PlacementSpec['dependsOn']>;
    readonly policy: NonNullable<PlacementSpec['policy']>;
    readonly strategy: object;
  };
  /** A hash of the options, to detect changes. */
  readonly hash: string;
}

export function wantedPlacement(
  repo: HubGitRepo,
  { name, options }: RepoBundle,
  policy: NonNullable<PlacementSpec['policy']>,
): WantedPlacement {
  const { rolloutStrategy = {} } = options;
  // As in Rancher Fleet the number of a GitRepo replaces those of its bundles.
  const forceSyncGeneration = repo.spec.forceSyncGeneration || (options.forceSyncGeneration ?? 0);
  const isPaused = repo.spec.paused === true || options.paused === true;
  const keeps = repo.spec.keepResources === true || options.keepResources === true;
  const spec = {
    source: {
      gitRepo: repo.metadata.name ?? '',
      bundle: name,
      ...(forceSyncGeneration === 0 ? {} : { forceSyncGeneration }),
    },
    ...(options.dependsOn === undefined || options.dependsOn.length === 0 ? {} : { dependsOn: options.dependsOn }),
    policy,
    strategy: {
      type: 'Partitioned',
      partitioned: rolloutStrategy,
      paused: isPaused,
      ...applyStrategyFor(repo, options),
      deleteStrategy: { propagationPolicy: keeps ? 'Abandon' : 'Delete' },
    },
  };
  const ownLabels = { ...options.labels, [labels.gitRepo]: shortened(repo.metadata.name ?? '') };
  return { name, labels: ownLabels, spec, hash: sha256(canonicalJson([spec, ownLabels])) };
}

/**
 * Differs from Rancher Fleet: drift is corrected unless disabled. If the GitRepo enables it, that applies to all its
 * bundles.
 */
const correctsDrift = (repo: HubGitRepo, { correctDrift }: RepoBundle['options']): boolean =>
  repo.spec.correctDrift?.enabled === true || (correctDrift ?? repo.spec.correctDrift?.enabled ?? true);

/** Empty = as the API server fills it in. */
function applyStrategyFor(repo: HubGitRepo, options: RepoBundle['options']): object {
  const { comparePatches, ignoreConditions } = options;
  const applyStrategy = {
    ...(correctsDrift(repo, options) ? {} : { whenToApply: 'OnRevision' }),
    ...(comparePatches === undefined ? {} : { comparePatches }),
    ...(ignoreConditions === undefined ? {} : { ignoreConditions }),
  };
  return Object.keys(applyStrategy).length === 0 ? {} : { applyStrategy };
}

const MAX_LABEL = 63;
const shortened = (name: string): string =>
  name.length <= MAX_LABEL ? name : `${name.slice(0, 54)}-${sha256(name).slice(0, 8)}`;

/** From another GitRepo, or created by hand. */
export const isForeign = ({ spec }: HubPlacement, repo: HubGitRepo): boolean =>
  spec.source?.gitRepo !== repo.metadata.name;

export function createPlacement(family: PlacementFamily, repo: HubGitRepo, wanted: WantedPlacement): Action {
  const { group, version, kind } = family.placement;
  const object: KubeObject = {
    apiVersion: apiVersionOf(group, version),
    kind,
    metadata: {
      name: wanted.name,
      ...(family.placement.namespaced ? { namespace: repo.metadata.namespace } : {}),
      labels: wanted.labels,
      annotations: { [annotations.sourceHash]: wanted.hash },
    },
    spec: wanted.spec,
  };
  return create('hub', family.placement, object, `bundle "${wanted.name}" is new`);
}

/**
 * undefined = the repository asks for the same as before. A user's change of the placement (for instance a pause) stays
 * until the repository changes.
 */
export function changePlacement(
  family: PlacementFamily,
  placement: HubPlacement,
  wanted: WantedPlacement,
): Action | undefined {
  if (placement.metadata.annotations?.[annotations.sourceHash] === wanted.hash) return undefined;
  const given = { ...placement.metadata.annotations, [annotations.sourceHash]: wanted.hash };
  return patchByOperations(
    seen(family.placements, placement),
    [
      { op: 'add', path: '/spec/source', value: wanted.spec.source },
      ...dependenciesPatch(placement, wanted),
      { op: 'add', path: '/spec/policy', value: wanted.spec.policy as Json },
      { op: 'add', path: '/spec/strategy', value: wanted.spec.strategy as Json },
      { op: 'add', path: '/metadata/labels', value: wanted.labels },
      { op: 'add', path: '/metadata/annotations', value: given },
    ],
    'the repository asks for something else',
  );
}

function dependenciesPatch({ spec }: HubPlacement, { spec: { dependsOn } }: WantedPlacement) {
  if (dependsOn !== undefined) return [{ op: 'add', path: '/spec/dependsOn', value: dependsOn as Json }] as const;
  return spec.dependsOn === undefined ? [] : ([{ op: 'remove', path: '/spec/dependsOn' }] as const);
}
