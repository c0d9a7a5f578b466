// Workloads on a leaving member keep running: a hub deletes no Work of a member that it could know to be leaving, and
// the agent deletes nothing because its member leaves. Works are deleted with the namespace of the member, which its
// agent no longer acts on.
import { type MemberCluster, memberCluster } from '../../../src/api/member-cluster.ts';
import { memberNamespace } from '../../../src/api/names.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { work } from '../../../src/api/work.ts';
import { type Checker, changeChecker, type Happening, type Sight } from '../../../src/sim/check.ts';
import type { Readable } from '../../../src/sim/server.ts';
import { SHOP, type Story, workNameOf } from './delivery-checks.ts';

/** A hub acts immediately after a live read; a member may start to leave in between. */
const AT_ONCE_MS = 100;

const isDeleting = (object: KubeObject | undefined): boolean => object?.metadata.deletionTimestamp !== undefined;

const memberIn = (store: Readable | undefined, name: string): MemberCluster | undefined =>
  store?.get(`${memberCluster.group}/${memberCluster.plural}//${name}`)?.object() as MemberCluster | undefined;

export function leaversKeepTheirs({ family, members }: Story, hubs: readonly string[]): Checker {
  const clusterOf = new Map(members.map((name) => [memberNamespace(name), name]));
  /** By hub and member: when the server last answered that this member is not leaving. */
  const toldToStay = new Map<string, number>();
  /** Members that left with a Work that no client had deleted. */
  const leftWithWork = new Set<string>();

  const hear = (happening: Happening, sight: Sight): string | undefined => {
    if (!('request' in happening) || !hubs.includes(happening.who)) return undefined;
    const { who, request } = happening;
    const { kind } = request.at.resource;
    if (happening.what === 'acknowledged' && request.verb === 'get' && kind === memberCluster.kind) {
      if (!isDeleting(happening.answer.object)) toldToStay.set(`${who} ${request.at.name}`, sight.now);
      return undefined;
    }
    if (happening.what !== 'sent' || request.verb !== 'delete' || kind !== work.kind) return undefined;
    const cluster = clusterOf.get(request.at.namespace ?? '') ?? '';
    if (!isDeleting(memberIn(sight.store('hub'), cluster))) return undefined;
    if (sight.now - (toldToStay.get(`${who} ${cluster}`) ?? Number.NEGATIVE_INFINITY) <= AT_ONCE_MS) return undefined;
    return `${who} deletes Work ${request.at.name} of ${cluster}, which is leaving`;
  };

  const onHub = (now: KubeObject, was: KubeObject | undefined, deleted: boolean, store: Readable): void => {
    const { name = '', namespace = '' } = now.metadata;
    if (now.kind === memberCluster.kind && !deleted) {
      if (!isDeleting(now)) leftWithWork.delete(name);
      else if (!isDeleting(was)) {
        const order = store.get(`${work.group}/${work.plural}/${memberNamespace(name)}/${workNameOf(family)}`);
        if (order !== undefined && !isDeleting(order.object())) leftWithWork.add(name);
      }
    }
    // A hub sent the deletion earlier: `hear` has judged it. A Work that is deleted with its namespace is not executed.
    const isOrderEnding = now.kind === work.kind && isDeleting(now) && !isDeleting(was);
    if (isOrderEnding && !isDeleting(store.get(`/namespaces//${namespace}`)?.object()))
      leftWithWork.delete(clusterOf.get(namespace) ?? '');
  };

  const { look } = changeChecker('', ({ stored, previous, deleted }, server, sight) => {
    const [now, was] = [stored.object(), previous?.object()];
    const store = sight.store(server);
    if (server === 'hub' && store !== undefined) onHub(now, was, deleted, store);
    if (!leftWithWork.has(server) || now.kind !== 'Deployment' || now.metadata.namespace !== SHOP) return undefined;
    return deleted || isDeleting(now)
      ? `Deployment ${now.metadata.name} was deleted on ${server}, which left`
      : undefined;
  });
  return { name: 'members that leave keep theirs', hear, ...(look === undefined ? {} : { look }) };
}
