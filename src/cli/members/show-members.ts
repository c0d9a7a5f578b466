// `flotilla members` and `flotilla members NAME`: reads the MemberClusters, their bindings and the Works of a leaving
// one.
import { type Binding, binding } from '../../api/binding.ts';
import type { Resource } from '../../api/kind.ts';
import { type MemberCluster, memberCluster } from '../../api/member-cluster.ts';
import { memberNamespace } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import { type Work, work } from '../../api/work.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError, UserError } from '../../base/errors.ts';
import { byName } from '../../base/natural-order.ts';
import { createClient } from '../../client/client.ts';
import { type MemberView, memberView } from '../../insight/progress/member-view.ts';
import type { Connected } from '../server/connect.ts';
import { getOr404 } from '../server/not-found.ts';
import type { Print } from '../server/target.ts';
import { forPrograms } from '../terminal/output.ts';
import { EXIT } from '../terminal/showing.ts';
import { renderMember, renderMembers } from './render-members.ts';

type Server = Pick<Connected, 'transport' | 'catalogue'>;

export interface MembersOptions {
  readonly output?: string;
  readonly clock: Clock;
}

/** Returns the exit code: `complete` if every shown member is Ready. */
export async function showMembers(server: Server, { output, clock }: MembersOptions, print: Print): Promise<number> {
  checkHub(server);
  const members = (await listed(server, memberCluster)) as readonly MemberCluster[];
  if (members.length === 0) {
    print.line(forPrograms(output, () => ({ members: [] })) ?? 'no members; `flotilla join NAME` adds one');
    return EXIT.complete;
  }
  const bindings = await bindingsOf(server, print);
  const views = members
    .map((each) => memberView(each, { bindings, works: [] }))
    .toSorted((a, b) => byName(a.name, b.name));
  const look = { now: clock.now(), wide: output === 'wide' };
  print.line(forPrograms(output, () => ({ members: views })) ?? renderMembers(views, look));
  return exitOf(views);
}

export async function showMember(
  server: Server,
  name: string,
  { output, clock }: MembersOptions,
  print: Print,
): Promise<number> {
  const member = (await getOr404(server, { resource: memberCluster, name })) as MemberCluster;
  const works =
    member.metadata.deletionTimestamp === undefined
      ? []
      : ((await readable(print, () => listed(server, work, memberNamespace(name)))) as readonly Work[]);
  const view = memberView(member, { bindings: await bindingsOf(server, print), works });
  const look = { now: clock.now(), wide: output === 'wide' };
  print.line(forPrograms(output, () => view) ?? renderMember(view, look));
  return exitOf([view]);
}

const exitOf = (views: readonly MemberView[]): number =>
  views.every(({ state }) => state === 'Ready') ? EXIT.complete : EXIT.waiting;

function checkHub({ catalogue }: Server): void {
  const { group, kind } = memberCluster;
  if (catalogue.resources.some((each) => each.group === group && each.kind === kind)) return;
  throw new UserError('NoHub', 'this server has no MemberClusters: is it the hub? (choose with --context)');
}

const listed = async ({ transport }: Server, resource: Resource, namespace?: string): Promise<readonly KubeObject[]> =>
  (await createClient(transport, 'flotilla').list(resource, namespace === undefined ? {} : { namespace }))
    .items as readonly KubeObject[];

async function bindingsOf(server: Server, print: Print): Promise<readonly Binding[]> {
  const lists = await Promise.all(
    [binding.cluster, binding.namespaced].map((resource) => readable(print, () => listed(server, resource))),
  );
  return lists.flat() as readonly Binding[];
}

/** A caller who may only read members still sees the members. */
async function readable(print: Print, read: () => Promise<readonly KubeObject[]>): Promise<readonly KubeObject[]> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    print.warning(error.message);
    return [];
  }
}
