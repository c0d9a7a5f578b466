// Tables of Services, endpoints and Ingresses.
import type { Labels } from '../../../api/object.ts';
import type { LabelSelector } from '../../../base/selector.ts';
import {
  AGE,
  ageOf,
  firstThree,
  labelsText,
  NAME,
  nameOf,
  SELECTOR,
  SELECTOR_WORDS,
  selectorText,
  table,
  text,
} from './table.ts';

interface Balanced {
  readonly loadBalancer?: {
    readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[];
  };
}

/** Addresses of a load balancer, sorted, without duplicates. */
const balancers = (status: Balanced | undefined): readonly string[] =>
  [...new Set((status?.loadBalancer?.ingress ?? []).map((each) => each.ip || each.hostname || ''))]
    .filter((each) => each !== '')
    .sort();

interface Service {
  readonly spec?: {
    readonly type?: string;
    readonly clusterIPs?: readonly string[];
    readonly externalIPs?: readonly string[];
    readonly externalName?: string;
    readonly selector?: Labels;
    readonly ports?: readonly { readonly port?: number; readonly nodePort?: number; readonly protocol?: string }[];
  };
  readonly status?: Balanced;
}

export const service = table<Service>(
  [
    NAME,
    text('Type', 'How the Service can be reached.'),
    text('Cluster-IP', 'The address inside of the cluster.'),
    text('External-IP', 'Addresses outside of the cluster.'),
    text('Port(s)', 'Ports, with the node port where there is one.'),
    AGE,
    SELECTOR,
  ],
  (object, now) => [
    nameOf(object),
    object.spec?.type ?? '',
    object.spec?.clusterIPs?.[0] ?? '<none>',
    externalAddress(object),
    servicePorts(object) || '<none>',
    ageOf(object, now),
    labelsText(object.spec?.selector),
  ],
);

function externalAddress({ spec, status }: Service): string {
  const extra = spec?.externalIPs ?? [];
  switch (spec?.type) {
    case 'ClusterIP':
    case 'NodePort':
      return extra.join(',') || '<none>';
    case 'LoadBalancer':
      return [...balancers(status), ...extra].join(',') || '<pending>';
    case 'ExternalName':
      return spec.externalName ?? '';
    default:
      return '<unknown>';
  }
}

function servicePorts({ spec }: Service): string {
  let result = '';
  for (const { port, nodePort, protocol } of spec?.ports ?? []) {
    if (result !== '') result += ',';
    result += nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`;
  }
  return result;
}

interface Endpoints {
  readonly subsets?: readonly {
    readonly addresses?: readonly { readonly ip?: string }[];
    readonly ports?: readonly { readonly port?: number }[];
  }[];
}

export const endpoints = table<Endpoints>(
  [NAME, text('Endpoints', 'Addresses and ports that answer.'), AGE],
  (object, now) => [nameOf(object), endpointAddresses(object), ageOf(object, now)],
);

function endpointAddresses({ subsets }: Endpoints): string {
  if (!subsets?.length) return '<none>';
  const shown: string[] = [];
  let count = 0;
  for (const { addresses = [], ports = [] } of subsets) {
    // A headless Service may have no ports: then only the addresses are printed.
    for (const port of ports.length === 0 ? [undefined] : ports) {
      count += addresses.length;
      for (let i = 0; i < addresses.length && shown.length < 3; i++) {
        shown.push(hostAndPort(addresses[i]?.ip ?? '', port?.port));
      }
    }
  }
  return firstThree(shown, count);
}

const hostAndPort = (ip: string, port: number | undefined): string =>
  port === undefined ? ip : ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;

interface EndpointSlice {
  readonly addressType?: string;
  readonly ports?: readonly { readonly port?: number; readonly name?: string }[];
  readonly endpoints?: readonly { readonly addresses?: readonly string[] }[];
}

export const endpointSlice = table<EndpointSlice>(
  [
    NAME,
    text('AddressType', 'The kind of the addresses.'),
    text('Ports', 'Ports of all endpoints.'),
    text('Endpoints', 'Addresses of the endpoints.'),
    AGE,
  ],
  (object, now) => {
    const ports = (object.ports ?? []).map((port) => (port.port === undefined ? (port.name ?? '*') : `${port.port}`));
    const addresses = (object.endpoints ?? []).flatMap((endpoint) => endpoint.addresses ?? []);
    return [
      nameOf(object),
      object.addressType ?? '',
      firstThree(ports, ports.length) || '<unset>',
      firstThree(addresses, addresses.length) || '<unset>',
      ageOf(object, now),
    ];
  },
);

interface Ingress {
  readonly spec?: {
    readonly ingressClassName?: string;
    readonly rules?: readonly { readonly host?: string }[];
    readonly tls?: readonly unknown[];
  };
  readonly status?: Balanced;
}

export const ingress = table<Ingress>(
  [
    NAME,
    text('Class', 'Which controller serves it.'),
    text('Hosts', 'Host names of the rules.'),
    text('Address', 'Where it can be reached.'),
    text('Ports', 'Ports that it listens on.'),
    AGE,
  ],
  (object, now) => [
    nameOf(object),
    object.spec?.ingressClassName ?? '<none>',
    hosts(object),
    balancers(object.status).join(','),
    object.spec?.tls?.length ? '80, 443' : '80',
    ageOf(object, now),
  ],
);

function hosts({ spec }: Ingress): string {
  const rules = spec?.rules ?? [];
  const named = rules.map((rule) => rule.host ?? '').filter((host) => host !== '');
  if (named.length === 0) return '*';
  // Counts rules, including those without a host, once the first three hosts are listed.
  const third = rules.findIndex((_, index) => rules.slice(0, index + 1).filter((rule) => rule.host).length === 3);
  return third >= 0 && third < rules.length - 1
    ? `${named.slice(0, 3).join(',')} + ${rules.length - 3} more...`
    : named.join(',');
}

interface IngressClass {
  readonly spec?: {
    readonly controller?: string;
    readonly parameters?: { readonly apiGroup?: string; readonly kind?: string; readonly name?: string };
  };
}

export const ingressClass = table<IngressClass>(
  [NAME, text('Controller', 'Who serves the class.'), text('Parameters', 'Settings for the controller.'), AGE],
  (object, now) => {
    const parameters = object.spec?.parameters;
    const group = parameters?.apiGroup === undefined ? '' : `.${parameters.apiGroup}`;
    return [
      nameOf(object),
      object.spec?.controller ?? '',
      parameters === undefined ? '<none>' : `${parameters.kind}${group}/${parameters.name}`,
      ageOf(object, now),
    ];
  },
);

export const networkPolicy = table<{ readonly spec?: { readonly podSelector?: LabelSelector } }>(
  [NAME, text('Pod-Selector', 'Which Pods the policy is about.'), AGE],
  (object, now) => [nameOf(object), selectorText(object.spec?.podSelector, SELECTOR_WORDS), ageOf(object, now)],
);

export const serviceCidr = table<{ readonly spec?: { readonly cidrs?: readonly string[] } }>(
  [NAME, text('CIDRs', 'Ranges that Services get their addresses from.'), AGE],
  (object, now) => [nameOf(object), object.spec?.cidrs?.join(',') ?? '', ageOf(object, now)],
);

interface IpAddress {
  readonly spec?: {
    readonly parentRef?: {
      readonly group?: string;
      readonly resource?: string;
      readonly namespace?: string;
      readonly name?: string;
    };
  };
}

export const ipAddress = table<IpAddress>([NAME, text('ParentRef', 'Who has the address.')], (object) => {
  const parent = object.spec?.parentRef;
  if (parent === undefined) return [nameOf(object), '<none>'];
  const resource = parent.group ? `${parent.resource}.${parent.group}` : (parent.resource ?? '');
  const namespace = parent.namespace ? `/${parent.namespace}` : '';
  return [nameOf(object), `${resource.toLowerCase()}${namespace}/${parent.name ?? ''}`];
});
