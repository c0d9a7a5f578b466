// `flotilla run RUN`: a staged update run with its stages, clusters and gates, once or until it is over.
import type { ApprovalRequest } from '../../api/approval-request.ts';
import { labels } from '../../api/names.ts';
import { type StagedUpdateRun, tasksOf } from '../../api/staged-update-run.ts';
import type { WatchEvent } from '../../api/transport.ts';
import { kubeTime } from '../../base/clock.ts';
import { ApiError, LostError } from '../../base/errors.ts';
import { canonicalJson } from '../../base/json.ts';
import { createClient } from '../../client/client.ts';
import { inWords } from '../../insight/progress/placement-progress.ts';
import { messageIn, type Requests, type RunProgress, runProgressOf } from '../../insight/progress/run-progress.ts';
import { approveCommand, runTarget, typed, type WhichRun, within } from '../../insight/which-run.ts';
import type { Connected } from '../server/connect.ts';
import { getRun } from '../server/get-run.ts';
import type { Print } from '../server/target.ts';
import { EXIT, type Shown, type ShowOptions, show } from '../terminal/showing.ts';
import { type RunView, renderRun, renderRunChanges, runHeadline } from './render-run.ts';

type Server = Pick<Connected, 'transport' | 'catalogue'>;

/** Returns the exit code. */
export async function showRun(server: Server, which: WhichRun, options: ShowOptions, print: Print): Promise<number> {
  const now = await getRun(server, which);
  return show(server.transport, shownOf(server, which, options, print), { now, options, print });
}

interface Picture {
  readonly run: StagedUpdateRun;
  readonly progress: RunProgress;
}

function shownOf(server: Server, which: WhichRun, options: ShowOptions, print: Print): Shown<Picture> {
  const requests = requestsOf(server, which, (message) =>
    print.warning(`the approvers are unknown: the requests could not be read: ${message}`),
  );
  const view = () => viewOf(which, options);
  const { family, name, namespace } = which;
  return {
    at: runTarget(which),
    async look(object) {
      const run = object as StagedUpdateRun;
      return { run, progress: runProgressOf(run, await requests.at(run)) };
    },
    // An approval is written to the request, and the run does not show it before the hub has accepted it.
    beside: {
      at: { resource: family.approvalRequest, ...within(namespace) },
      labels: labelledWith(name),
      hear: requests.hear,
    },
    exit({ progress: { phase, isOver } }) {
      if (!isOver) return EXIT.waiting;
      return phase === 'Succeeded' ? EXIT.complete : EXIT.failed;
    },
    headline: ({ progress }) => runHeadline(progress),
    text: ({ progress }) => renderRun(progress, view()),
    changes: (before, { progress }) => renderRunChanges(before?.progress, progress, view()),
    json: ({ progress, run }) => jsonOf(progress, run),
  };
}

function viewOf(which: WhichRun, { terminal, watch, clock }: ShowOptions): RunView {
  return {
    now: clock.now(),
    more: `flotilla why run/${typed(which)}`,
    approve: (stage, when) => approveCommand(which, stage, when),
    ...(terminal === undefined ? {} : { bar: Math.max(10, Math.min(30, terminal.columns - 50)) }),
    ...(terminal === undefined || !watch ? {} : { rows: Math.max(8, terminal.rows - 1) }),
  };
}

const labelledWith = (run: string): string => `${labels.targetUpdateRun}=${run}`;

interface RequestsOf {
  /** The approval requests of a run. */
  at(run: StagedUpdateRun): Promise<Requests>;
  /** Whether a watch event requires a new picture. */
  hear(events: readonly WatchEvent[]): boolean;
}

/** Read again only if the state of a gate or a request has changed. */
function requestsOf(
  { transport }: Server,
  { family, name, namespace }: WhichRun,
  onRefused: (message: string) => void,
): RequestsOf {
  const client = createClient(transport, 'flotilla');
  let asked = '';
  let isTold = false;
  let known: Requests = new Map();
  const at = async ({ status }: StagedUpdateRun): Promise<Requests> => {
    const gates = (status?.stagesStatus ?? []).flatMap(tasksOf);
    const state = canonicalJson([gates, status?.holds?.filter(({ code }) => code === 'ApprovalMissing') ?? []]);
    if (!gates.some(({ type }) => type === 'Approval') || state === asked) return known;
    asked = state;
    try {
      const query = { labels: labelledWith(name), ...within(namespace) };
      const { items } = await client.list(family.approvalRequest, query);
      known = new Map(items.map((each) => [each.metadata.name ?? '', each as ApprovalRequest]));
    } catch (error) {
      // A command with --watch waits until the server answers again, and then calls this again.
      if (error instanceof LostError) asked = '';
      else if (!(error instanceof ApiError)) throw error;
      else if (!isTold) onRefused(error.message);
      isTold ||= error instanceof ApiError;
    }
    return known;
  };
  return {
    at,
    hear(events) {
      const isNews = events.some(({ type, object: { metadata } }) => {
        const before = known.get(metadata.name ?? '')?.metadata.resourceVersion;
        return type !== 'BOOKMARK' && (type === 'DELETED' ? before !== undefined : before !== metadata.resourceVersion);
      });
      if (isNews) asked = '';
      return isNews;
    },
  };
}

const timed = <Name extends string>(name: Name, ms: number | undefined) =>
  ms === undefined ? {} : ({ [name]: kubeTime(ms) } as Record<Name, string>);

/** The same facts for programs, with times as in the API. */
function jsonOf({ stages, holds, ...rest }: RunProgress, run: StagedUpdateRun) {
  return {
    ...rest,
    // Includes the marker that tells programs who can fix an error.
    says: messageIn(run.status?.conditions),
    stages: stages.map(({ clusters, gates, started, ended, ...stage }) => ({
      ...stage,
      ...timed('started', started),
      ...timed('ended', ended),
      clusters: clusters.map(({ since, ...each }) => ({ ...each, ...timed('since', since) })),
      gates: gates.map(({ at, until, ...each }) => ({
        ...each,
        ...(each.type === 'Approval' && (each.state === 'Open' || each.state === 'Approved')
          ? { by: each.by ?? 'unknown' }
          : {}),
        ...timed('at', at),
        ...timed('until', until),
      })),
    })),
    holds: holds.map((entry) => ({ ...entry, sentence: inWords(entry, run) })),
  };
}
