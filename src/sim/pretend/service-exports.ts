// ServiceExports are a custom kind: they are watched while their CRD serves a version.

import type { Condition, ServiceExport } from '../../api/builtin/shapes.ts';
import type { Resource } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { type Controller, idle, type Source } from '../../runtime/controller.ts';
import { controllerOf, itself, keyOf, ofKey, SERVER } from './controller-of.ts';
import type { Profile } from './profile.ts';
import { conditionOf } from './reading.ts';
import * as resources from './resources.ts';
import { serviceExport } from './rules/service-export.ts';
import { services } from './sources.ts';

const CRD = 'serviceexports.networking.fleet.azure.com';

type Crd = KubeObject<
  {
    readonly group: string;
    readonly names: { readonly kind: string; readonly plural: string };
    readonly scope: string;
    readonly versions: readonly { readonly name: string; readonly served: boolean; readonly storage: boolean }[];
  },
  { readonly conditions?: readonly Condition[] }
>;

const crd: Source<Crd> = { on: SERVER, resource: resources.crds, fields: `metadata.name=${CRD}` };

/** The resource that an established CRD serves, in its storage version if that is served. */
export function servedBy(object: Crd | undefined): Resource | undefined {
  if (object?.spec === undefined || object.metadata.deletionTimestamp !== undefined) return undefined;
  if (conditionOf(object.status?.conditions, 'Established')?.status !== 'True') return undefined;
  const served = object.spec.versions.filter((version) => version.served);
  const version = served.find((each) => each.storage) ?? served[0];
  if (version === undefined) return undefined;
  const { group, names, scope } = object.spec;
  return { group, version: version.name, kind: names.kind, plural: names.plural, namespaced: scope === 'Namespaced' };
}

/** Calls `tell` with the served resource each time the CRD changes. A repeated call must have no effect. */
export const exportsServed = (tell: (resource: Resource | undefined) => void): Controller<Resource | undefined> => ({
  name: 'pretend/serviceexport-crd',
  eventSource: 'pretend-cluster',
  watches: [{ source: crd, toKeys: () => [CRD] }],
  observe(view) {
    const resource = servedBy(view.get(crd, CRD));
    tell(resource);
    return resource;
  },
  decide: () => idle('told'),
});

// biome-ignore lint/suspicious/noExplicitAny: controllers over different observations stand in one list, as in ManagerOptions.
export function exportControllers(resource: Resource, profile: Profile): readonly Controller<any>[] {
  const exported: Source<ServiceExport> = { on: SERVER, resource };
  return [
    controllerOf({
      name: 'serviceexport',
      rule: serviceExport,
      profile,
      watches: [itself(exported), { source: services, toKeys: (item) => [keyOf(item)] }],
      see(view, key) {
        const object = ofKey(view, exported, key);
        if (object === undefined) return undefined;
        return { object, related: { resource, hasService: ofKey(view, services, key) !== undefined } };
      },
    }),
  ];
}
