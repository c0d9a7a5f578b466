// GitRepo: a Git repository whose directories become placements. Field names, semantics and status values are those of
// Rancher Fleet's GitRepo.
import { defineKind, type Infer, rule, s, type WithSpec } from './build.ts';
import { age, text, wide } from './columns.ts';
import { conditionsByType } from './conditions.ts';
import { ALPHA, flotillaGroup } from './groups.ts';
import { labelSelector } from './label-selector.ts';
import { DURATION } from './patterns.ts';
import { ROLLOUT_WORDS } from './rollout-state.ts';

const target = s.object(
  {
    name: s.optional(s.string({ doc: 'Shown in messages; any text.', maxLength: 253 })),
    clusterName: s.optional(s.string({ doc: 'The name of a MemberCluster.', maxLength: 63 })),
    clusterSelector: s.optional(labelSelector('Labels of MemberClusters; an empty selector matches all.')),
    clusterGroup: s.optional(s.string({ doc: 'The name of a ClusterGroup.', maxLength: 253 })),
    clusterGroupSelector: s.optional(labelSelector('Labels of ClusterGroups; an empty selector matches all.')),
  },
  { doc: 'Clusters that match all given criteria. Without a criterion it matches none.' },
);
export type GitTarget = Infer<typeof target>;

const spec = s.object(
  {
    repo: s.string({
      doc: 'URL of the repository: https, http, ssh or user@host:path. Credentials belong in the Secret of clientSecretName.',
      minLength: 1,
      maxLength: 2048,
      pattern: '^(https?|ssh|file)://[^\\s]+$|^[A-Za-z0-9_.-]+@[A-Za-z0-9.-]+:[^\\s:]+$',
    }),
    branch: s.optional(
      s.string({
        doc: 'Branch to follow. Default: the default branch of the repository.',
        maxLength: 255,
        pattern: '^[A-Za-z0-9_][A-Za-z0-9_./+@#=-]*$',
      }),
    ),
    revision: s.optional(
      s.string({
        doc: 'A commit (40 hexadecimal digits) or a tag, in place of a branch.',
        maxLength: 255,
        pattern: '^[A-Za-z0-9_][A-Za-z0-9_./+@#=-]*$',
      }),
    ),
    paths: s.optional(
      s.array(s.string({ doc: 'A directory; * and ? match within a name.', minLength: 1, maxLength: 1024 }), {
        doc: 'Directories that are read. Default: the whole repository.',
        maxItems: 100,
      }),
    ),
    targets: s.optional(
      s.array(target, { doc: 'The clusters that get it. Default: ClusterGroup "default".', maxItems: 100 }),
    ),
    targetNamespace: s.optional(
      s.string({
        doc: 'Namespace that all objects are put into.',
        maxLength: 63,
        pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
      }),
    ),
    clientSecretName: s.optional(
      s.string({
        doc: 'A Secret of this namespace, of type kubernetes.io/basic-auth or kubernetes.io/ssh-auth (with known_hosts).',
        maxLength: 253,
      }),
    ),
    caBundle: s.optional(s.bytes('Certificates (PEM) that the server of the repository is verified with.')),
    insecureSkipTLSVerify: s.optional(s.boolean({ doc: 'The certificate of the server is not verified.' })),
    pollingInterval: s.optional(
      s.string({
        doc: 'How often the repository is asked for new commits. Default 15s, at least 1s.',
        maxLength: 32,
        pattern: DURATION,
      }),
    ),
    disablePolling: s.optional(
      s.boolean({ doc: 'The repository is asked only when the GitRepo changes (forceSyncGeneration).' }),
    ),
    paused: s.optional(s.boolean({ doc: 'New commits are read, and their rollout waits.' })),
    forceSyncGeneration: s.optional(
      s.integer({
        doc: 'A change of it reads the repository now and applies all of its bundles again, over drift.',
        format: 'int64',
        minimum: 0,
      }),
    ),
    syncGeneration: s.optional(
      s.integer({ doc: 'A change of it reads the repository now.', format: 'int64', minimum: 0 }),
    ),
    keepResources: s.optional(
      s.boolean({ doc: 'Placed objects stay on the clusters when their bundle or the GitRepo is deleted.' }),
    ),
    correctDrift: s.optional(
      s.object(
        {
          enabled: s.optional(
            s.boolean({
              doc: 'Objects that were changed on a cluster are put back (default), or stay as they are until the next revision.',
            }),
          ),
        },
        { doc: 'What happens to objects that were changed on a cluster.' },
      ),
    ),
    serviceAccount: s.optional(s.string({ doc: 'Not supported: agents cannot impersonate.', maxLength: 253 })),
  },
  {
    doc: 'Desired state.',
    rules: [
      rule(
        "!self.repo.matches('^https?://[^/]*@')",
        'repo must not contain credentials: put them into a Secret and name it in clientSecretName',
        '.repo',
      ),
      rule(
        "!has(self.branch) || !has(self.revision) || self.branch == '' || self.revision == ''",
        'give branch or revision, not both',
        '.revision',
      ),
      rule(
        "!has(self.serviceAccount) || self.serviceAccount == ''",
        'serviceAccount is not supported: agents cannot impersonate',
        '.serviceAccount',
      ),
    ],
  },
);

const count = (doc: string) => s.integer({ doc, format: 'int32', minimum: 0 });

export const MAX_LISTED_BUNDLES = 200;
export const MAX_LISTED_PROBLEMS = 20;
/** States of a bundle: those of a rollout; Pending until its placement has reported. */
const state = (doc: string) => s.oneOf(ROLLOUT_WORDS, { doc });

const problem = s.object(
  {
    bundle: s.optional(s.string({ doc: 'The bundle.', maxLength: 253 })),
    file: s.optional(s.string({ doc: 'The file, as a path in the repository.', maxLength: 4096 })),
    line: s.optional(s.integer({ doc: 'The line in the file.', format: 'int32', minimum: 1 })),
    reason: s.string({ doc: 'One word for programs.', maxLength: 63 }),
    message: s.string({ doc: 'A sentence for people.', maxLength: 2048 }),
  },
  { doc: 'Something in the repository that cannot work, or has no effect.' },
);

const status = s.object(
  {
    observedGeneration: s.optional(s.integer({ doc: 'Generation that was observed.', format: 'int64', minimum: 0 })),
    commit: s.optional(s.string({ doc: 'The commit that was read last.', maxLength: 64 })),
    conditions: s.optional(conditionsByType('GitPolling, Accepted and Ready.')),
    display: s.optional(
      s.object(
        {
          readyBundleDeployments: s.string({ doc: 'Ready and all, over bundles and clusters.', maxLength: 32 }),
          state: state('The worst state of any bundle.'),
          message: s.optional(s.string({ doc: 'The problems, if any.', maxLength: 2048 })),
        },
        { doc: 'For people.' },
      ),
    ),
    summary: s.optional(
      s.object(
        {
          desiredReady: count('Bundles times their clusters.'),
          ready: count('Of these: available at the newest revision.'),
          notReady: count('Applied and not available, or unreachable.'),
          pending: count('Without any revision yet.'),
          outOfSync: count('Waiting with an older revision.'),
          modified: count('Changed on the cluster.'),
          waitApplied: count('Being applied.'),
          errApplied: count('Applying failed.'),
        },
        { doc: 'Counts over all bundles and clusters, by state.' },
      ),
    ),
    bundles: s.optional(
      s.array(
        s.object(
          {
            name: s.string({ doc: 'Name of the bundle and of its placement.', maxLength: 253 }),
            path: s.string({ doc: 'Directory in the repository.', maxLength: 4096 }),
            state: state('The worst state of any of its clusters.'),
            readyClusters: s.optional(s.string({ doc: 'Ready and all clusters, such as 40/200.', maxLength: 32 })),
          },
          { doc: 'One bundle.' },
        ),
        { doc: 'The bundles by name; the first 200.', maxItems: MAX_LISTED_BUNDLES },
      ),
    ),
    problems: s.optional(
      s.array(problem, { doc: 'Problems that keep bundles at their last revision.', maxItems: MAX_LISTED_PROBLEMS }),
    ),
    warnings: s.optional(s.array(problem, { doc: 'Fields that have no effect.', maxItems: MAX_LISTED_PROBLEMS })),
  },
  { doc: 'Observed state.' },
);

export const gitRepo = defineKind({
  in: flotillaGroup,
  versions: ALPHA,
  namespaced: true,
  kind: 'GitRepo',
  plural: 'gitrepos',
  doc: 'Places the content of a Git repository: each directory with manifests is a bundle, and each bundle a placement.',
  spec,
  status,
  columns: [
    text('Repo', '.spec.repo'),
    text('Commit', '.status.commit'),
    text('BundleDeployments-Ready', '.status.display.readyBundleDeployments'),
    text('Status', '.status.display.state'),
    wide(text('Message', '.status.display.message')),
    age,
  ],
});

export type GitRepoSpec = Infer<typeof spec>;
export type GitRepoStatus = Infer<typeof status>;
export type GitProblem = Infer<typeof problem>;
export type GitRepo = WithSpec<GitRepoSpec, GitRepoStatus>;

/** `apps/web/fleet.yaml:7: …` */
export function problemText({ file, line, message }: GitProblem): string {
  const where = file === undefined ? '' : `${file}${line === undefined ? '' : `:${line}`}: `;
  // The message of the YAML parser already contains the line.
  return `${where}${line === undefined ? message : message.replace(`line ${line}: `, '')}`;
}
