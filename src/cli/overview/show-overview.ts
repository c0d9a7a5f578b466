// `flotilla status` without an argument: the whole fleet on one screen, once or continuously. Uses watches, never
// polls.
import { type Freeze, freeze } from '../../api/freeze.ts';
import type { Resource } from '../../api/kind.ts';
import { type MemberCluster, memberCluster } from '../../api/member-cluster.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Placement } from '../../api/placement.ts';
import type { StagedUpdateRun } from '../../api/staged-update-run.ts';
import type { WatchEvent } from '../../api/transport.ts';
import { kubeTime } from '../../base/clock.ts';
import { formatDuration } from '../../base/duration.ts';
import { ApiError, LostError, UserError } from '../../base/errors.ts';
import { canonicalJson } from '../../base/json.ts';
import { createClient } from '../../client/client.ts';
import { clusterFamily, namespacedFamily } from '../../hub/families.ts';
import { type Fleet, isQuiet, memberRow, type Overview, overviewOf } from '../../insight/progress/overview.ts';
import { within } from '../../insight/which-run.ts';
import type { Connected } from '../server/connect.ts';
import { followLabelled } from '../server/follow.ts';
import type { Print } from '../server/target.ts';
import { forPrograms } from '../terminal/output.ts';
import { EXIT, type ShowOptions } from '../terminal/showing.ts';
import { overviewHeadline, renderOverview, renderOverviewChanges } from './render-overview.ts';

type Server = Pick<Connected, 'transport' | 'catalogue'>;

export interface OverviewOptions extends ShowOptions {
  /** Only objects in this namespace; members are always shown. */
  readonly namespace?: string;
}

/** Returns the exit code: `complete` if nothing is in progress and nothing needs a user. */
export async function showOverview(server: Server, options: OverviewOptions, print: Print): Promise<number> {
  if (
    !server.catalogue.resources.some(({ group, kind }) => group === memberCluster.group && kind === memberCluster.kind)
  )
    throw new UserError('NoHub', 'this server has no MemberClusters: is it the hub? (choose with --context)');
  if (options.watch) return watchOverview(server, options, print);
  const overview = overviewOf(await gather(server, options));
  print.line(forPrograms(options.output, () => factsOf(overview)) ?? textOf(overview, options));
  return exitOf(overview);
}

const exitOf = (overview: Overview): number => (isQuiet(overview) ? EXIT.complete : EXIT.waiting);
const textOf = (overview: Overview, { output, clock }: OverviewOptions): string =>
  renderOverview(overview, { now: clock.now(), wide: output === 'wide' });

interface Part {
  readonly resource: Resource;
  readonly namespace?: string;
}

const partsOf = (namespace: string | undefined): readonly Part[] => [
  { resource: memberCluster },
  { resource: freeze },
  ...(namespace === undefined ? [{ resource: clusterFamily.placement }, { resource: clusterFamily.run }] : []),
  { resource: namespacedFamily.placement, ...within(namespace) },
  { resource: namespacedFamily.run, ...within(namespace) },
];

/** Kinds that the caller may not list, or that the server does not serve, are reported as unread. */
async function gather({ transport }: Server, { namespace, clock }: OverviewOptions): Promise<Fleet> {
  const client = createClient(transport, 'flotilla');
  const unread: string[] = [];
  const read = async ({ resource, ...query }: Part): Promise<readonly KubeObject[]> => {
    try {
      return (await client.list(resource, query)).items as readonly KubeObject[];
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      unread.push(`${resource.plural} could not be read: ${error.message}`);
      return [];
    }
  };
  const lists = await Promise.all(
    partsOf(namespace).map(async (part) => ({ kind: part.resource.kind, items: await read(part) })),
  );
  const of = <T extends KubeObject>(...kinds: readonly string[]) =>
    lists
      .filter(({ kind }) => kinds.includes(kind))
      .flatMap(({ kind, items }) => items.map((item) => ({ ...item, kind }))) as unknown as readonly T[];
  return {
    members: of<MemberCluster>(memberCluster.kind),
    placements: of<Placement>(clusterFamily.placement.kind, namespacedFamily.placement.kind),
    runs: of<StagedUpdateRun>(clusterFamily.run.kind, namespacedFamily.run.kind),
    freezes: of<Freeze>(freeze.kind),
    unread: unread.toSorted(),
    now: clock.now(),
  };
}

async function watchOverview(server: Server, options: OverviewOptions, print: Print): Promise<number> {
  const { clock, signal, timeoutMs, namespace } = options;
  const over = new AbortController();
  const cancel =
    timeoutMs === undefined ? () => {} : clock.at(clock.now() + timeoutMs, 'overview timeout', () => over.abort());
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, over.signal, failed.signal]);
  const onLost = (message: string) => print.warning(`${message}; waiting for the server`);
  const tell = teller(options, print);
  let last: Overview | undefined;
  let looking: Promise<void> | undefined;
  let isStale = false;
  // Changes that arrive while the fleet is read cause one more read, however many they are.
  const look = async (): Promise<void> => {
    do {
      isStale = false;
      try {
        last = overviewOf(await gather(server, options));
        if (!stop.aborted) tell(last);
      } catch (error) {
        if (!(error instanceof LostError)) throw error;
      }
    } while (isStale && !stop.aborted);
  };
  const hear = () => {
    isStale = true;
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  };
  try {
    await Promise.all(
      partsOf(namespace).map(async ({ resource, ...place }) => {
        const isNews = newsIn();
        const watch = { at: { resource, ...place } };
        for await (const events of followLabelled(server.transport, watch, { clock, signal: stop, onLost })) {
          if (isNews(events)) await hear();
        }
      }),
    );
    if (last === undefined && !stop.aborted) await hear();
  } catch (error) {
    failed.abort();
    throw error;
  } finally {
    cancel();
  }
  if (!over.signal.aborted) return EXIT.interrupted;
  if (last !== undefined && exitOf(last) === EXIT.complete) return EXIT.complete;
  print.error(
    `not complete after ${formatDuration(timeoutMs ?? 0)}${last === undefined ? '' : `: ${overviewHeadline(last)}`}`,
  );
  return EXIT.waiting;
}

/** Ignores heartbeats: they change a MemberCluster but nothing that is shown. */
function newsIn(): (events: readonly WatchEvent[]) => boolean {
  const known = new Map<string, string>();
  return (events) => {
    let isNews = false;
    for (const { type, object } of events) {
      if (type === 'BOOKMARK') continue;
      const key = `${object.metadata.namespace ?? ''}/${object.metadata.name ?? ''}`;
      const isMember = object.kind === memberCluster.kind;
      const now =
        type === 'DELETED'
          ? ''
          : isMember
            ? canonicalJson(memberRow(object as MemberCluster))
            : (object.metadata.resourceVersion ?? '');
      if (known.get(key) !== now) isNews = true;
      known.set(key, now);
    }
    return isNews;
  };
}

function teller(options: OverviewOptions, print: Print): (overview: Overview) => void {
  let before: Overview | undefined;
  let told = '';
  return (overview) => {
    const { output, terminal } = options;
    if (output === 'json' || output === 'yaml') {
      const text =
        output === 'json' ? JSON.stringify(factsOf(overview)) : `---\n${forPrograms(output, () => factsOf(overview))}`;
      if (text !== told) print.line(text);
      told = text;
    } else if (terminal !== undefined) terminal.draw(textOf(overview, options));
    else renderOverviewChanges(before, overview).forEach(print.line);
    before = overview;
  };
}

/** The same facts for programs, with times as in the API. */
function factsOf({ members, placements, runs, freezes, unread }: Overview) {
  const timed = <Row extends { readonly since?: number }>({ since, ...row }: Row) => ({
    ...row,
    ...(since === undefined ? {} : { since: kubeTime(since) }),
  });
  return {
    members: members.map(timed),
    placements: placements.map(timed),
    runs: runs.map(timed),
    freezes: freezes
      .map(timed)
      .map(({ until, ...row }) => ({ ...row, ...(until === undefined ? {} : { until: kubeTime(until) }) })),
    unread,
  };
}
