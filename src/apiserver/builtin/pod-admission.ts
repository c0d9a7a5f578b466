// The admission of a new Pod on a real server: ServiceAccount and token volume, priority, tolerations for unreachable
// nodes. Throws 403 where a real server does.
import type { KubeObject } from '../../api/object.ts';
import { forbidden } from '../../api/status.ts';
import { generatedSuffix } from '../../base/names.ts';
import type { Draft, WriteContext } from '../registry.ts';
import { keyOf, prefixOf } from '../store/store.ts';
import type { Container, PodSpec, Toleration } from './drafts.ts';

const PODS = { group: '', plural: 'pods' };
const TOKEN_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
// An hour and seven seconds: marks the tokens that the server itself requested.
const TOKEN_SECONDS = 3607;
const PATIENCE_SECONDS = 300;

interface ServiceAccount extends KubeObject {
  readonly automountServiceAccountToken?: boolean;
  readonly imagePullSecrets?: readonly { readonly name?: string }[];
}

interface PriorityClass extends KubeObject {
  readonly value?: number;
  readonly globalDefault?: boolean;
  readonly preemptionPolicy?: string;
}

export function admitPod(draft: Draft, spec: PodSpec, context: WriteContext): void {
  giveServiceAccount(draft, spec, context);
  givePriority(draft, spec, context);
  tolerateSilentNodes(spec);
}

function giveServiceAccount(draft: Draft, spec: PodSpec, context: WriteContext): void {
  const { namespace = '', name = '' } = draft.metadata;
  const account = spec.serviceAccountName || 'default';
  spec.serviceAccountName = account;
  spec.serviceAccount = account;
  const found = context.cluster.store.get(keyOf('', 'serviceaccounts', namespace, account), 'head')?.object();
  if (found === undefined) {
    const why = `error looking up service account ${namespace}/${account}: serviceaccount "${account}" not found`;
    throw forbidden(PODS, name, why);
  }
  const { automountServiceAccountToken, imagePullSecrets } = found as ServiceAccount;
  if (spec.automountServiceAccountToken ?? automountServiceAccountToken ?? true) mountToken(spec, context);
  if ((spec.imagePullSecrets ?? []).length === 0 && imagePullSecrets && imagePullSecrets.length > 0) {
    spec.imagePullSecrets = imagePullSecrets.map((each) => ({ ...each }));
  }
}

/** Mounts the volume with token, CA and namespace into all containers that have nothing mounted at that path. */
function mountToken(spec: PodSpec, context: WriteContext): void {
  const isFree = (container: Container) => !container.volumeMounts?.some((mount) => mount.mountPath === TOKEN_PATH);
  const existing = spec.volumes?.find((volume) => volume.name?.startsWith('kube-api-access-'))?.name;
  const open = [...(spec.initContainers ?? []), ...(spec.containers ?? [])].filter(isFree);
  if (open.length === 0) return;
  const name = existing ?? `kube-api-access-${generatedSuffix(context.cluster.random)}`;
  for (const container of open) {
    container.volumeMounts = [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath: TOKEN_PATH }];
  }
  if (existing !== undefined) return;
  const sources = [
    { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    {
      downwardAPI: {
        items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
      },
    },
  ];
  spec.volumes = [...(spec.volumes ?? []), { name, projected: { sources, defaultMode: 0o644 } }];
}

function givePriority(draft: Draft, spec: PodSpec, context: WriteContext): void {
  const { name = '' } = draft.metadata;
  const priorityClass = spec.priorityClassName ? namedClass(spec, name, context) : defaultClass(context);
  if (priorityClass !== undefined) spec.priorityClassName = priorityClass.metadata.name as string;
  const priority = priorityClass?.value ?? 0;
  if (spec.priority !== undefined && spec.priority !== priority) {
    const why = `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${priority} from the given PriorityClass name`;
    throw forbidden(PODS, name, why);
  }
  const preemption = priorityClass?.preemptionPolicy ?? 'PreemptLowerPriority';
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemption) {
    const why = `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${preemption} from the given PriorityClass name`;
    throw forbidden(PODS, name, why);
  }
  spec.priority = priority;
  spec.preemptionPolicy = preemption;
}

function namedClass(spec: PodSpec, name: string, context: WriteContext): PriorityClass {
  const key = keyOf('scheduling.k8s.io', 'priorityclasses', '', spec.priorityClassName as string);
  const found = context.cluster.store.get(key, 'head')?.object();
  if (found === undefined) {
    throw forbidden(PODS, name, `no PriorityClass with name ${spec.priorityClassName} was found`);
  }
  return found as PriorityClass;
}

/** The default class with the lowest value; there should be at most one default. */
function defaultClass(context: WriteContext): PriorityClass | undefined {
  let chosen: PriorityClass | undefined;
  for (const stored of context.cluster.store.range(prefixOf('scheduling.k8s.io', 'priorityclasses')).items) {
    const each = stored.object() as PriorityClass;
    if (each.globalDefault && (chosen === undefined || (each.value ?? 0) < (chosen.value ?? 0))) chosen = each;
  }
  return chosen;
}

/** By default a Pod stays five minutes on a node that is not ready or unreachable. */
export function tolerateSilentNodes(spec: PodSpec): void {
  for (const key of ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']) {
    const isTold = (each: Toleration) =>
      (each.key === key || !each.key) && (each.effect === 'NoExecute' || !each.effect);
    if (spec.tolerations?.some(isTold)) continue;
    const patience = { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: PATIENCE_SECONDS };
    spec.tolerations = [...(spec.tolerations ?? []), patience];
  }
}
