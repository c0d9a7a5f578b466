// Services: defaults, allocation and release of addresses and ports, and immutable fields.
import { invalid } from '../../api/status.ts';
import { deepEqual } from '../../base/json.ts';
import type { Behaviour, Draft, WriteContext } from '../registry.ts';
import { behaviour, serviceName, specOf, textAt } from './behaviour.ts';
import type { ServicePort, ServiceSpec } from './drafts.ts';
import type { Causes } from './field-checks.ts';
import { freeIp, freeNodePort, type Place } from './service-addresses.ts';
import { addressCauses, allotmentCauses, serviceCauses } from './service-validation.ts';

const AFFINITY_SECONDS = 10800;

export const service: Behaviour = behaviour({
  createOnUpdate: true,
  returnsDeleted: true,
  nameError: serviceName,
  default: defaultService,
  prepare(draft, old, context) {
    if (context.subresource !== undefined) return;
    const spec = specOf<ServiceSpec>(draft);
    if (old === undefined) draft.status = { loadBalancer: {} };
    else carryOver(spec, (old.spec ?? {}) as ServiceSpec);
    syncClusterIps(spec, old?.spec as ServiceSpec | undefined);
    // Addresses are allocated before other validation, so their errors are reported alone.
    refuse(draft, addressCauses(spec));
    defaultFamilies(spec);
    allot(draft, spec, context);
    const { namespace = '', name = '' } = draft.metadata;
    // An existing address must not change; validation reports that.
    const isNew = old === undefined || !needsClusterIp((old.spec ?? {}) as ServiceSpec);
    const place = { store: context.cluster.store, namespace, name };
    refuse(draft, allotmentCauses(spec, place, { isNew, dryRun: context.dryRun }));
  },
  validate(object, old, context) {
    return context.subresource === undefined ? serviceCauses(object, old) : [];
  },
  selectableFields: { 'spec.clusterIP': textAt('spec', 'clusterIP'), 'spec.type': textAt('spec', 'type') },
});

function refuse(draft: Draft, causes: Causes): void {
  if (causes.length > 0) throw invalid({ group: '', kind: 'Service' }, draft.metadata.name ?? '', causes);
}

/** Reachable from outside the cluster, so externalTrafficPolicy is required. */
export const isExternal = ({ type, externalIPs }: ServiceSpec): boolean =>
  type === 'LoadBalancer' || type === 'NodePort' || (type === 'ClusterIP' && (externalIPs ?? []).length > 0);

export const needsClusterIp = ({ type }: ServiceSpec): boolean => type !== 'ExternalName';

const needsNodePorts = ({ type, allocateLoadBalancerNodePorts }: ServiceSpec): boolean =>
  type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts !== false);

const mayHaveNodePorts = ({ type }: ServiceSpec): boolean => type === 'NodePort' || type === 'LoadBalancer';

const needsHealthPort = ({ type, externalTrafficPolicy }: ServiceSpec): boolean =>
  type === 'LoadBalancer' && externalTrafficPolicy === 'Local';

export const isHeadless = ({ clusterIP, clusterIPs }: ServiceSpec): boolean =>
  clusterIP === 'None' || clusterIPs?.[0] === 'None';

function defaultService(draft: Draft): void {
  const spec = specOf<ServiceSpec>(draft);
  spec.sessionAffinity ||= 'None';
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity === 'ClientIP' && spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined) {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: AFFINITY_SECONDS } };
  }
  spec.type ||= 'ClusterIP';
  for (const port of spec.ports ?? []) {
    port.protocol ||= 'TCP';
    if (!port.targetPort) port.targetPort = port.port ?? 0;
  }
  if (isExternal(spec)) spec.externalTrafficPolicy ||= 'Cluster';
  if (['NodePort', 'LoadBalancer', 'ClusterIP'].includes(spec.type)) spec.internalTrafficPolicy ??= 'Cluster';
  if (spec.type === 'LoadBalancer') {
    spec.allocateLoadBalancerNodePorts ??= true;
    const status = draft.status as { loadBalancer?: { ingress?: { ip?: string; ipMode?: string }[] } } | undefined;
    for (const ingress of status?.loadBalancer?.ingress ?? []) if (ingress.ip) ingress.ipMode ??= 'VIP';
  }
}

/**
 * An update that omits allocated values keeps them; one that changes the type drops those that the new type does not
 * use.
 */
function carryOver(spec: ServiceSpec, old: ServiceSpec): void {
  if (needsClusterIp(old) && needsClusterIp(spec)) {
    if (!spec.clusterIP && old.clusterIP) spec.clusterIP = old.clusterIP;
    if (!spec.clusterIPs?.length && spec.clusterIP === old.clusterIP && old.clusterIPs) {
      spec.clusterIPs = [...old.clusterIPs];
    }
  } else if (needsClusterIp(old) && (!spec.clusterIP || spec.clusterIP === old.clusterIP)) {
    delete spec.clusterIP;
    delete spec.clusterIPs;
    delete spec.ipFamilies;
    delete spec.ipFamilyPolicy;
  }
  const portOf = (ports: readonly ServicePort[] | undefined, wanted: ServicePort) =>
    ports?.find((each) => each.port === wanted.port && each.protocol === wanted.protocol);
  if (mayHaveNodePorts(old)) {
    for (const port of spec.ports ?? []) {
      const before = portOf(old.ports, port)?.nodePort;
      if (mayHaveNodePorts(spec)) {
        if (needsNodePorts(spec) && !port.nodePort && before) port.nodePort = before;
      } else if (port.nodePort === before) delete port.nodePort;
    }
  }
  if (needsHealthPort(old)) {
    if (needsHealthPort(spec)) {
      if (!spec.healthCheckNodePort && old.healthCheckNodePort) spec.healthCheckNodePort = old.healthCheckNodePort;
    } else if (spec.healthCheckNodePort === old.healthCheckNodePort) delete spec.healthCheckNodePort;
  }
  dropUnlessChanged(spec, old, 'allocateLoadBalancerNodePorts', spec.type === 'LoadBalancer');
  dropUnlessChanged(spec, old, 'loadBalancerClass', spec.type === 'LoadBalancer');
  dropUnlessChanged(spec, old, 'externalTrafficPolicy', isExternal(spec));
  dropUnlessChanged(spec, old, 'internalTrafficPolicy', spec.type !== 'ExternalName');
}

function dropUnlessChanged(spec: ServiceSpec, old: ServiceSpec, field: keyof ServiceSpec, isOfUse: boolean): void {
  if (!isOfUse && spec[field] !== undefined && deepEqual(spec[field], old[field])) delete spec[field];
}

/** `clusterIP` is the first of `clusterIPs`; older clients know only `clusterIP`. */
function syncClusterIps(spec: ServiceSpec, old: ServiceSpec | undefined): void {
  if (old === undefined) {
    if (spec.clusterIP && !spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP];
    return;
  }
  // Only the older field was changed, so the newer one follows.
  if (spec.clusterIP !== old.clusterIP && deepEqual(spec.clusterIPs, old.clusterIPs)) {
    if (spec.clusterIP) spec.clusterIPs = [spec.clusterIP];
    else delete spec.clusterIPs;
  }
}

function defaultFamilies(spec: ServiceSpec): void {
  if (!needsClusterIp(spec)) return;
  const isOpen = isHeadless(spec) && Object.keys(spec.selector ?? {}).length === 0;
  spec.ipFamilyPolicy ||= isOpen ? 'RequireDualStack' : 'SingleStack';
  if (spec.ipFamilies?.length) return;
  // Endpoints of a headless Service without selector are created by the user, so they may have both families.
  spec.ipFamilies = isOpen && spec.ipFamilyPolicy !== 'SingleStack' ? ['IPv4', 'IPv6'] : ['IPv4'];
}

function allot(draft: Draft, spec: ServiceSpec, { cluster }: WriteContext): void {
  const { namespace = '', name = '' } = draft.metadata;
  const place: Place = { store: cluster.store, namespace, name };
  if (needsClusterIp(spec) && !spec.clusterIP && !spec.clusterIPs?.length) {
    const ip = freeIp(place);
    if (ip !== undefined) {
      spec.clusterIP = ip;
      spec.clusterIPs = [ip];
    }
  }
  const own = new Set((spec.ports ?? []).flatMap(({ nodePort }) => (nodePort ? [nodePort] : [])));
  const take = (label: string, protocols: readonly string[]): number | undefined => {
    const port = freeNodePort(place, { label, protocols, own });
    if (port !== undefined) own.add(port);
    return port;
  };
  if (needsNodePorts(spec)) {
    for (const port of spec.ports ?? []) {
      if (port.nodePort) continue;
      // The same port with several protocols shares one node port.
      const twins = (spec.ports ?? []).filter((each) => each.port === port.port && !each.nodePort);
      const shared = take(
        String(port.port),
        twins.map((each) => each.protocol ?? 'TCP'),
      );
      for (const twin of twins) if (shared !== undefined) twin.nodePort = shared;
    }
  }
  if (needsHealthPort(spec) && !spec.healthCheckNodePort) {
    const port = take('health', ['TCP']);
    if (port !== undefined) spec.healthCheckNodePort = port;
  }
}
