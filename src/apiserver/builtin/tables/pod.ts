// The table of Pods. The Status column shows the latest failure of the containers rather than the phase.
import type { KubeObject } from '../../../api/object.ts';
import { stampMs } from '../../../base/age.ts';
import type { Condition } from '../drafts.ts';
import { AGE, ageOf, conditionOf, holds, NAME, nameOf, since, table, text, wide } from './table.ts';

interface State {
  readonly waiting?: { readonly reason?: string };
  readonly running?: object;
  readonly terminated?: Terminated;
}

interface Terminated {
  readonly reason?: string;
  readonly exitCode?: number;
  readonly signal?: number;
  readonly finishedAt?: string;
}

interface ContainerStatus {
  readonly name?: string;
  readonly ready?: boolean;
  readonly started?: boolean;
  readonly restartCount?: number;
  readonly state?: State;
  readonly lastState?: State;
}

interface Pod {
  readonly spec?: {
    readonly nodeName?: string;
    readonly containers?: readonly object[];
    readonly initContainers?: readonly { readonly name?: string; readonly restartPolicy?: string }[];
    readonly readinessGates?: readonly { readonly conditionType?: string }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly conditions?: readonly Condition[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly podIPs?: readonly { readonly ip?: string }[];
    readonly nominatedNodeName?: string;
  };
}

export const pod = table<Pod>(
  [
    NAME,
    text('Ready', 'How many containers are ready, of how many.'),
    text('Status', 'The phase, or what keeps the containers from running.'),
    text('Restarts', 'How often containers were restarted, and when last.'),
    AGE,
    wide(text('IP', 'The first address of the Pod.')),
    wide(text('Node', 'The node that the Pod runs on.')),
    wide(text('Nominated Node', 'The node that the Pod waits for.')),
    wide(text('Readiness Gates', 'How many of the extra readiness conditions hold.')),
  ],
  (object, now) => {
    const { word, ready, total, restarts, lastRestart } = seen(object);
    return [
      nameOf(object),
      `${ready}/${total}`,
      word,
      restarts > 0 && lastRestart !== '' ? `${restarts} (${since(lastRestart, now)} ago)` : `${restarts}`,
      ageOf(object, now),
      object.status?.podIPs?.[0]?.ip || '<none>',
      object.spec?.nodeName || '<none>',
      object.status?.nominatedNodeName || '<none>',
      gates(object),
    ];
  },
);

function gates({ spec, status }: Pod): string {
  const all = spec?.readinessGates;
  if (!all?.length) return '<none>';
  const open = all.filter((gate) => holds(status?.conditions, gate.conditionType ?? ''));
  return `${open.length}/${all.length}`;
}

interface Seen {
  word: string;
  ready: number;
  total: number;
  restarts: number;
  lastRestart: string;
}

function seen(object: KubeObject & Pod): Seen {
  const { spec, status } = object;
  const found: Seen = {
    word: status?.reason || status?.phase || '',
    ready: 0,
    total: (spec?.containers?.length ?? 0) + sidecars(object),
    restarts: 0,
    lastRestart: '',
  };
  if (conditionOf(status?.conditions, 'PodScheduled')?.reason === 'SchedulingGated') found.word = 'SchedulingGated';

  const initialised = lookAtInit(object, found);
  if (initialised || holds(status?.conditions, 'Initialized')) lookAtContainers(object, found);

  if (object.metadata.deletionTimestamp !== undefined) {
    if (status?.reason === 'NodeLost') found.word = 'Unknown';
    else if (status?.phase !== 'Failed' && status?.phase !== 'Succeeded') found.word = 'Terminating';
  }
  return found;
}

const isSidecar = ({ spec }: Pod, name: string | undefined): boolean =>
  spec?.initContainers?.find((each) => each.name === name)?.restartPolicy === 'Always';

const sidecars = ({ spec }: Pod): number =>
  spec?.initContainers?.filter((each) => each.restartPolicy === 'Always').length ?? 0;

/**
 * Init containers run one after the other, so the first one that is not complete decides. Returns false while they run.
 */
function lookAtInit(object: Pod, found: Seen): boolean {
  const statuses = object.status?.initContainerStatuses ?? [];
  let sidecarRestarts = 0;
  let sidecarRestart = '';
  for (const [index, status] of statuses.entries()) {
    const isSide = isSidecar(object, status.name);
    count(status, found);
    if (isSide) {
      sidecarRestarts += status.restartCount ?? 0;
      sidecarRestart = later(sidecarRestart, status.lastState?.terminated?.finishedAt);
    }
    const { terminated, waiting } = status.state ?? {};
    if (terminated !== undefined && (terminated.exitCode ?? 0) === 0) continue;
    if (isSide && status.started) {
      if (status.ready) found.ready++;
      continue;
    }
    if (terminated !== undefined) found.word = `Init:${endOf(terminated)}`;
    else if (waiting?.reason && waiting.reason !== 'PodInitializing') found.word = `Init:${waiting.reason}`;
    else found.word = `Init:${index}/${object.spec?.initContainers?.length ?? 0}`;
    // If the Pod already counts as initialized, only the restarts of the sidecars are added.
    if (holds(object.status?.conditions, 'Initialized')) restart(found, sidecarRestarts, sidecarRestart);
    return false;
  }
  restart(found, sidecarRestarts, sidecarRestart);
  return true;
}

function lookAtContainers(object: Pod, found: Seen): void {
  let isAnyRunning = false;
  const statuses = object.status?.containerStatuses ?? [];
  // From last to first: the failure of the first container is printed.
  for (let i = statuses.length - 1; i >= 0; i--) {
    const status = statuses[i] as ContainerStatus;
    count(status, found);
    const { waiting, terminated, running } = status.state ?? {};
    if (waiting?.reason) found.word = waiting.reason;
    else if (terminated !== undefined) found.word = endOf(terminated);
    else if (status.ready && running !== undefined) {
      isAnyRunning = true;
      found.ready++;
    }
  }
  if (found.word === 'Completed' && isAnyRunning) {
    found.word = holds(object.status?.conditions, 'Ready') ? 'Running' : 'NotReady';
  }
}

const endOf = ({ reason, signal, exitCode }: Terminated): string =>
  reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode ?? 0}`);

function count(status: ContainerStatus, found: Seen): void {
  found.restarts += status.restartCount ?? 0;
  found.lastRestart = later(found.lastRestart, status.lastState?.terminated?.finishedAt);
}

function restart(found: Seen, restarts: number, lastRestart: string): void {
  found.restarts = restarts;
  found.lastRestart = lastRestart;
}

const later = (a: string, b: string | undefined): string =>
  b !== undefined && (a === '' || stampMs(b) > stampMs(a)) ? b : a;
