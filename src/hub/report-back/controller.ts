// Copies statuses that members report back to the objects on the hub (reportBackStrategy Mirror, destination
// OriginalResource): requeued by Works whose reported statuses change. copies.ts decides what may be written.
//
// Guarantee: only the status subresource of selected objects is written, only if the placement picks one cluster, and
// only from the Work of the cluster that it is bound to. A failed write is reported as an Event of the placement and
// retried.
import type { LiveCatalogue } from '../../api/catalogue.ts';
import { labels, memberNamespace } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import { apiVersionOf, type KubeObject, refText } from '../../api/object.ts';
import type { ResourceSnapshot } from '../../api/resource-snapshot.ts';
import { picksOneCluster } from '../../api/spec-problem.ts';
import type { Target } from '../../api/transport.ts';
import { type Work, work } from '../../api/work.ts';
import { ApiError, LostError, messageOf } from '../../base/errors.ts';
import { sha256 } from '../../base/hash.ts';
import { canonicalJson, deepEqual, type Json } from '../../base/json.ts';
import { mapLimit } from '../../base/map-limit.ts';
import { keyOf, partsOf } from '../../runtime/cache.ts';
import type { FullRef, Need, View, Worker, WorkerClient, WorkResult } from '../../runtime/controller.ts';
import type { PlacementFamily } from '../families.ts';
import { groupOf, type HubBinding, type HubPlacement, missingParts } from '../placement-sources.ts';
import { type HubWork, works } from '../work-source.ts';
import { type StatusCopy, statusCopies } from './copies.ts';

const AT_A_TIME = 4;
const RETRY_MS = 60_000;
const MANAGER = 'flotilla-hub';

interface Memory {
  /** By object: the hash of the last written status, so that an unchanged status costs no request. */
  written: ReadonlyMap<string, string>;
}

export function statusCopier(family: PlacementFamily, catalogue: LiveCatalogue): Worker<Memory> {
  const keyOfWork = ({ metadata }: HubWork): string => keyOf(metadata.namespace, metadata.name ?? '');
  const worksOf = ({ metadata }: HubBinding, view: View): readonly HubWork[] =>
    view.by(works, 'binding', keyOf(metadata.namespace, metadata.name ?? ''));

  return {
    name: `status-copies/${family.placement.kind}`,
    eventSource: family.eventSource,
    watches: [
      {
        source: works,
        toKeys: (item, _see, old) => {
          if (item.statuses === undefined && old?.statuses === undefined) return [];
          return isOf(family, item) ? [keyOfWork(item)] : [];
        },
      },
      {
        source: family.bindings,
        toKeys: (item, view) =>
          worksOf(item, view)
            .filter(({ statuses }) => statuses !== undefined)
            .map(keyOfWork),
      },
      { source: family.placements, toKeys: () => [] },
      { source: family.resourceSnapshots, toKeys: () => [] },
    ],

    memory: () => ({ written: new Map() }),

    async work(view, key, client, memory) {
      const found = boundWork(view, key);
      if (found === undefined) return undefined;
      const { placement, item, master } = found;
      const snapshots = view.by(family.resourceSnapshots, 'placement', keyOf(placement.metadata.namespace, found.name));
      const named = snapshots.find(({ metadata }) => metadata.name === master);
      if (named === undefined || missingParts(snapshots, named).length > 0) return rest('its revision is not known');
      const { group, kind } = family.resourceSnapshot;
      const refs: readonly FullRef[] = [
        { on: 'hub', resource: work, group: work.group, kind: work.kind, ...partsOf(key) },
        ...groupOf(snapshots, named).map(({ metadata: { name = '', namespace } }) => ({
          ...{ on: 'hub' as const, resource: family.resourceSnapshot, group, kind, name },
          ...(namespace === undefined ? {} : { namespace }),
        })),
      ];
      const missing = refs.filter((ref) => view.getFull(ref) === undefined);
      if (missing.length > 0) return { need: missing } satisfies Need;
      const [whole, ...parts] = refs.map((ref) => view.getFull(ref));
      const copies = statusCopies(
        (whole as Work | null)?.status ?? { conditions: [] },
        parts.flatMap((part) => ((part as ResourceSnapshot | null)?.spec?.selectedResources ?? []) as KubeObject[]),
      );
      const failures = await copyAll(client, memory, copies);
      const [first] = failures;
      if (first === undefined) return rest(`${copies.length} statuses of Work "${item.metadata.name}" are on the hub`);
      tell(
        client,
        placement,
        failures.length === 1 ? first : `${first}; ${failures.length - 1} more cannot be written`,
      );
      return { ...rest(first), wakeAt: view.now + RETRY_MS };
    },
  };

  /** undefined = nothing of it is copied. */
  function boundWork(view: View, key: string) {
    const { name: workName, namespace: place } = partsOf(key);
    const item = view.get(works, workName, place);
    if (item?.statuses === undefined || item.metadata.deletionTimestamp !== undefined) return undefined;
    const { generation, labels: said = {} } = item.metadata;
    const applied = conditionOf(item.conditions, 'Applied');
    if (applied?.status !== 'True' || applied.observedGeneration !== generation) return undefined;
    const namespace = said[labels.parentPlacementNamespace];
    const name = said[labels.parentPlacement] ?? '';
    const binding = view.get(family.bindings, said[labels.parentBinding] ?? '', namespace);
    const placement = view.get(family.placements, name, namespace);
    if (binding === undefined || placement === undefined || !copiesFrom(placement)) return undefined;
    const { state, targetCluster, resourceSnapshotName } = binding.spec;
    const isBound = state === 'Bound' && binding.metadata.deletionTimestamp === undefined;
    const isItsOwn =
      binding.metadata.labels?.[labels.parentPlacement] === name && memberNamespace(targetCluster) === place;
    return isBound && isItsOwn ? { item, placement, name, master: resourceSnapshotName } : undefined;
  }

  /** Returns the copies that could not be written. */
  async function copyAll(
    client: WorkerClient,
    memory: Memory,
    copies: readonly StatusCopy[],
  ): Promise<readonly string[]> {
    const after = new Map<string, string>();
    const failures = await mapLimit(copies, AT_A_TIME, async (copy): Promise<readonly string[]> => {
      const what = `${copy.apiVersion} ${refText(copy)}`;
      const hash = sha256(canonicalJson(copy.status));
      try {
        if (memory.written.get(what) !== hash) await copyOne(client, catalogue, copy);
        after.set(what, hash);
        return [];
      } catch (error) {
        if (!(error instanceof ApiError || error instanceof LostError)) throw error;
        return [`cannot write the status of ${refText(copy)} on the hub: ${messageOf(error)}${remedyFor(error)}`];
      }
    });
    memory.written = after;
    return failures.flat();
  }

  function tell(client: WorkerClient, placement: HubPlacement, message: string): void {
    const { group, version, kind } = family.placement;
    const { name = '', namespace, uid } = placement.metadata;
    client.record({
      on: 'hub',
      about: {
        ...{ apiVersion: apiVersionOf(group, version), group, kind, name },
        ...(namespace === undefined ? {} : { namespace }),
        ...(uid === undefined ? {} : { uid }),
      },
      type: 'Warning',
      reason: 'StatusNotCopied',
      message,
    });
  }
}

const rest = (because: string): WorkResult => ({ holds: [], because });

const isOf = ({ placement }: PlacementFamily, { metadata }: HubWork): boolean =>
  metadata.labels?.[labels.envelopeWork] === undefined &&
  (metadata.labels?.[labels.parentPlacementNamespace] !== undefined) === placement.namespaced;

function copiesFrom({ metadata, spec }: HubPlacement): boolean {
  const { type, destination } = spec.strategy?.reportBackStrategy ?? {};
  const isAsked = type === 'Mirror' && destination === 'OriginalResource';
  return isAsked && metadata.deletionTimestamp === undefined && picksOneCluster(spec.policy);
}

async function copyOne(client: WorkerClient, catalogue: LiveCatalogue, copy: StatusCopy): Promise<void> {
  const resource = catalogue.byKind(copy.apiVersion, copy.kind);
  if (resource === undefined) return;
  const at: Target = {
    resource,
    ...(resource.namespaced && copy.namespace !== undefined ? { namespace: copy.namespace } : {}),
    name: copy.name,
  };
  try {
    const { object } = await client.call('hub', { verb: 'get', at });
    if (object === undefined || deepEqual(object.status, copy.status)) return;
    // Not a merge patch, which would keep fields that the member no longer reports.
    const body = [
      { op: 'test', path: '/metadata/uid', value: object.metadata.uid ?? '' },
      { op: 'add', path: '/status', value: copy.status },
    ] satisfies Json;
    const patch = { type: 'json' as const, body };
    await client.call('hub', { verb: 'patch', at: { ...at, subresource: 'status' }, patch, manager: MANAGER });
  } catch (error) {
    // The object was deleted on the hub, or its kind has no status there.
    if (!(error instanceof ApiError && error.reason === 'NotFound')) throw error;
  }
}

const remedyFor = (error: unknown): string =>
  error instanceof ApiError && error.reason === 'Forbidden'
    ? '; "flotilla roles hub-status | kubectl apply -f -" lets the hub write statuses'
    : '';
