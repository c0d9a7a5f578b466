// Validation of containers, with the messages and in the order of a real server.
import type { FieldCause } from '../../api/kind.ts';
import { duplicate, forbiddenField, invalidValue, notFoundField, required } from '../../api/status.ts';
import { configMapKeyErrors } from '../../base/names.ts';
import type { Container, ContainerPort, EnvVar, Handler, KeyRef, PodSpec, Probe, VolumeMount } from './drafts.ts';
import {
  type Causes,
  complaints,
  dnsLabel,
  dnsSubdomain,
  nonNegative,
  oneOf,
  portNameErrors,
  portNumber,
  portNumberOrName,
  requiredOneOf,
} from './field-checks.ts';
import { resourceCauses } from './resources.ts';

export const PROTOCOLS: readonly string[] = ['SCTP', 'TCP', 'UDP'];

/** All containers of a Pod. `volumes`: the names that mounts may use. */
export function containerCauses(field: string, spec: PodSpec, volumes: ReadonlySet<string>): Causes {
  const causes: FieldCause[] = [];
  const names = new Set<string>();
  const containers = spec.containers ?? [];
  if (containers.length === 0) causes.push(required(`${field}.containers`));
  containers.forEach((container, index) => {
    const at = `${field}.containers[${index}]`;
    causes.push(...commonCauses(at, container, volumes));
    const name = container.name ?? '';
    if (names.has(name)) causes.push(duplicate(`${at}.name`, name));
    names.add(name);
    causes.push(...runtimeCauses(at, container));
  });
  causes.push(...hostPortCauses(`${field}.containers`, containers, spec.hostNetwork === true));
  spec.initContainers?.forEach((container, index) => {
    const at = `${field}.initContainers[${index}]`;
    causes.push(...commonCauses(at, container, volumes));
    if (container.restartPolicy !== undefined) {
      causes.push(...oneOf(`${at}.restartPolicy`, container.restartPolicy, ['Always']));
    }
    const name = container.name ?? '';
    if (names.has(name)) causes.push(duplicate(`${at}.name`, name));
    else if (name !== '') names.add(name);
    causes.push(...(container.restartPolicy === 'Always' ? runtimeCauses(at, container) : initCauses(at, container)));
  });
  return causes;
}

function commonCauses(field: string, container: Container, volumes: ReadonlySet<string>): Causes {
  const image = container.image ?? '';
  return [
    ...(container.name ? dnsLabel(`${field}.name`, container.name) : [required(`${field}.name`)]),
    ...(image === '' ? [required(`${field}.image`)] : []),
    ...requiredOneOf(`${field}.terminationMessagePolicy`, container.terminationMessagePolicy, [
      'File',
      'FallbackToLogsOnError',
    ]),
    ...portCauses(`${field}.ports`, container.ports ?? []),
    ...(container.env ?? []).flatMap((env, index) => envCauses(`${field}.env[${index}]`, env)),
    ...(container.envFrom ?? []).flatMap((source) => envFromCauses(`${field}.envFrom`, source)),
    ...mountCauses(`${field}.volumeMounts`, container.volumeMounts ?? [], volumes),
    ...requiredOneOf(`${field}.imagePullPolicy`, container.imagePullPolicy, ['Always', 'IfNotPresent', 'Never']),
    ...resourceCauses(`${field}.resources`, container.resources),
  ];
}

/** Fields that are allowed only on containers that keep running. */
const runtimeCauses = (field: string, container: Container): Causes => [
  ...handlerCauses(`${field}.lifecycle.postStart`, container.lifecycle?.postStart),
  ...handlerCauses(`${field}.lifecycle.preStop`, container.lifecycle?.preStop),
  ...probeCauses(`${field}.livenessProbe`, container.livenessProbe),
  ...probeCauses(`${field}.readinessProbe`, container.readinessProbe, { isReadiness: true }),
  ...probeCauses(`${field}.startupProbe`, container.startupProbe),
];

const initCauses = (field: string, container: Container): Causes =>
  (['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const)
    .filter((part) => container[part] !== undefined)
    .map((part) =>
      forbiddenField(`${field}.${part}`, 'may not be set for init containers without restartPolicy=Always'),
    );

function portCauses(field: string, ports: readonly ContainerPort[]): Causes {
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const at = `${field}[${index}]`;
    const causes: FieldCause[] = [];
    if (port.name) {
      const errors = portNameErrors(port.name);
      causes.push(...complaints(`${at}.name`, port.name, errors));
      if (errors.length === 0 && names.has(port.name)) causes.push(duplicate(`${at}.name`, port.name));
      else if (errors.length === 0) names.add(port.name);
    }
    if (!port.containerPort) causes.push(required(`${at}.containerPort`));
    else causes.push(...portNumber(`${at}.containerPort`, port.containerPort));
    if (port.hostPort) causes.push(...portNumber(`${at}.hostPort`, port.hostPort));
    causes.push(...requiredOneOf(`${at}.protocol`, port.protocol, PROTOCOLS));
    return causes;
  });
}

function hostPortCauses(field: string, containers: readonly Container[], isHostNetwork: boolean): Causes {
  const taken = new Set<string>();
  const causes: FieldCause[] = [];
  containers.forEach((container, index) => {
    container.ports?.forEach((port, place) => {
      if (!port.hostPort) return;
      if (isHostNetwork && port.hostPort !== port.containerPort) {
        const why = 'must match `containerPort` when `hostNetwork` is true';
        causes.push(invalidValue(`${field}[${index}].ports[${place}].hostPort`, port.hostPort, why));
      }
      const text = `${port.protocol}/${port.hostIP ?? ''}/${port.hostPort}`;
      if (taken.has(text)) causes.push(duplicate(`${field}[${index}].ports[${place}].hostPort`, text));
      taken.add(text);
    });
  });
  return causes;
}

const ENV_NAME = /^[ -<>-~]+$/;
const FIELD_PATHS: ReadonlySet<string> = new Set([
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]);
const CONTAINER_RESOURCES: readonly string[] = ['limits', 'requests'].flatMap((side) =>
  ['cpu', 'ephemeral-storage', 'memory'].map((name) => `${side}.${name}`),
);
const KEYED_FIELD_PATH = /^metadata\.(?:labels|annotations)\['[^']*'\]$/;

function envCauses(field: string, env: EnvVar): Causes {
  const causes: FieldCause[] = [];
  if (!env.name) causes.push(required(`${field}.name`));
  else if (!ENV_NAME.test(env.name)) {
    const why = "a valid environment variable name must consist only of printable ASCII characters other than '='";
    causes.push(invalidValue(`${field}.name`, env.name, why));
  }
  const source = env.valueFrom;
  if (source === undefined) return causes;
  const at = `${field}.valueFrom`;
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  if (fieldRef) {
    const path = fieldRef.fieldPath ?? '';
    if (path === '') causes.push(required(`${at}.fieldRef.fieldPath`));
    else if (fieldRef.apiVersion !== 'v1') {
      const why = `error converting fieldPath: unsupported pod version: ${fieldRef.apiVersion}`;
      causes.push(invalidValue(`${at}.fieldRef.fieldPath`, path, why));
    } else if (!FIELD_PATHS.has(path) && !KEYED_FIELD_PATH.test(path)) {
      const why = `error converting fieldPath: field label not supported: ${path}`;
      causes.push(invalidValue(`${at}.fieldRef.fieldPath`, path, why));
    }
  }
  if (resourceFieldRef) {
    const resource = resourceFieldRef.resource ?? '';
    const place = `${at}.resourceFieldRef.resource`;
    if (resource === '') causes.push(required(place));
    else if (!resource.includes('hugepages-')) causes.push(...oneOf(place, resource, CONTAINER_RESOURCES));
  }
  if (configMapKeyRef) causes.push(...keyRefCauses(`${at}.configMapKeyRef`, configMapKeyRef));
  if (secretKeyRef) causes.push(...keyRefCauses(`${at}.secretKeyRef`, secretKeyRef));
  const count = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef].filter(Boolean).length;
  if (count === 0) {
    const why = 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`';
    causes.push(invalidValue(at, '', why));
  } else if (env.value) causes.push(invalidValue(at, '', 'may not be specified when `value` is not empty'));
  else if (count > 1) causes.push(invalidValue(at, '', 'may not have more than one field specified at a time'));
  return causes;
}

const keyRefCauses = (field: string, ref: KeyRef): Causes => [
  ...dnsSubdomain(`${field}.name`, ref.name ?? ''),
  ...(ref.key ? complaints(`${field}.key`, ref.key, configMapKeyErrors(ref.key)) : [required(`${field}.key`)]),
];

function envFromCauses(field: string, source: NonNullable<Container['envFrom']>[number]): Causes {
  const { configMapRef, secretRef } = source;
  return [
    ...(configMapRef ? dnsSubdomain(`${field}.configMapRef.name`, configMapRef.name ?? '') : []),
    ...(secretRef ? dnsSubdomain(`${field}.secretRef.name`, secretRef.name ?? '') : []),
    ...(!configMapRef && !secretRef
      ? [invalidValue(field, '', 'must specify one of: `configMapRef` or `secretRef`')]
      : []),
    ...(configMapRef && secretRef
      ? [invalidValue(field, '', 'may not have more than one field specified at a time')]
      : []),
  ];
}

function mountCauses(field: string, mounts: readonly VolumeMount[], volumes: ReadonlySet<string>): Causes {
  const paths = new Set<string>();
  return mounts.flatMap((mount, index) => {
    const at = `${field}[${index}]`;
    const { name = '', mountPath = '' } = mount;
    const causes: FieldCause[] = [];
    if (name === '') causes.push(required(`${at}.name`));
    if (!volumes.has(name)) causes.push(notFoundField(`${at}.name`, name));
    if (mountPath === '') causes.push(required(`${at}.mountPath`));
    if (paths.has(mountPath)) causes.push(invalidValue(`${at}.mountPath`, mountPath, 'must be unique'));
    paths.add(mountPath);
    if (mount.subPath) causes.push(...descendingPath(`${field}.subPath`, mount.subPath));
    if (mount.subPathExpr) {
      if (mount.subPath) {
        const why = 'subPathExpr and subPath are mutually exclusive';
        causes.push(invalidValue(`${at}.subPathExpr`, mount.subPathExpr, why));
      }
      causes.push(...descendingPath(`${field}.subPathExpr`, mount.subPathExpr));
    }
    return causes;
  });
}

export const noBacksteps = (field: string, path: string): Causes =>
  path.split('/').includes('..') ? [invalidValue(field, path, "must not contain '..'")] : [];

export const descendingPath = (field: string, path: string): Causes => [
  ...(path.startsWith('/') ? [invalidValue(field, path, 'must be a relative path')] : []),
  ...noBacksteps(field, path),
];

const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const;

function handlerCauses(field: string, handler: Handler | undefined): Causes {
  if (handler === undefined) return [];
  const given = HANDLERS.filter((kind) => handler[kind] !== undefined && handler[kind] !== null);
  if (given.length === 0) return [required(field, 'must specify a handler type')];
  return given.flatMap((kind, index) =>
    index > 0
      ? [forbiddenField(`${field}.${kind}`, 'may not specify more than 1 handler type')]
      : actionCauses(`${field}.${kind}`, kind, handler),
  );
}

function actionCauses(field: string, kind: (typeof HANDLERS)[number], handler: Handler): Causes {
  switch (kind) {
    case 'exec':
      return (handler.exec?.command ?? []).length === 0 ? [required(`${field}.command`)] : [];
    case 'httpGet':
      return [
        ...portNumberOrName(`${field}.port`, handler.httpGet?.port),
        ...oneOf(`${field}.scheme`, handler.httpGet?.scheme, ['HTTP', 'HTTPS']),
      ];
    case 'tcpSocket':
      return portNumberOrName(`${field}.port`, handler.tcpSocket?.port);
    case 'grpc':
      return portNumber(`${field}.port`, handler.grpc?.port ?? 0);
    case 'sleep':
      return [];
  }
}

function probeCauses(field: string, probe: Probe | undefined, { isReadiness = false } = {}): Causes {
  if (probe === undefined) return [];
  const grace = probe.terminationGracePeriodSeconds;
  return [
    ...handlerCauses(field, probe),
    ...nonNegative(`${field}.initialDelaySeconds`, probe.initialDelaySeconds),
    ...nonNegative(`${field}.timeoutSeconds`, probe.timeoutSeconds),
    ...nonNegative(`${field}.periodSeconds`, probe.periodSeconds),
    ...nonNegative(`${field}.successThreshold`, probe.successThreshold),
    ...nonNegative(`${field}.failureThreshold`, probe.failureThreshold),
    ...(grace !== undefined && grace <= 0
      ? [invalidValue(`${field}.terminationGracePeriodSeconds`, grace, 'must be greater than 0')]
      : []),
    ...(!isReadiness && probe.successThreshold !== 1
      ? [invalidValue(`${field}.successThreshold`, probe.successThreshold, 'must be 1')]
      : []),
    ...(isReadiness && grace !== undefined
      ? [invalidValue(`${field}.terminationGracePeriodSeconds`, grace, 'must not be set for readinessProbes')]
      : []),
  ];
}
