// What a real server refuses of a Service, in its words and order.
import type { FieldCause } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { duplicate, forbiddenField, invalidValue, required } from '../../api/status.ts';
import type { WriteContext } from '../registry.ts';
import {
  type Causes,
  dnsLabel,
  dnsSubdomain,
  ipAddress,
  isIpv6,
  labels,
  oneOf,
  portNumber,
  portNumberOrName,
  requiredOneOf,
} from './field-checks.ts';
import { CLUSTER_RANGE, NODE_PORTS, offsetOf, type Place, takeIp, takePort } from './service-addresses.ts';
import type { ServicePort, ServiceSpec } from './shapes.ts';

const TYPES: readonly string[] = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const PROTOCOLS: readonly string[] = ['SCTP', 'TCP', 'UDP'];

export function serviceCauses(object: KubeObject, old: KubeObject | undefined, context: WriteContext): Causes {
  const spec = (object.spec ?? {}) as ServiceSpec;
  const causes: FieldCause[] = [
    ...changeCauses(spec, old?.spec as ServiceSpec | undefined),
    ...typeCauses(spec),
    ...portCauses(spec),
    ...labels('spec.selector', spec.selector),
    ...requiredOneOf('spec.sessionAffinity', spec.sessionAffinity, ['ClientIP', 'None']),
    ...addressCauses(spec),
    ...(spec.externalIPs ?? []).flatMap((ip, index) => ipAddress(`spec.externalIPs[${index}]`, ip)),
    ...requiredOneOf('spec.type', spec.type, TYPES),
    ...(spec.type === 'ClusterIP' ? strayNodePorts(spec) : []),
    ...repeatedPorts(spec),
    ...trafficCauses(spec),
  ];
  if (causes.length > 0) return causes;
  const { namespace = '', name = '' } = object.metadata;
  return allotmentCauses(spec, { store: context.cluster.store, namespace, name });
}

function changeCauses(spec: ServiceSpec, old: ServiceSpec | undefined): Causes {
  if (old === undefined || spec.type === 'ExternalName' || old.type === 'ExternalName') return [];
  const before = old.clusterIPs?.[0];
  if (before === undefined || before === spec.clusterIPs?.[0]) return [];
  return [invalidValue('spec.clusterIPs[0]', spec.clusterIPs ?? null, 'may not change once set')];
}

function typeCauses(spec: ServiceSpec): Causes {
  const { type, clusterIPs = [], ports = [], externalName = '' } = spec;
  const isHeadless = clusterIPs[0] === 'None';
  const causes: FieldCause[] = [];
  if (ports.length === 0 && !isHeadless && type !== 'ExternalName') causes.push(required('spec.ports'));
  if ((type === 'LoadBalancer' || type === 'NodePort') && isHeadless) {
    causes.push(invalidValue('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`));
  }
  if (type === 'ExternalName') {
    if (clusterIPs.length > 0) {
      causes.push(invalidValue('spec.clusterIPs', clusterIPs, 'may not be set for ExternalName services'));
    }
    if (spec.ipFamilies?.length) {
      causes.push(forbiddenField('spec.ipFamilies', 'may not be set for ExternalName services'));
    }
    if (spec.ipFamilyPolicy) {
      causes.push(forbiddenField('spec.ipFamilyPolicy', 'may not be set for ExternalName services'));
    }
    const name = externalName.endsWith('.') ? externalName.slice(0, -1) : externalName;
    if (name === '') causes.push(required('spec.externalName'));
    else causes.push(...dnsSubdomain('spec.externalName', name));
  }
  return causes;
}

function portCauses({ ports = [], clusterIPs }: ServiceSpec): Causes {
  const isHeadless = clusterIPs?.[0] === 'None';
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const at = `spec.ports[${index}]`;
    const causes: FieldCause[] = [];
    if (!port.name && ports.length > 1) causes.push(required(`${at}.name`));
    if (port.name) {
      causes.push(...dnsLabel(`${at}.name`, port.name));
      if (names.has(port.name)) causes.push(duplicate(`${at}.name`, port.name));
      names.add(port.name);
    }
    causes.push(...portNumber(`${at}.port`, port.port ?? 0));
    causes.push(...requiredOneOf(`${at}.protocol`, port.protocol, PROTOCOLS));
    // A headless Service has nobody who would translate ports, so what stands there does not matter.
    const isUnused = isHeadless && (port.targetPort === undefined || port.targetPort === 0);
    return isUnused ? causes : [...causes, ...portNumberOrName(`${at}.targetPort`, port.targetPort)];
  });
}

function addressCauses(spec: ServiceSpec): Causes {
  const { clusterIP = '', clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  if (spec.type === 'ExternalName') return [];
  const causes: FieldCause[] = [];
  if (clusterIPs.length > 0 && clusterIP !== clusterIPs[0]) {
    causes.push(
      clusterIP === ''
        ? invalidValue('spec.clusterIPs', clusterIPs, 'must be empty when `clusterIP` is not specified')
        : invalidValue('spec.clusterIP', clusterIP, 'must match clusterIPs[0]'),
    );
  }
  clusterIPs.forEach((ip, index) => {
    const at = `spec.clusterIPs[${index}]`;
    if (ip === 'None') {
      if (index > 0) causes.push(invalidValue(at, ip, 'must be empty string or a valid IP'));
    } else causes.push(...ipAddress(at, ip));
  });
  const isOpen = clusterIPs[0] === 'None' && Object.keys(spec.selector ?? {}).length === 0;
  if (isOpen) return causes;
  if (ipFamilyPolicy === 'RequireDualStack') {
    const why = 'this cluster is not configured for dual-stack services';
    causes.push(invalidValue('spec.ipFamilyPolicy', ipFamilyPolicy, why));
  } else if (ipFamilyPolicy !== undefined) {
    const policies = ['SingleStack', 'PreferDualStack', 'RequireDualStack'];
    causes.push(...oneOf('spec.ipFamilyPolicy', ipFamilyPolicy, policies));
  }
  ipFamilies.forEach((family, index) => {
    if (family === 'IPv6') {
      causes.push(invalidValue(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster'));
    } else causes.push(...oneOf(`spec.ipFamilies[${index}]`, family, ['IPv4', 'IPv6']));
  });
  return causes;
}

const strayNodePorts = ({ ports = [] }: ServiceSpec): Causes =>
  ports.flatMap(({ nodePort }, index) =>
    nodePort ? [forbiddenField(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'")] : [],
  );

function repeatedPorts({ ports = [] }: ServiceSpec): Causes {
  const seen = new Set<string>();
  return ports.flatMap(({ protocol, port }: ServicePort, index) => {
    const text = `${protocol}/${port}`;
    if (seen.has(text)) {
      const shown = { Name: '', Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 };
      return [duplicate(`spec.ports[${index}]`, shown)];
    }
    seen.add(text);
    return [];
  });
}

function trafficCauses(spec: ServiceSpec): Causes {
  const { type, externalTrafficPolicy: outside = '', internalTrafficPolicy: inside, externalIPs = [] } = spec;
  const isExternal = type === 'LoadBalancer' || type === 'NodePort' || (type === 'ClusterIP' && externalIPs.length > 0);
  const causes: FieldCause[] = [];
  if (isExternal) {
    causes.push(...requiredOneOf('spec.externalTrafficPolicy', outside, ['Cluster', 'Local']));
  } else if (outside !== '') {
    const why = 'may only be set for externally-accessible services';
    causes.push(invalidValue('spec.externalTrafficPolicy', outside, why));
  }
  if (spec.healthCheckNodePort && !(type === 'LoadBalancer' && outside === 'Local')) {
    const why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    causes.push(invalidValue('spec.healthCheckNodePort', spec.healthCheckNodePort, why));
  }
  if (type !== 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== undefined) {
    const why = "may only be used when `type` is 'LoadBalancer'";
    causes.push(forbiddenField('spec.allocateLoadBalancerNodePorts', why));
  }
  if (inside !== undefined) causes.push(...oneOf('spec.internalTrafficPolicy', inside, ['Cluster', 'Local']));
  return causes;
}

/** Addresses and ports that somebody asked for by number. */
function allotmentCauses(spec: ServiceSpec, place: Place): Causes {
  const causes: FieldCause[] = [];
  const { clusterIPs = [] } = spec;
  const failed = (ip: string, why: string) =>
    invalidValue('spec.clusterIPs', clusterIPs, `failed to allocate IP ${ip}: ${why}`);
  for (const ip of clusterIPs) {
    if (ip === 'None') continue;
    if (isIpv6(ip) || offsetOf(ip) === undefined) {
      const why = `the provided IP (${ip}) is not in the valid range. The range of valid IPs is ${CLUSTER_RANGE}`;
      causes.push(failed(ip, why));
    } else if (!takeIp(place, ip)) causes.push(failed(ip, 'provided IP is already allocated'));
  }
  const inRange = (port: number) => port >= NODE_PORTS.first && port <= NODE_PORTS.last;
  spec.ports?.forEach(({ nodePort, protocol = 'TCP' }, index) => {
    if (!nodePort) return;
    const at = `spec.ports[${index}].nodePort`;
    const range = `${NODE_PORTS.first}-${NODE_PORTS.last}`;
    if (!inRange(nodePort)) {
      const why = `provided port is not in the valid range. The range of valid ports is ${range}`;
      causes.push(invalidValue(at, nodePort, why));
    } else if (!takePort(place, nodePort, protocol)) {
      causes.push(invalidValue(at, nodePort, 'provided port is already allocated'));
    }
  });
  return causes;
}
