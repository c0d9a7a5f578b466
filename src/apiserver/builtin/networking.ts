// Ingresses, their classes, and network policies.
import type { FieldCause } from '../../api/kind.ts';
import { invalidValue, required } from '../../api/status.ts';
import type { IntOrPercent } from '../../base/int-or-percent.ts';
import { dns1035LabelErrors, dnsSubdomainErrors } from '../../base/names.ts';
import type { Behaviour, WriteContext } from '../registry.ts';
import { prefixOf } from '../store/store.ts';
import { behaviour, specOf, startsWith } from './behaviour.ts';
import type { SelectorDraft } from './drafts.ts';
import { type Causes, cidr, complaints, oneOf, portNumber, portNumberOrName, selectorCauses } from './field-checks.ts';

interface Backend {
  service?: { name?: string; port?: { name?: string; number?: number } };
  resource?: object;
}

interface IngressSpec {
  ingressClassName?: string;
  defaultBackend?: Backend;
  rules?: { host?: string; http?: { paths?: { path?: string; pathType?: string; backend?: Backend }[] } }[];
}

const DEFAULT_CLASS = 'ingressclass.kubernetes.io/is-default-class';

export const ingress: Behaviour = behaviour({
  countsGeneration: true,
  prepare(draft, old, context) {
    startsWith(() => ({ loadBalancer: {} }))(draft, old, context);
    const isNamed = draft.metadata.annotations?.['kubernetes.io/ingress.class'] !== undefined;
    const spec = specOf<IngressSpec>(draft);
    if (old === undefined && !spec.ingressClassName && !isNamed) {
      const chosen = defaultIngressClass(context);
      if (chosen !== undefined) spec.ingressClassName = chosen;
    }
  },
  validate(object, _old, { subresource }) {
    return subresource === undefined ? ingressCauses((object.spec ?? {}) as IngressSpec) : [];
  },
});

/** The newest class that is marked as default; of equally new ones the first by name. */
function defaultIngressClass({ cluster }: WriteContext): string | undefined {
  let chosen: { name: string; since: string } | undefined;
  for (const stored of cluster.store.range(prefixOf('networking.k8s.io', 'ingressclasses')).items) {
    const { name = '', annotations, creationTimestamp: since = '' } = stored.object().metadata;
    if (annotations?.[DEFAULT_CLASS] === 'true' && (chosen === undefined || since > chosen.since)) {
      chosen = { name, since };
    }
  }
  return chosen?.name;
}

function ingressCauses({ rules = [], defaultBackend }: IngressSpec): Causes {
  const causes: FieldCause[] = [];
  if (rules.length === 0 && defaultBackend === undefined) {
    causes.push(invalidValue('spec', null, 'either `defaultBackend` or `rules` must be specified'));
  }
  if (defaultBackend !== undefined) causes.push(...backendCauses('spec.defaultBackend', defaultBackend));
  rules.forEach(({ host = '', http }, index) => {
    const at = `spec.rules[${index}]`;
    if (host !== '') causes.push(...hostCauses(`${at}.host`, host));
    if (http === undefined) return;
    const paths = http.paths ?? [];
    if (paths.length === 0) causes.push(required(`${at}.http.paths`));
    paths.forEach((each, place) => {
      causes.push(...pathCauses(`${at}.http.paths[${place}]`, each));
    });
  });
  return causes;
}

function hostCauses(field: string, host: string): Causes {
  if (!host.includes('*')) return complaints(field, host, dnsSubdomainErrors(host));
  const rest = host.startsWith('*.') ? host.slice(2) : '';
  const isValid = rest !== '' && dnsSubdomainErrors(rest).length === 0;
  const why =
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
  return isValid ? [] : [invalidValue(field, host, why)];
}

function pathCauses(
  field: string,
  { path = '', pathType, backend = {} }: { path?: string; pathType?: string; backend?: Backend },
): Causes {
  // The path cannot be validated without a type, so a server stops here.
  if (!pathType) return [required(`${field}.pathType`, 'pathType must be specified')];
  const causes: FieldCause[] = [...oneOf(`${field}.pathType`, pathType, ['Exact', 'ImplementationSpecific', 'Prefix'])];
  const isPlain = pathType === 'Exact' || pathType === 'Prefix';
  if ((isPlain || path !== '') && !path.startsWith('/')) {
    causes.push(invalidValue(`${field}.path`, path, 'must be an absolute path'));
  }
  if (isPlain) {
    for (const bad of ['//', '/./', '/../', '%2f', '%2F']) {
      if (path.includes(bad)) causes.push(invalidValue(`${field}.path`, path, `must not contain '${bad}'`));
    }
  }
  return [...causes, ...backendCauses(`${field}.backend`, backend)];
}

function backendCauses(field: string, { service, resource }: Backend): Causes {
  if (service !== undefined && resource !== undefined) {
    return [invalidValue(field, '', 'cannot set both resource and service backends')];
  }
  if (resource !== undefined) return [];
  if (service === undefined) return [required(field, 'cannot specify an empty backend')]; // neither backend is set
  const { name = '', port = {} } = service;
  const causes: FieldCause[] = [];
  if (name === '') causes.push(required(`${field}.service.name`));
  else causes.push(...complaints(`${field}.service.name`, name, dns1035LabelErrors(name)));
  const { name: portName = '', number = 0 } = port;
  if (portName !== '' && number !== 0) {
    causes.push(invalidValue(field, '', 'cannot set both port name & port number'));
  } else if (portName !== '') causes.push(...portNumberOrName(`${field}.service.port.name`, portName));
  else if (number !== 0) causes.push(...portNumber(`${field}.service.port.number`, number));
  else causes.push(required(field, 'port name or number is required'));
  return causes;
}

// ---- IngressClass

interface IngressClassSpec {
  controller?: string;
  parameters?: { scope?: string };
}

export const ingressClass: Behaviour = behaviour({
  countsGeneration: true,
  default(draft) {
    const { parameters } = specOf<IngressClassSpec>(draft);
    if (parameters) parameters.scope ??= 'Cluster';
  },
  validate(object, old) {
    const { controller = '' } = (object.spec ?? {}) as IngressClassSpec;
    const before = ((old?.spec ?? {}) as IngressClassSpec).controller;
    if (old !== undefined && controller !== before) {
      return [invalidValue('spec.controller', controller, 'field is immutable')];
    }
    if (controller === '') return [required('spec.controller')];
    const [domain = '', ...rest] = controller.split('/');
    const isPath = rest.length > 0 && rest.join('/') !== '' && dnsSubdomainErrors(domain).length === 0;
    const why = 'must be a domain-prefixed path (such as "acme.io/foo")';
    return isPath ? [] : [invalidValue('spec.controller', controller, why)];
  },
});

// ---- NetworkPolicy

interface PolicyPort {
  protocol?: string;
  port?: IntOrPercent;
  endPort?: number;
}

interface Peer {
  podSelector?: SelectorDraft;
  namespaceSelector?: SelectorDraft;
  ipBlock?: { cidr?: string; except?: string[] };
}

interface PolicyRule {
  ports?: PolicyPort[];
  from?: Peer[];
  to?: Peer[];
}

interface NetworkPolicySpec {
  podSelector?: SelectorDraft;
  policyTypes?: string[];
  ingress?: PolicyRule[];
  egress?: PolicyRule[];
}

export const networkPolicy: Behaviour = behaviour({
  countsGeneration: true,
  default(draft) {
    const spec = specOf<NetworkPolicySpec>(draft);
    if ((spec.policyTypes ?? []).length === 0) {
      spec.policyTypes = ['Ingress', ...((spec.egress ?? []).length > 0 ? ['Egress'] : [])];
    }
    for (const rule of [...(spec.ingress ?? []), ...(spec.egress ?? [])]) {
      for (const port of rule.ports ?? []) port.protocol ??= 'TCP';
    }
  },
  validate(object) {
    const spec = (object.spec ?? {}) as NetworkPolicySpec;
    const rules = (field: string, list: readonly PolicyRule[] | undefined, peers: 'from' | 'to') =>
      (list ?? []).flatMap((rule, index) => [
        ...(rule.ports ?? []).flatMap((port, place) => policyPortCauses(`${field}[${index}].ports[${place}]`, port)),
        ...(rule[peers] ?? []).flatMap((peer, place) => peerCauses(`${field}[${index}].${peers}[${place}]`, peer)),
      ]);
    return [
      ...selectorCauses('spec.podSelector', spec.podSelector),
      ...rules('spec.ingress', spec.ingress, 'from'),
      ...rules('spec.egress', spec.egress, 'to'),
      ...(spec.policyTypes ?? []).flatMap((type, index) =>
        oneOf(`spec.policyTypes[${index}]`, type, ['Ingress', 'Egress']),
      ),
    ];
  },
});

const policyPortCauses = (field: string, { protocol, port }: PolicyPort): Causes => [
  ...oneOf(`${field}.protocol`, protocol, ['TCP', 'UDP', 'SCTP']),
  ...(port === undefined ? [] : portNumberOrName(`${field}.port`, port)),
];

function peerCauses(field: string, { podSelector, namespaceSelector, ipBlock }: Peer): Causes {
  if (!podSelector && !namespaceSelector && !ipBlock) return [required(field, 'must specify a peer')];
  return [
    ...selectorCauses(`${field}.podSelector`, podSelector),
    ...selectorCauses(`${field}.namespaceSelector`, namespaceSelector),
    ...(ipBlock
      ? ipBlock.cidr
        ? cidr(`${field}.ipBlock.cidr`, ipBlock.cidr)
        : [required(`${field}.ipBlock.cidr`)]
      : []),
  ];
}
