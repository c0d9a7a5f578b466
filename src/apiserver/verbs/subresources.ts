// POST to a subresource: a token of a ServiceAccount, the binding of a Pod, the eviction of a Pod.
import { kindSchema, resolveBuiltin } from '../../api/builtin/types.ts';
import { apiVersionOf, type KubeObject } from '../../api/object.ts';
import { badRequest, conflict, invalid, invalidValue, noSuchResource, notFound } from '../../api/status.ts';
import { kubeTime } from '../../base/clock.ts';
import { isObject, mutableCopy } from '../../base/json.ts';
import type { Cluster } from '../cluster.ts';
import type { Draft, Subresource } from '../registry.ts';
import { unsaved } from '../represent.ts';
import { structureOf } from '../schema/structure.ts';
import { keyOf, type Stored } from '../store/store.ts';
import type { At, Caller, Written } from './call.ts';
import { commit } from './commit.ts';
import { unknownFieldsIn } from './decode.ts';
import { evictPod } from './evict.ts';
import { headOf } from './head.ts';

export async function createSubresource(cluster: Cluster, at: At, body: unknown, caller: Caller): Promise<Written> {
  const offered = at.resource.subresources.find((each) => each.name === at.subresource);
  if (!offered) throw noSuchResource();
  if (!isObject(body)) throw badRequest('the object provided is unrecognized: it is not an object');
  if (at.subresource === 'eviction') checkKind(offered, body);
  checkTypes(offered, body);
  if (at.subresource === 'token') return { stored: issueToken(cluster, at, body), created: true };
  if (at.subresource === 'binding') return { stored: await bindPod(cluster, at, body, caller), created: true };
  if (at.subresource === 'eviction') {
    checkFields(offered, body, caller);
    await evictPod(cluster, at, body, caller);
    return { stored: success(), created: true };
  }
  throw noSuchResource();
}

const success = (): Stored =>
  unsaved('', { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });

/** The body has its own kind; the code below relies on the types of its fields. */
function checkTypes({ group, version, kind }: Subresource, body: Readonly<Record<string, unknown>>): void {
  const { decodeError } = structureOf(kindSchema(group, version, kind), { resolve: resolveBuiltin, builtin: true });
  const wrong = decodeError({ ...body, apiVersion: apiVersionOf(group, version), kind } as Draft);
  if (wrong !== undefined) {
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${wrong}`);
  }
}

/** Eviction has two versions with the same fields. */
function checkKind(
  { group, kind, version }: Subresource,
  { kind: sent, apiVersion }: Readonly<Record<string, unknown>>,
) {
  const versions = [version, 'v1beta1'].map((each) => apiVersionOf(group, each));
  const isKind = sent === undefined || sent === '' || sent === kind;
  const isVersion = apiVersion === undefined || apiVersion === '' || versions.includes(String(apiVersion));
  if (isKind && isVersion) return;
  const which = `${sent ?? kind} in version "${String(apiVersion).split('/').at(-1)}"`;
  throw badRequest(`${which} cannot be handled as a ${kind}: it must be a ${kind} of ${apiVersionOf(group, version)}`);
}

function checkFields({ group, version, kind }: Subresource, body: Readonly<Record<string, unknown>>, caller: Caller) {
  const structure = structureOf(kindSchema(group, version, kind), { resolve: resolveBuiltin, builtin: true });
  const draft = mutableCopy({ metadata: {}, ...body, apiVersion: apiVersionOf(group, version), kind }) as Draft;
  const unknown = unknownFieldsIn(structure, draft, caller);
  if (unknown !== undefined) {
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${unknown}`);
  }
}

interface TokenRequestSpec {
  readonly audiences?: readonly string[];
  readonly expirationSeconds?: number;
  readonly boundObjectRef?: {
    readonly apiVersion?: string;
    readonly kind?: string;
    readonly name?: string;
    readonly uid?: string;
  };
}

const SHORTEST_TOKEN_SECONDS = 600;
const LONGEST_TOKEN_SECONDS = 2 ** 32;
const USUAL_TOKEN_SECONDS = 3600;
const BINDABLE: ReadonlyMap<string, { readonly plural: string; readonly namespaced: boolean }> = new Map([
  ['Pod', { plural: 'pods', namespaced: true }],
  ['Secret', { plural: 'secrets', namespaced: true }],
  ['Node', { plural: 'nodes', namespaced: false }],
]);

function issueToken(cluster: Cluster, at: At, body: Readonly<Record<string, unknown>>): Stored {
  const account = headOf(cluster, at).object();
  const spec = (body['spec'] ?? {}) as TokenRequestSpec;
  const seconds = spec.expirationSeconds ?? USUAL_TOKEN_SECONDS;
  const refuse = (why: string): never => {
    throw invalid({ group: 'authentication.k8s.io', kind: 'TokenRequest' }, '', [
      invalidValue('spec.expirationSeconds', seconds, why),
    ]);
  };
  if (seconds < SHORTEST_TOKEN_SECONDS) refuse('may not specify a duration less than 10 minutes');
  if (seconds > LONGEST_TOKEN_SECONDS) refuse('may not specify a duration larger than 2^32 seconds');
  const bound = spec.boundObjectRef ? boundObject(cluster, at, spec.boundObjectRef) : undefined;
  const audiences = spec.audiences && spec.audiences.length > 0 ? spec.audiences : [cluster.tokens.issuer];
  const now = cluster.clock.now();
  const status = cluster.tokens.issue({
    namespace: at.namespace,
    name: at.name as string,
    uid: account.metadata.uid as string,
    audiences,
    expirationSeconds: seconds,
    ...(bound ? { boundObject: bound } : {}),
    now,
  });
  return unsaved('', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: {
      name: at.name,
      namespace: at.namespace,
      uid: account.metadata.uid,
      creationTimestamp: kubeTime(now),
    },
    spec: {
      audiences,
      expirationSeconds: seconds,
      boundObjectRef: bound ? { ...spec.boundObjectRef, uid: bound.uid } : null,
    },
    status,
  });
}

function boundObject(cluster: Cluster, at: At, ref: NonNullable<TokenRequestSpec['boundObjectRef']>) {
  const bindable = BINDABLE.get(ref.kind ?? '');
  if (bindable === undefined || !ref.name) {
    throw badRequest(`cannot bind token for serviceaccount "${at.name}" to kind "${ref.kind ?? ''}"`);
  }
  const { plural, namespaced } = bindable;
  const found = cluster.store.get(keyOf('', plural, namespaced ? at.namespace : '', ref.name), 'head')?.object();
  if (!found) throw notFound({ group: '', plural }, ref.name);
  if (ref.uid && ref.uid !== found.metadata.uid) {
    const why = `the UID in the bound object reference (${ref.uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: '', plural }, ref.name, why);
  }
  return { kind: ref.kind as string, name: ref.name, uid: found.metadata.uid as string };
}

/** The scheduler's binding: sets the node of a Pod, once. */
async function bindPod(
  cluster: Cluster,
  at: At,
  body: Readonly<Record<string, unknown>>,
  caller: Caller,
): Promise<Stored> {
  const old = headOf(cluster, at);
  const pod = mutableCopy(old.object()) as Draft & {
    spec: Record<string, unknown>;
    status?: { conditions?: Record<string, unknown>[] };
  };
  const target = isObject(body['target']) ? body['target'] : {};
  const node = target['name'];
  const resource = { group: '', plural: 'pods/binding' };
  if (typeof node !== 'string' || node === '') {
    throw invalid({ group: '', kind: 'Binding' }, at.name ?? '', [
      { reason: 'FieldValueRequired', field: 'target.name', message: 'Required value' },
    ]);
  }
  if (pod.metadata.deletionTimestamp !== undefined) {
    throw conflict(resource, at.name ?? '', `pod ${at.name} is being deleted, cannot be assigned to a host`);
  }
  if (pod.spec['nodeName']) {
    throw conflict(resource, at.name ?? '', `pod ${at.name} is already assigned to node "${pod.spec['nodeName']}"`);
  }
  pod.spec['nodeName'] = node;
  const others = (pod.status?.conditions ?? []).filter((each) => each['type'] !== 'PodScheduled');
  const scheduled = {
    type: 'PodScheduled',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: kubeTime(cluster.clock.now()),
  };
  pod.status = { ...pod.status, conditions: [...others, scheduled] };
  await commit(cluster, at, { key: old.key, expect: old.revision, value: pod as unknown as KubeObject }, caller);
  return success();
}
