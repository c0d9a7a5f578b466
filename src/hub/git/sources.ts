// The cached GitRepos. The source is optional: a hub whose CRDs are older than its program works without them.
import { type GitRepo, type GitRepoSpec, gitRepo } from '../../api/git-repo.ts';
import { SYSTEM_NAMESPACE } from '../../api/names.ts';
import type { ObjectMeta } from '../../api/object.ts';
import type { Source } from '../../runtime/controller.ts';
import { clusterFamily, namespacedFamily, type PlacementFamily } from '../families.ts';
import { only } from '../only.ts';

export interface HubGitRepo {
  readonly metadata: ObjectMeta;
  readonly spec: GitRepoSpec;
  readonly status: GitRepo['status'];
}

export const gitRepos: Source<HubGitRepo> = {
  on: 'hub',
  resource: gitRepo,
  project(object) {
    const { metadata, spec, status } = object as GitRepo;
    return { metadata: only(metadata, 'generation', 'deletionTimestamp', 'finalizers'), spec, status };
  },
};

/**
 * A GitRepo of the system namespace creates ClusterResourcePlacements, any other one ResourcePlacements in its
 * namespace.
 */
export const familyOf = ({ metadata }: Pick<HubGitRepo, 'metadata'>): PlacementFamily =>
  metadata.namespace === SYSTEM_NAMESPACE ? clusterFamily : namespacedFamily;
