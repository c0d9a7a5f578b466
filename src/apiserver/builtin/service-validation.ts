// Validation of a Service, with the messages and in the order of a real server.
import type { FieldCause } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { duplicate, forbiddenField, invalidValue, required } from '../../api/status.ts';
import { qualifiedNameErrors } from '../../base/names.ts';
import type { ServicePort, ServiceSpec } from './drafts.ts';
import {
  type Causes,
  cidr,
  complaints,
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

const TYPES: readonly string[] = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const PROTOCOLS: readonly string[] = ['SCTP', 'TCP', 'UDP'];

export function serviceCauses(object: KubeObject, old: KubeObject | undefined): Causes {
  const spec = (object.spec ?? {}) as ServiceSpec;
  return [
    ...changeCauses(spec, old?.spec as ServiceSpec | undefined),
    ...typeCauses(spec),
    ...portCauses(spec),
    ...labels('spec.selector', spec.selector),
    ...requiredOneOf('spec.sessionAffinity', spec.sessionAffinity, ['ClientIP', 'None']),
    ...(spec.externalIPs ?? []).flatMap((ip, index) => ipAddress(`spec.externalIPs[${index}]`, ip)),
    ...requiredOneOf('spec.type', spec.type, TYPES),
    ...(spec.type === 'ClusterIP' ? strayNodePorts(spec) : []),
    ...repeatedPorts(spec),
    ...repeatedNodePorts(spec),
    ...trafficCauses(spec),
    ...balancerCauses(spec, old?.spec as ServiceSpec | undefined),
  ];
}

const DISTRIBUTIONS: readonly string[] = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];

function balancerCauses(spec: ServiceSpec, old: ServiceSpec | undefined): Causes {
  const { type, loadBalancerClass: name, loadBalancerSourceRanges: ranges, trafficDistribution } = spec;
  const isBalanced = type === 'LoadBalancer';
  const why = "may only be used when `type` is 'LoadBalancer'";
  const causes: FieldCause[] = [];
  if (ranges !== undefined && ranges.length > 0) {
    const at = 'spec.LoadBalancerSourceRanges';
    if (!isBalanced) causes.push(forbiddenField(at, why));
    ranges.forEach((range, index) => {
      causes.push(...cidr(`${at}[${index}]`, range.trim()));
    });
  }
  if (isBalanced && old?.type === 'LoadBalancer' && name !== old.loadBalancerClass) {
    causes.push(invalidValue('spec.loadBalancerClass', name ?? null, 'may not change once set'));
  }
  if (name !== undefined) {
    causes.push(
      ...(isBalanced
        ? complaints('spec.loadBalancerClass', name, qualifiedNameErrors(name))
        : [forbiddenField('spec.loadBalancerClass', why)]),
    );
  }
  if (trafficDistribution !== undefined) {
    causes.push(...oneOf('spec.trafficDistribution', trafficDistribution, DISTRIBUTIONS));
  }
  return causes;
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
      causes.push(forbiddenField('spec.clusterIPs', 'may not be set for ExternalName services'));
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

function portCauses({ ports = [] }: ServiceSpec): Causes {
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
    causes.push(...portNumberOrName(`${at}.targetPort`, port.targetPort));
    if (port.appProtocol !== undefined) {
      causes.push(...complaints(`${at}.appProtocol`, port.appProtocol, qualifiedNameErrors(port.appProtocol)));
    }
    return causes;
  });
}

/** Whether addresses and families match each other and this cluster. If not, a server stops here. */
export function addressCauses(spec: ServiceSpec): Causes {
  const { clusterIP = '', clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  if (spec.type === 'ExternalName') return [];
  const causes: FieldCause[] = [];
  const field = 'spec.clusterIPs';
  if (clusterIP === '' && clusterIPs.length > 0) {
    causes.push(invalidValue(field, clusterIPs, 'must be empty when `clusterIP` is not specified'));
  } else if (clusterIP !== '' && clusterIPs.length === 0) causes.push(required(field));
  else if (clusterIP !== '' && clusterIPs[0] !== clusterIP) {
    causes.push(invalidValue(field, clusterIPs, 'first value must match `clusterIP`'));
  }
  ipFamilies.forEach((family, index) => {
    causes.push(...oneOf(`spec.ipFamilies[${index}]`, family, ['IPv4', 'IPv6']));
    if (ipFamilies.indexOf(family) < index) causes.push(duplicate(`spec.ipFamilies[${index}]`, family));
  });
  if (ipFamilyPolicy !== undefined) {
    const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
    causes.push(...oneOf('spec.ipFamilyPolicy', ipFamilyPolicy, policies));
  }
  clusterIPs.forEach((ip, index) => {
    if (index > 0 || ip !== 'None') causes.push(...ipAddress(`${field}[${index}]`, ip));
    else if (clusterIPs.length > 1) {
      causes.push(invalidValue(field, clusterIPs, "'None' must be the first and only value"));
    }
  });
  const isOpen = clusterIPs[0] === 'None' && Object.keys(spec.selector ?? {}).length === 0;
  if (causes.length > 0 || isOpen) return causes;
  if (ipFamilies.length > 1 && (ipFamilyPolicy ?? 'SingleStack') === 'SingleStack') {
    const why = "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified";
    return [invalidValue('spec.ipFamilyPolicy', 'SingleStack', why)];
  }
  if (ipFamilyPolicy === 'RequireDualStack') {
    const why = 'this cluster is not configured for dual-stack services';
    causes.push(invalidValue('spec.ipFamilyPolicy', ipFamilyPolicy, why));
  }
  const foreign = ipFamilies.indexOf('IPv6');
  if (foreign >= 0) {
    causes.push(invalidValue(`spec.ipFamilies[${foreign}]`, 'IPv6', 'not configured on this cluster'));
  }
  return causes;
}

const strayNodePorts = ({ ports = [] }: ServiceSpec): Causes =>
  ports.flatMap(({ nodePort }, index) =>
    nodePort ? [forbiddenField(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'")] : [],
  );

function repeatedNodePorts({ ports = [] }: ServiceSpec): Causes {
  const seen = new Set<string>();
  return ports.flatMap(({ protocol, nodePort }, index) => {
    if (!nodePort) return [];
    const text = `${protocol}/${nodePort}`;
    const causes = seen.has(text) ? [duplicate(`spec.ports[${index}].nodePort`, nodePort)] : [];
    seen.add(text);
    return causes;
  });
}

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

/** Addresses and ports that the client chose. */
export function allotmentCauses(
  spec: ServiceSpec,
  place: Place,
  { isNew, dryRun }: { readonly isNew: boolean; readonly dryRun: boolean },
): Causes {
  const causes: FieldCause[] = [];
  const { clusterIPs = [] } = spec;
  const failed = (ip: string, why: string) =>
    invalidValue('spec.clusterIPs', clusterIPs, `failed to allocate IP ${ip}: ${why}`);
  for (const ip of isNew ? clusterIPs : []) {
    if (ip === 'None' || spec.type === 'ExternalName') continue;
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
    // A dry run does not check the range.
    if (dryRun && !inRange(nodePort)) return;
    if (!inRange(nodePort)) {
      const why = `provided port is not in the valid range. The range of valid ports is ${range}`;
      causes.push(invalidValue(at, nodePort, why));
    } else if (!takePort(place, nodePort, protocol)) {
      causes.push(invalidValue(at, nodePort, 'provided port is already allocated'));
    }
  });
  return causes;
}
