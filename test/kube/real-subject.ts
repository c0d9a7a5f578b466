// A real API server in the place of one of ours, for what test/conformance asks of every transport. All tests share it, so each leaves it as it was
// found: what has come since is removed, and the next test begins when it is gone.
import { connectionAs, type Plane } from '../../scripts/kube/plane.ts';
import type { KubeObject, User } from '../../src/api/object.ts';
import type { Target, Transport } from '../../src/api/transport.ts';
import { wallClock } from '../../src/base/clock.ts';
import { type Catalogue, discover } from '../../src/client/discovery.ts';
import { type HttpTransport, httpTransport } from '../../src/client/http.ts';
import { admin } from '../cluster.ts';
import type { StartServed } from '../conformance/subjects.ts';

/** Of the kinds that the tests make, all that may be left when one ends. */
const MADE = ['configmaps', 'deployments', 'pods', 'serviceaccounts', 'namespaces'] as const;

export interface RealServer extends Disposable {
  readonly start: StartServed;
}

/** The plane runs, and no workloads move on it. */
export async function realServer(plane: Plane): Promise<RealServer> {
  const known = new Map<string, HttpTransport>();
  const as = (user: User): HttpTransport => {
    const name = JSON.stringify(user);
    const transport = known.get(name) ?? httpTransport(connectionAs(plane, user), { clock: wallClock });
    known.set(name, transport);
    return transport;
  };
  const own = as(admin);
  const catalogue = await discover(own);
  const at = (plural: string, namespace?: string, name?: string): Target => ({
    resource: plain(catalogue, plural),
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  });
  // What the server's own controllers put into each namespace.
  await inEachNamespace(own, at('configmaps'), 'kube-root-ca.crt');
  await inEachNamespace(own, at('serviceaccounts'), 'default');
  const there = async (plural: string): Promise<readonly KubeObject[]> =>
    (await own.call({ verb: 'list', at: at(plural) })).list?.items ?? [];
  const before = new Set((await Promise.all(MADE.map(there))).flat().map(({ metadata }) => metadata.uid));
  const tidy = async () => {
    for (const plural of MADE) {
      const added = (await there(plural)).filter(({ metadata }) => !before.has(metadata.uid));
      await Promise.all(added.map(({ metadata }) => remove(own, at(plural, metadata.namespace, metadata.name))));
    }
  };
  return {
    start: async () => ({
      as,
      at,
      pluralOf: (kind) => catalogue.resources.find((each) => each.kind === kind)?.plural ?? '',
      [Symbol.asyncDispose]: tidy,
    }),
    [Symbol.dispose]() {
      for (const transport of known.values()) transport.close();
    },
  };
}

const plain = (catalogue: Catalogue, word: string) => {
  const { group, version, kind, plural, namespaced } = catalogue.byWord(word);
  return { group, version, kind, plural, namespaced };
};

/** Whoever holds it up is not waited for. Resolves when it is gone. */
async function remove(transport: Transport, at: Target): Promise<void> {
  const isNamespace = at.resource.plural === 'namespaces';
  const free = { type: 'merge', body: { metadata: { finalizers: null } } } as const;
  const { object: held } = await transport.call({ verb: 'patch', at, patch: free, manager: 'test' });
  const left = await transport.call({ verb: 'delete', at, ...(isNamespace ? {} : { graceSeconds: 0 }) });
  const [revision, isGone] = [held?.metadata.resourceVersion ?? '', left.object === undefined];
  if (!isNamespace || isGone) return;
  const spec = (left.object?.spec ?? {}) as { readonly finalizers?: readonly string[] };
  if (spec.finalizers?.some((each) => each !== 'kubernetes')) {
    const object = { ...(left.object as KubeObject), spec: { finalizers: ['kubernetes'] } };
    await transport.call({ verb: 'update', at: { ...at, subresource: 'finalize' }, object, manager: 'test' });
  }
  const { resource, name } = at;
  const watch = { at: { resource }, revision, fields: `metadata.name=${name}` };
  for await (const batch of transport.watch(watch, new AbortController().signal))
    if (batch.some(({ type }) => type === 'DELETED')) return;
}

/** Those that a server has from its start. */
const NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

async function inEachNamespace(transport: Transport, at: Target, name: string): Promise<void> {
  const missing = new Set(NAMESPACES);
  const watch = { at, fields: `metadata.name=${name}` };
  for await (const batch of transport.watch(watch, new AbortController().signal)) {
    for (const { object } of batch) missing.delete(object.metadata.namespace ?? '');
    if (missing.size === 0) return;
  }
}
