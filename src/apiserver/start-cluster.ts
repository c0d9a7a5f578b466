// Starts one cluster: the objects of a fresh API server, the given kinds, and housekeeping. No sockets, no files.

import type { LiveCatalogue } from '../api/catalogue.ts';
import { crdOf } from '../api/crd.ts';
import type { Admission, Kind } from '../api/kind.ts';
import { groupVersionOf, type KubeObject } from '../api/object.ts';
import { type Clock, kubeTime } from '../base/clock.ts';
import { deepEqual } from '../base/json.ts';
import { type Random, seededRandom } from '../base/random.ts';
import { createAuthenticator } from './auth/authenticator.ts';
import type { SigningKey } from './auth/jwt.ts';
import { createAuthorizer } from './auth/rbac.ts';
import type { StaticTokens } from './auth/static-tokens.ts';
import { createTokens, issuerOf, jsonWebKeys, lookupIn, openIdConfiguration } from './auth/tokens.ts';
import { bootstrapObjects } from './builtin/bootstrap.ts';
import { builtinResources } from './builtin/registry.ts';
import type { Cluster } from './cluster.ts';
import { startCrdHousekeeping } from './housekeeping/crd.ts';
import { defaultEventLimits, type EventLimits, startEventExpiry } from './housekeeping/event-expiry.ts';
import { startHousekeeping } from './housekeeping/start.ts';
import type { HttpCluster } from './http/http-cluster.ts';
import { catalogueOf } from './live-catalogue.ts';
import { createRegistry } from './live-registry.ts';
import type { ServedResource } from './registry.ts';
import { createMemoryStore } from './store/memory.ts';
import { keyOf, type Store } from './store/store.ts';
import type { Image } from './store/visible-state.ts';
import { verbs } from './verbs/all.ts';

export interface StartOptions {
  readonly name: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly signingKey: SigningKey;
  readonly caCertificate: string;
  /** Our kinds that this cluster serves: their CRDs are installed, their admission is called in process. */
  readonly kinds: readonly Kind[];
  /** Admission of built-in kinds on this cluster, also called in process. */
  readonly admissions?: readonly Admission[];
  readonly staticTokens?: StaticTokens;
  readonly eventLimits?: Partial<EventLimits>;
  onError(error: unknown, what: string): void;
}

export interface RunningCluster extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly http: HttpCluster;
  readonly catalogue: LiveCatalogue;
  /** Resolves when housekeeping is idle. */
  settled(): Promise<void>;
}

export async function startCluster(options: StartOptions): Promise<RunningCluster> {
  const { name, store, clock, random, signingKey, caCertificate } = options;
  const registry = createRegistry(admitting(builtinResources(), options.admissions ?? []));
  const tokens = createTokens({ key: signingKey, issuer: issuerOf(name), lookup: lookupIn(store), clock, random });
  const authenticator = createAuthenticator({
    clock,
    tokens,
    ...(options.staticTokens ? { staticTokens: options.staticTokens } : {}),
  });
  const cluster: Cluster = {
    name,
    store,
    registry,
    clock,
    random,
    authorizer: createAuthorizer(store),
    tokens,
    checkToken: authenticator.checkToken,
    caCertificate,
  };
  await install(cluster, [...bootstrapObjects(), ...options.kinds.map(crdOf)]);
  const stopCrds = startCrdHousekeeping(cluster, {
    admission: admissionsOf(options.kinds),
    onServed: registry.setCustom,
    onError: options.onError,
  });
  const stopEvents = startEventExpiry(cluster, { ...defaultEventLimits, ...options.eventLimits }, options.onError);
  const housekeeping = startHousekeeping(cluster, { remove: verbs.remove, onError: options.onError });
  return {
    cluster,
    http: {
      cluster,
      verbs,
      authenticate: authenticator.authenticate,
      openid: {
        configuration: () => openIdConfiguration(tokens.issuer, signingKey, '/openid/v1/jwks'),
        keys: () => jsonWebKeys(signingKey),
      },
    },
    catalogue: catalogueOf(registry),
    settled: housekeeping.settled,
    async [Symbol.asyncDispose]() {
      stopCrds();
      stopEvents();
      housekeeping.stop();
    },
  };
}

/** The common content of clusters with the same kinds that start in the same second: built once and shared. */
const images = new WeakMap<readonly Kind[], { readonly begun: string; readonly image: Image }>();

/**
 * A store in memory with the objects of every fresh cluster of these kinds, except those of one cluster: its namespaces
 * and their content. A thousand members and every simulated world start from it.
 */
export async function freshMemoryStore(options: Pick<StartOptions, 'kinds' | 'clock' | 'signingKey'>): Promise<Store> {
  const begun = kubeTime(options.clock.now());
  const known = images.get(options.kinds);
  if (known?.begun === begun) return createMemoryStore({ image: known.image });
  const store = createMemoryStore();
  // A separate random stream, so that the image does not depend on which cluster needs it first.
  const running = await startCluster({
    ...options,
    name: '',
    store,
    random: seededRandom(0),
    caCertificate: '',
    onError: rethrow,
  });
  await running.settled();
  await running[Symbol.asyncDispose]();
  const { items, revision } = store.range('');
  const image = {
    items: items.filter(({ key }) => !key.startsWith('/namespaces/') && key.split('/')[2] === ''),
    revision,
  };
  images.set(options.kinds, { begun, image });
  return createMemoryStore({ image });
}

const rethrow = (error: unknown): never => {
  throw error;
};

/** Clusters without additional admission share the list, and its index. */
function admitting(resources: readonly ServedResource[], admissions: readonly Admission[]): readonly ServedResource[] {
  if (admissions.length === 0) return resources;
  return resources.map((resource) => {
    const found = admissions.find(({ group, kind }) => group === resource.group && kind === resource.kind);
    return found === undefined ? resource : Object.freeze({ ...resource, admission: found });
  });
}

const admissionsOf = (kinds: readonly Kind[]) => (group: string, kind: string) =>
  kinds.find(
    (each): each is Kind & Admission => each.group === group && each.kind === kind && each.admit !== undefined,
  );

/**
 * Creates missing objects, and updates our CRDs to the definitions of this version of the program. Other changes by
 * users stay.
 */
async function install(cluster: Cluster, objects: readonly KubeObject[]): Promise<void> {
  const creationTimestamp = kubeTime(cluster.clock.now());
  const commits = objects.flatMap((object) => {
    const found = cluster.registry.findKind(groupVersionOf(object.apiVersion).group, object.kind);
    if (!found) throw new Error(`no built-in kind ${object.kind}`);
    const { name = '', namespace = '' } = object.metadata;
    const key = keyOf(found.resource.group, found.resource.plural, namespace, name);
    const old = cluster.store.get(key, 'head');
    if (!old) {
      const metadata = { ...object.metadata, uid: cluster.random.uuid(), creationTimestamp };
      return [cluster.store.commit({ key, expect: 'absent', value: { ...object, metadata } }).durable];
    }
    const before = old.object();
    if (object.kind !== 'CustomResourceDefinition' || deepEqual(before.spec, object.spec)) return [];
    const generation = (before.metadata.generation ?? 0) + 1;
    const value = { ...before, metadata: { ...before.metadata, generation }, spec: object.spec };
    return [cluster.store.commit({ key, expect: old.revision, value }).durable];
  });
  await Promise.all(commits);
}
