// Reads what a caller may read about a placement, and records what could not be read: a missing permission removes a
// part of an explanation, never the answer.
import type { ApprovalRequest } from '../../api/approval-request.ts';
import { clusterGroup } from '../../api/cluster-group.ts';
import { freeze } from '../../api/freeze.ts';
import type { Resource } from '../../api/kind.ts';
import { type MemberCluster, memberCluster } from '../../api/member-cluster.ts';
import { clusterOfNamespace, labels, memberNamespace } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Placement } from '../../api/placement.ts';
import type { StagedUpdateRun } from '../../api/staged-update-run.ts';
import { type Work, work } from '../../api/work.ts';
import { ApiError, messageOf } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import { lazy } from '../../base/lazy.ts';
import { createClient, type ListQuery } from '../../client/client.ts';
import { freezes } from '../../hub/freezes/sources.ts';
import { clusterGroups } from '../../hub/groups/sources.ts';
import { type HubBinding, isLatest } from '../../hub/placement-sources.ts';
import type { Evidence } from '../../insight/explain/explanation.ts';
import { objectsIn } from '../../insight/forecast/snapshot-objects.ts';
import { ifRead, type Readable, type Reader } from '../../insight/reader.ts';
import type { WhichPlacement } from '../../insight/which-placement.ts';
import { within } from '../../insight/which-run.ts';
import type { Connected } from '../server/connect.ts';
import { leftoversEvidence } from './leftovers.ts';
import type { Members } from './member-servers.ts';
import { downIn, podsEvidence } from './pods-evidence.ts';
import { readOverrides } from './read-overrides.ts';

const EVENTS: Resource = { group: '', version: 'v1', kind: 'Event', plural: 'events', namespaced: true };

export function createReader(
  { transport }: Pick<Connected, 'transport'>,
  which: WhichPlacement,
  waysIn?: Pick<Members, 'at'>,
): Reader {
  const { family, name, namespace } = which;
  const client = createClient(transport, 'flotilla');
  const unread = new Set<string>();

  async function attempt<T>(what: string, read: () => Promise<T>): Promise<Readable<T>> {
    try {
      return { value: await read() };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const unreadable = `${what} could not be read: ${error.message}`;
      unread.add(unreadable);
      return { unreadable };
    }
  }
  const ofPlacement: ListQuery = {
    labels: `${labels.parentPlacement}=${name}`,
    namespace,
  };
  const all = async (resource: Resource, query: ListQuery) => (await client.list(resource, query)).items;
  const one = <T extends KubeObject>(resource: Resource, name: string) =>
    client.find(resource, { name, namespace }) as Promise<T | undefined>;
  const ours = (resource: Resource, query: ListQuery = {}) => all(resource, { ...ofPlacement, ...query });

  const members = lazy(() =>
    attempt('MemberClusters', () => all(memberCluster, {}) as Promise<readonly MemberCluster[]>),
  );
  const byName = new Map<string, Promise<Readable<MemberCluster | undefined>>>();
  const readMember = (cluster: string) =>
    attempt(
      `MemberCluster "${cluster}"`,
      () => client.find(memberCluster, { name: cluster }) as Promise<MemberCluster | undefined>,
    );
  const worksRead: Work[] = [];
  const byBinding = new Map<string, Promise<Readable<readonly Work[]>>>();
  async function readWorks({ metadata, spec }: HubBinding): Promise<Readable<readonly Work[]>> {
    const inNamespace = memberNamespace(spec.targetCluster);
    const selector = [
      `${labels.parentBinding}=${metadata.name}`,
      ...(namespace === undefined ? [] : [`${labels.parentPlacementNamespace}=${namespace}`]),
    ].join(',');
    const found = await attempt(
      `the Works in namespace "${inNamespace}"`,
      () => all(work, { namespace: inNamespace, labels: selector }) as Promise<readonly Work[]>,
    );
    worksRead.push(...(ifRead(found) ?? []));
    return found;
  }
  return {
    bindings: lazy(() =>
      attempt(`the ${family.binding.kind}s`, async () => projected(family.bindings, await ours(family.binding))),
    ),
    policySnapshot: lazy(() =>
      attempt(`the ${family.policySnapshot.kind}s`, async () => {
        const query = { labels: `${ofPlacement.labels},${labels.isLatestSnapshot}=true` };
        return projected(family.policySnapshots, await ours(family.policySnapshot, query)).find(isLatest);
      }),
    ),
    resourceSnapshots: lazy(() =>
      attempt(`the ${family.resourceSnapshot.kind}s`, async () =>
        projected(family.resourceSnapshots, await ours(family.resourceSnapshot, { view: 'metadata' })),
      ),
    ),
    overrides: lazy(() => attempt('the overrides', () => readOverrides(client, { name, namespace }))),
    objectsAt: (index) =>
      attempt(`the objects of revision ${index}`, async () =>
        objectsIn(
          await ours(family.resourceSnapshot, { labels: `${ofPlacement.labels},${labels.resourceIndex}=${index}` }),
        ),
      ),
    members,
    groups: lazy(() => attempt('the ClusterGroups', async () => projected(clusterGroups, await all(clusterGroup, {})))),
    freezes: lazy(() => attempt('the Freezes', async () => projected(freezes, await all(freeze, {})))),
    member(cluster) {
      const known = byName.get(cluster) ?? readMember(cluster);
      byName.set(cluster, known);
      return known;
    },
    worksOf(binding) {
      const { name: key = '' } = binding.metadata;
      const known = byBinding.get(key) ?? readWorks(binding);
      byBinding.set(key, known);
      return known;
    },
    worksRead: () => worksRead,
    work: (inNamespace, workName) =>
      attempt(
        `Work "${inNamespace}/${workName}"`,
        () => client.find(work, { namespace: inNamespace, name: workName }) as Promise<Work | undefined>,
      ),
    async behind(found, now) {
      const cluster = clusterOfNamespace(found.metadata.namespace ?? '');
      const isDeleting = found.metadata.deletionTimestamp !== undefined;
      const down = isDeleting ? [] : downIn(found);
      if (cluster === undefined || (down.length === 0 && !isDeleting)) return [];
      const seen: Evidence[] = [];
      try {
        const member = waysIn?.at(cluster);
        if (member === undefined) return [];
        if (typeof member === 'string') {
          unread.add(`cluster "${cluster}": ${member}, so its workloads were not examined`);
          return [];
        }
        if (isDeleting) return await leftoversEvidence({ cluster, member }, found, now);
        for (const each of down) seen.push(...(await podsEvidence({ cluster, member }, found, each)));
      } catch (error) {
        // The member is elsewhere, often behind a firewall; the data of the hub is shown all the same.
        const what = isDeleting ? 'the remaining objects' : 'the failing objects';
        unread.add(`${what} on cluster "${cluster}" could not be read there: ${messageOf(error)}`);
      }
      return seen;
    },
    events: ({ kind, metadata }) =>
      attempt('Events', () =>
        all(EVENTS, {
          // Events about cluster-scoped objects are in the namespace `default`.
          namespace: metadata.namespace ?? 'default',
          fields: `involvedObject.kind=${kind},involvedObject.name=${metadata.name},involvedObject.uid=${metadata.uid}`,
        }),
      ),
    placement: lazy(() => attempt(`${family.placement.kind} "${name}"`, () => one<Placement>(family.placement, name))),
    run: (run) => attempt(`${family.run.kind} "${run}"`, () => one<StagedUpdateRun>(family.run, run)),
    runs: lazy(() =>
      attempt(`the ${family.run.kind}s`, async () => {
        const items = (await all(family.run, within(namespace))) as readonly StagedUpdateRun[];
        return items.filter(({ spec }) => spec.placementName === name);
      }),
    ),
    approvalRequest: (request) =>
      attempt(`${family.approvalRequest.kind} "${request}"`, () =>
        one<ApprovalRequest>(family.approvalRequest, request),
      ),
    async hasHolds(kind = family.placement.kind) {
      const { group, version } = family.placement;
      const read = await attempt('the schema of placements', () =>
        transport.read(`/openapi/v3/apis/${group}/${version}`),
      );
      return 'value' in read ? hasHoldsField(read.value, kind) : undefined;
    },
    unread: () => [...unread],
  };
}

/** As projected by the hub. */
const projected = <T>(source: { project?(object: KubeObject): T }, objects: readonly KubeObject[]): readonly T[] =>
  objects.map((object) => source.project?.(object) ?? (object as T));

/** In an OpenAPI v3 document. */
export function hasHoldsField(document: unknown, kind: string): boolean | undefined {
  const at = (value: unknown, ...path: readonly string[]): unknown =>
    path.reduce<unknown>((each, key) => (isObject(each) && Object.hasOwn(each, key) ? each[key] : undefined), value);
  const schemas = at(document, 'components', 'schemas');
  if (!isObject(schemas)) return undefined;
  const named = Object.entries(schemas).find(([name]) => name.endsWith(`.${kind}`));
  return named && at(named[1], 'properties', 'status', 'properties', 'holds') !== undefined;
}
