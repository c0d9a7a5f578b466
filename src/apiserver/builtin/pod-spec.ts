// The defaults that a real server sets in every Pod template, whatever owns it. Idempotent; defaults of the schema (a
// port's protocol) and zero values (`resources: {}`) are not repeated here.
import type { Container, DownwardItems, EnvVar, FieldRef, Handler, PodSpec, Probe, Volume } from './drafts.ts';

const FILE_MODE = 0o644;
const TOKEN_SECONDS = 3600;
const GRACE_SECONDS = 30;

export function defaultPodSpec(spec: PodSpec): void {
  spec.dnsPolicy ||= 'ClusterFirst';
  spec.restartPolicy ||= 'Always';
  spec.securityContext ??= {};
  spec.terminationGracePeriodSeconds ??= GRACE_SECONDS;
  spec.schedulerName ||= 'default-scheduler';
  // The deprecated field has the value of the newer one, and is its default.
  const account = spec.serviceAccountName || spec.serviceAccount;
  if (account) {
    spec.serviceAccountName = account;
    spec.serviceAccount = account;
  }
  for (const container of spec.initContainers ?? []) defaultContainer(container);
  for (const container of spec.containers ?? []) defaultContainer(container);
  for (const container of spec.ephemeralContainers ?? []) defaultContainer(container);
  for (const volume of spec.volumes ?? []) defaultVolume(volume);
}

/** Restarts of single containers are behind a feature gate that is off, so these fields are dropped. */
export function dropFromPodSpec({ initContainers, containers, ephemeralContainers }: PodSpec): void {
  const inits = initContainers ?? [];
  const mains = containers ?? [];
  for (const container of inits) if (container.restartPolicy !== 'Always') delete container.restartPolicy;
  for (const container of mains) delete container.restartPolicy;
  for (const container of [...inits, ...mains, ...(ephemeralContainers ?? [])]) delete container.restartPolicyRules;
}

function defaultContainer(container: Container): void {
  container.imagePullPolicy ||= pullPolicyOf(container.image ?? '');
  container.terminationMessagePath ||= '/dev/termination-log';
  container.terminationMessagePolicy ||= 'File';
  for (const env of container.env ?? []) defaultEnv(env);
  defaultProbe(container.livenessProbe);
  defaultProbe(container.readinessProbe);
  defaultProbe(container.startupProbe);
  defaultHandler(container.lifecycle?.postStart);
  defaultHandler(container.lifecycle?.preStop);
}

const HAS_UPPER_CASE = /[A-Z]/;

/** `Always` for images with the tag "latest" or without a tag. An invalid image name has no meaning. */
export function pullPolicyOf(image: string): 'Always' | 'IfNotPresent' {
  const at = image.indexOf('@');
  const name = at < 0 ? image : image.slice(0, at);
  const segments = name.split('/');
  const last = segments.at(-1) ?? '';
  const colon = last.indexOf(':');
  const first = segments[0] ?? '';
  const hasHost = segments.length > 1 && (/[.:]/.test(first) || first === 'localhost' || HAS_UPPER_CASE.test(first));
  const repository = [...segments.slice(hasHost ? 1 : 0, -1), colon < 0 ? last : last.slice(0, colon)].join('/');
  if (repository === '' || HAS_UPPER_CASE.test(repository) || /\s/.test(image)) return 'IfNotPresent';
  if (colon >= 0) return last.slice(colon + 1) === 'latest' ? 'Always' : 'IfNotPresent';
  return at < 0 ? 'Always' : 'IfNotPresent';
}

function defaultEnv(env: EnvVar): void {
  const source = env.valueFrom;
  if (source === undefined || source === null) return;
  defaultFieldRef(source.fieldRef);
  if (source.resourceFieldRef) source.resourceFieldRef.divisor ??= '0';
}

function defaultFieldRef(ref: FieldRef | undefined): void {
  if (ref) ref.apiVersion ||= 'v1';
}

function defaultProbe(probe: Probe | undefined): void {
  if (!probe) return;
  probe.timeoutSeconds ||= 1;
  probe.periodSeconds ||= 10;
  probe.successThreshold ||= 1;
  probe.failureThreshold ||= 3;
  if (probe.grpc) probe.grpc.service ??= '';
  defaultHandler(probe);
}

function defaultHandler(handler: Handler | undefined): void {
  if (!handler?.httpGet) return;
  handler.httpGet.path ||= '/';
  handler.httpGet.scheme ||= 'HTTP';
}

export function defaultVolume(volume: Volume): void {
  if (!hasSource(volume)) volume.emptyDir = {};
  if (volume.secret) volume.secret.defaultMode ??= FILE_MODE;
  if (volume.configMap) volume.configMap.defaultMode ??= FILE_MODE;
  if (volume.hostPath) volume.hostPath.type ??= '';
  if (volume.image) volume.image.pullPolicy ||= pullPolicyOf(volume.image.reference ?? '');
  if (volume.downwardAPI) {
    volume.downwardAPI.defaultMode ??= FILE_MODE;
    defaultItems(volume.downwardAPI);
  }
  if (volume.projected) {
    volume.projected.defaultMode ??= FILE_MODE;
    for (const source of volume.projected.sources ?? []) {
      if (source.serviceAccountToken) source.serviceAccountToken.expirationSeconds ??= TOKEN_SECONDS;
      if (source.downwardAPI) defaultItems(source.downwardAPI);
    }
  }
  const claim = volume.ephemeral?.volumeClaimTemplate;
  if (claim) {
    claim.spec ??= {};
    claim.spec.volumeMode ??= 'Filesystem';
  }
}

/** Whether the volume has any field besides its name. */
export function hasSource(volume: Volume): boolean {
  for (const field in volume)
    if (field !== 'name' && volume[field] !== undefined && volume[field] !== null) return true;
  return false;
}

function defaultItems(files: DownwardItems): void {
  for (const item of files.items ?? []) {
    defaultFieldRef(item.fieldRef);
    if (item.resourceFieldRef) item.resourceFieldRef.divisor ??= '0';
  }
}
