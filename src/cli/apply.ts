// `flotilla apply -f`: creates what is not there and merges what is, as `kubectl apply` does. Both keep the same annotation, so the two can
// be used on one object in turn.
import type { KubeObject } from '../api/object.ts';
import type { Target } from '../api/transport.ts';
import { ApiError } from '../base/errors.ts';
import { isObject, type JsonObject } from '../base/json.ts';
import { threeWayPatch } from '../base/three-way-merge.ts';
import type { Connected } from './connect.ts';
import type { Manifest } from './manifests.ts';
import { type Print, refer, targetOf } from './target.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const MANAGER = 'flotilla-apply';

/** Applies one after the other. A refused object does not stop the rest; the number of refusals comes back. */
export async function apply(
  server: Connected,
  manifests: readonly Manifest[],
  options: { readonly dryRun?: boolean },
  print: Print,
): Promise<number> {
  let refused = 0;
  for (const manifest of manifests) {
    try {
      print.line(await applyOne(server, manifest, options, print));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refused += 1;
      print.error(`${manifest.source}: ${error.message}`);
    }
  }
  return refused;
}

async function applyOne(
  server: Connected,
  { object }: Manifest,
  options: { readonly dryRun?: boolean },
  print: Print,
): Promise<string> {
  const at = targetOf(server, object);
  const dryRun = options.dryRun ? ({ dryRun: true } as const) : {};
  const suffix = options.dryRun ? ' (dry run)' : '';
  const wanted = withLastApplied(object, at);
  const live = await find(server, at);
  if (!live) {
    const { name: _name, ...collection } = at;
    const { warnings } = await server.transport.call({
      verb: 'create',
      at: collection,
      object: wanted,
      manager: MANAGER,
      ...dryRun,
    });
    warnings.forEach(print.warning);
    return `${refer(at)} created${suffix}`;
  }
  const last = lastApplied(live);
  const body = threeWayPatch({ last, wanted: wanted as unknown as JsonObject, live: live as unknown as JsonObject });
  if (Object.keys(body).length === 0) return `${refer(at)} unchanged${suffix}`;
  const { object: after, warnings } = await server.transport.call({
    verb: 'patch',
    at,
    patch: { type: 'merge', body },
    manager: MANAGER,
    ...dryRun,
  });
  warnings.forEach(print.warning);
  const isChanged = options.dryRun || after?.metadata.resourceVersion !== live.metadata.resourceVersion;
  return `${refer(at)} ${isChanged ? 'configured' : 'unchanged'}${suffix}`;
}

async function find(server: Connected, at: Target): Promise<KubeObject | undefined> {
  try {
    return (await server.transport.call({ verb: 'get', at })).object;
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'NotFound') return undefined;
    throw error;
  }
}

function withLastApplied(object: KubeObject, at: Target): KubeObject {
  const { [LAST_APPLIED]: _old, ...annotations } = object.metadata.annotations ?? {};
  const { annotations: _none, ...metadata } = object.metadata;
  const plain = {
    ...object,
    metadata: {
      ...metadata,
      annotations,
      ...(at.namespace === undefined ? {} : { namespace: at.namespace }),
    },
  };
  const text = `${JSON.stringify(plain)}\n`;
  return { ...plain, metadata: { ...plain.metadata, annotations: { ...annotations, [LAST_APPLIED]: text } } };
}

function lastApplied(live: KubeObject): JsonObject {
  try {
    const value: unknown = JSON.parse(live.metadata.annotations?.[LAST_APPLIED] ?? '{}');
    return isObject(value) ? (value as JsonObject) : {};
  } catch {
    // Somebody wrote nonsense there: without a record of what we wanted, nothing is taken out.
    return {};
  }
}
