// What both halves of seed 002 need: its commands as printed, its manifests with short waits, runs as short lines, and who was under way when.
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KubeObject } from '../../src/api/object.ts';
import type { StagedUpdateRunStatus, StageStatus } from '../../src/api/staged-update-run.ts';
import { commands } from '../seeds/index.ts';
import { type Condition, type Fleet, type Happening, inShort } from './delivery.ts';
import { kubectlPath, type Result, run } from './server.ts';

/** Where servers differ. */
export interface ServerTraits {
  /** Who the administrator is, where approvals are signed; undefined = they are not. */
  readonly signs: string | undefined;
}

export const seed = (file: string): string => join(fileURLToPath(new URL('../seeds/002/', import.meta.url)), file);

export const textOf = (file: string): string => readFileSync(seed(file), 'utf8');

/** As printed, but for the waits, which are too long for a test. */
export const withShortWaits = (file: string): string =>
  textOf(file).replaceAll(/waitTime: (1h|30m)$/gm, 'waitTime: 5s'); // the only edit of what the seed prints

/** The same object, but of the kind that lives in a namespace. */
export const inNamespace = (text: string, namespace: string): string =>
  text.replace(/^kind: Cluster/m, 'kind: ').replace(/^metadata:$/m, `metadata:\n  namespace: ${namespace}`);

/** The commands of this number, as the seed prints them, in its order. */
export const printed = (id: string): readonly string[] =>
  commands.filter((each) => each.seed === '002' && each.id === id).map(({ command }) => command);

/** The command of this number; there is one. */
export const onlyPrinted = (id: string): string => {
  const [command, ...others] = printed(id);
  if (command === undefined || others.length > 0) throw new Error(`seed 002 prints not one command for ${id}`);
  return command;
};

/** The command with which the seed approves, for another request. */
export const approvalOf = (request: string, id = 'V2-9'): string =>
  onlyPrinted(id).replace(/example-run-(before|after)-canary/, request);

/** A shell as the reader of the seed has it: kubectl on the path, its configuration in the environment. */
export function shellOf({
  kubeconfig,
  home,
}: Pick<Fleet, 'kubeconfig' | 'home'>): (command: string) => Promise<Result> {
  const programs = join(home, 'bin');
  mkdirSync(programs, { recursive: true });
  if (kubectlPath !== undefined) symlinkSync(kubectlPath, join(programs, 'kubectl'));
  const env = {
    ...process.env,
    KUBECONFIG: kubeconfig,
    HOME: home,
    KUBECACHEDIR: join(home, 'kube-cache'),
    PATH: `${programs}:${process.env['PATH']}`,
  };
  return (command) => run('sh', ['-c', command], { env });
}

// ---- runs in short

export type Run = KubeObject<Readonly<Record<string, string>>, StagedUpdateRunStatus>;

interface Told {
  readonly conditions?: readonly unknown[];
}

export const told = ({ conditions = [] }: Told): readonly string[] => inShort(conditions as readonly Condition[]);

export const messageIn = ({ conditions = [] }: Told, type: string): string =>
  (conditions as readonly Condition[]).find((each) => each.type === type)?.message ?? '';

/** A stage without its times: what is said of it, of its clusters in their order, and of its gates. */
export const stageTree = (stage: StageStatus) => ({
  told: told(stage),
  clusters: stage.clusters.map((cluster) => [cluster.clusterName, ...told(cluster)]),
  ...(stage.beforeStageTaskStatus === undefined ? {} : { before: stage.beforeStageTaskStatus.map(told) }),
  ...(stage.afterStageTaskStatus === undefined ? {} : { after: stage.afterStageTaskStatus.map(told) }),
});

export const treeOf = (status: StagedUpdateRunStatus) => ({
  told: told(status),
  stages: Object.fromEntries((status.stagesStatus ?? []).map((stage) => [stage.stageName, stageTree(stage)])),
  deletion: status.deletionStageStatus && [status.deletionStageStatus.stageName, stageTree(status.deletionStageStatus)],
});

/** Everything in the tree that has conditions. */
export const partsOf = (status: StagedUpdateRunStatus): readonly Told[] => [
  status,
  ...[...(status.stagesStatus ?? []), ...(status.deletionStageStatus ? [status.deletionStageStatus] : [])].flatMap(
    (stage) => [
      stage,
      ...stage.clusters,
      ...(stage.beforeStageTaskStatus ?? []),
      ...(stage.afterStageTaskStatus ?? []),
    ],
  ),
];

export const INITIALIZED = 'Initialized True UpdateRunInitializedSuccessfully';
export const RUN_DONE = [INITIALIZED, 'Progressing False UpdateRunSucceeded', 'Succeeded True UpdateRunSucceeded'];
export const STAGE_DONE = ['Progressing False StageUpdatingSucceeded', 'Succeeded True StageUpdatingSucceeded'];
export const UNDER_WAY = ['Started True ClusterUpdatingStarted'];
export const CLUSTER_DONE = [...UNDER_WAY, 'Succeeded True ClusterUpdatingSucceeded'];
export const ASKED = ['ApprovalRequestCreated True StageTaskApprovalRequestCreated'];
export const APPROVED = [...ASKED, 'ApprovalRequestApproved True StageTaskApprovalRequestApproved'];
export const WAITED = ['WaitTimeElapsed True AfterStageTaskWaitTimeElapsed'];
export const NOTHING_TO_REMOVE = ['kubernetes-fleet.io/deleteStage', { told: STAGE_DONE, clusters: [] }];

/** The clusters of a stage, all with the same conditions. */
export const clusters = (names: readonly string[], conditions: readonly string[] = []) =>
  names.map((name) => [name, ...conditions]);

// ---- bindings in the order of the hub's revisions

export type Binding = KubeObject<
  { readonly targetCluster: string; readonly state: string; readonly resourceSnapshotName?: string },
  { readonly conditions?: readonly Condition[] }
>;

const isWell = ({ metadata, status }: Binding): boolean =>
  status?.conditions?.some(
    ({ type, status: is, observedGeneration }) =>
      type === 'Available' && is === 'True' && observedGeneration === metadata.generation,
  ) === true;

/** After each change of a binding: those of these clusters that were given a revision and are not known to work with it. */
export function underWay(happenings: readonly Happening[], names: readonly string[]): readonly (readonly string[])[] {
  const now = new Map<string, Binding>();
  return happenings.map(({ object }) => {
    const binding = object as Binding;
    now.set(binding.spec?.targetCluster ?? '', binding);
    return names.filter((name) => {
      const found = now.get(name);
      return found?.spec?.state === 'Bound' && !isWell(found);
    });
  });
}

export const mostOf = (moments: readonly (readonly string[])[]): number =>
  Math.max(...moments.map(({ length }) => length));

/** Groups of this size, in order: of those that move side by side anyone may be the first. */
export const inGroupsOf = (size: number, names: readonly string[]): readonly (readonly string[])[] =>
  Array.from({ length: Math.ceil(names.length / size) }, (_, at) => names.slice(at * size, (at + 1) * size).toSorted());

/** In which order they were first given a revision. */
export const orderOf = (happenings: readonly Happening[], names: readonly string[]): readonly string[] => [
  ...new Set(
    happenings
      .map(({ object }) => (object as Binding).spec)
      .filter((spec) => spec?.state === 'Bound' && names.includes(spec.targetCluster))
      .map((spec) => spec?.targetCluster as string),
  ),
];
