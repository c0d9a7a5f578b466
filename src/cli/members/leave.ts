// `flotilla leave MEMBER`: removes a member from the fleet and reports the progress. Its workloads stay (--keep), or
// are deleted first (--purge).
import { type MemberCluster, memberCluster } from '../../api/member-cluster.ts';
import { annotations, PURGE } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import { type Clock, kubeTime } from '../../base/clock.ts';
import { formatDuration } from '../../base/duration.ts';
import { UserError } from '../../base/errors.ts';
import { plainText } from '../../insight/plain-text.ts';
import type { Named } from '../../insight/titled.ts';
import type { Connected } from '../server/connect.ts';
import { follow } from '../server/follow.ts';
import { getOr404 } from '../server/not-found.ts';
import { type Print, refer } from '../server/target.ts';
import { EXIT } from '../terminal/showing.ts';

type Server = Pick<Connected, 'transport' | 'catalogue'>;

export interface LeaveOptions {
  readonly cluster: string;
  /** Deletes the placed objects; otherwise they keep running. */
  readonly purge: boolean;
  /** undefined = do not wait. */
  readonly timeoutMs?: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Returns the exit code: `complete` if the member has left or there is no wait, `waiting` if it has not left yet. */
export async function leave(server: Server, options: LeaveOptions, print: Print): Promise<number> {
  const { cluster, purge, timeoutMs } = options;
  const at: Named = { resource: memberCluster, name: cluster };
  const member = (await getOr404(server, at)) as MemberCluster;
  const { uid = '', deletionTimestamp, annotations: marks } = member.metadata;
  if (deletionTimestamp !== undefined) {
    if (purge && marks?.[annotations.onLeave] !== PURGE) {
      const since = kubeTime(Date.parse(deletionTimestamp));
      const message = `MemberCluster "${cluster}" is leaving since ${since} and keeps what was placed: --purge comes too late`;
      throw new UserError('LeavingAlready', message);
    }
    print.line(`${refer(at)} is leaving already`);
  } else {
    // An earlier attempt may have left the annotation; the present command decides.
    const body = { metadata: { uid, annotations: { [annotations.onLeave]: purge ? PURGE : null } } };
    if (purge || marks?.[annotations.onLeave] !== undefined)
      await server.transport.call({ verb: 'patch', at, patch: { type: 'merge', body }, manager: 'flotilla' });
    await server.transport.call({ verb: 'delete', at, uid });
    print.line(`${refer(at)} leaves; what was placed there ${purge ? 'is removed first' : 'keeps running'}`);
  }
  return timeoutMs === undefined ? EXIT.complete : watchLeave(server, at, { ...options, timeoutMs }, print);
}

async function watchLeave(
  server: Server,
  at: Named,
  { cluster, timeoutMs, clock, signal }: LeaveOptions & { readonly timeoutMs: number },
  print: Print,
): Promise<number> {
  const over = new AbortController();
  const cancel = clock.at(clock.now() + timeoutMs, 'leave gives up', () => over.abort());
  let said = '';
  try {
    const stop = AbortSignal.any([signal, over.signal]);
    for await (const now of follow(server.transport, at, {
      clock,
      signal: stop,
      onLost: (text) => print.warning(text),
    })) {
      // A new member of the same name may follow, so an object without a deletionTimestamp means that the old one has
      // left.
      if (now === undefined || now.metadata.deletionTimestamp === undefined) {
        print.line(`${refer(at)} has left`);
        return EXIT.complete;
      }
      const ready = conditionOf((now as MemberCluster).status?.conditions, 'ReadyToJoin');
      const message = ready?.status === 'True' ? '' : plainText(ready?.message ?? '');
      if (message !== '' && message !== said) print.line(`  ${message}`);
      said = message;
    }
  } finally {
    cancel();
  }
  if (!over.signal.aborted) return EXIT.interrupted;
  print.error(
    `MemberCluster "${cluster}" has not left within ${formatDuration(timeoutMs)}; \`flotilla members ${cluster}\` shows why`,
  );
  return EXIT.waiting;
}
