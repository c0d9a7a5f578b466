// The writes of a delivery as a relay makes them: to objects of the same kinds and sizes, each with the patch that a delivery sends, but for the
// snapshot, which is made anew there and only marked here.
import { BINDINGS, CONFIG_MAPS, FLEET, type Fleet } from './deliver-fleet.ts';
import { send } from './deliver-wire.ts';

export interface Leg {
  readonly by: string;
  readonly resource: Resource;
  readonly object: Thing;
  readonly subresource?: 'status';
  /** A merge patch; $N is what is new each time. */
  readonly body: string;
}

interface Resource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

interface Thing {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: object };
  readonly spec?: { readonly workload?: object };
  readonly status?: { readonly conditions?: readonly { readonly message?: string }[] };
  readonly data?: object;
}

const group = 'placement.kubernetes-fleet.io';
const configMaps: Resource = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
const fleetKind = (plural: string, kind: string, namespaced = false): Resource => ({
  group,
  version: 'v1beta1',
  plural,
  kind,
  namespaced,
});
const snapshots = fleetKind('clusterresourcesnapshots', 'ClusterResourceSnapshot');
const bindings = fleetKind('clusterresourcebindings', 'ClusterResourceBinding');
const works = fleetKind('works', 'Work', true);

/** A new object like this one. */
const like = ({ apiVersion, kind, metadata, spec, data }: Thing): Thing => ({
  apiVersion,
  kind,
  metadata: {
    name: '',
    ...(metadata.annotations === undefined ? {} : { annotations: metadata.annotations }),
  },
  ...(spec === undefined ? {} : { spec }),
  ...(data === undefined ? {} : { data }),
});

/** The status again, with one message that is new. */
const said = ({ status }: Thing): object => ({
  status: {
    ...status,
    conditions: (status?.conditions ?? []).map((each, index) =>
      index === 0 ? { ...each, message: 'as of $N' } : each,
    ),
  },
});

export async function legsOf(fleet: Pick<Fleet, 'wire' | 'member'>): Promise<readonly Leg[]> {
  const onHub = async (path: string) => JSON.parse(await send(fleet.wire, 'GET', path));
  const first = async (path: string) => ((await onHub(`${path}?limit=1`)) as { readonly items: [Thing] }).items[0];
  const named = (thing: Thing, { group, version }: Resource, kind: string): Thing => ({
    ...thing,
    apiVersion: `${group}/${version}`,
    kind,
  });
  const ordered = (await onHub(`${CONFIG_MAPS}/app`)) as Thing;
  const snapshot = named(await first(`${FLEET}/clusterresourcesnapshots`), snapshots, snapshots.kind);
  const binding = named(await first(BINDINGS), bindings, bindings.kind);
  const work = named(await first(`${FLEET}/namespaces/fleet-member-member-1/works`), works, works.kind);
  const { wire, path } = fleet.member;
  const placed = JSON.parse(await send(wire, 'GET', `${path}${CONFIG_MAPS}/app`)) as Thing;
  const leg = (by: string, resource: Resource, object: Thing, body: object, subresource?: 'status'): Leg => ({
    by,
    resource,
    object: like(object),
    ...(subresource === undefined ? {} : { subresource }),
    body: JSON.stringify(body),
  });
  const mark = { metadata: { annotations: { number: '$N' } } };
  return [
    leg('u', configMaps, ordered, { data: { value: '$N' } }),
    leg('H', snapshots, snapshot, mark),
    leg('h', bindings, binding, { spec: { state: 'Bound', resourceSnapshotName: 'web-$N-snapshot' } }),
    leg('h', bindings, binding, said(binding), 'status'),
    leg('h', works, work, { ...mark, spec: { workload: work.spec?.workload ?? {} } }),
    leg('m', configMaps, placed, {
      metadata: { annotations: { ...placed.metadata.annotations, number: '$N' } },
      data: { value: '$N' },
    }),
    leg('r', works, work, said(work), 'status'),
    leg('h', bindings, binding, said(binding), 'status'),
  ];
}

/** On servers that others use: kinds that none of their controllers looks at. */
export const plainLegs = (hops: string, bytes: number): readonly Leg[] =>
  [...hops].map((by) => ({
    by,
    resource: configMaps,
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '' }, data: { text: 'x'.repeat(bytes) } },
    body: JSON.stringify({ data: { number: '$N', text: 'x'.repeat(bytes) } }),
  }));
