// `flotilla apply -f`: creates missing objects and merges existing ones, as `kubectl apply` does. Both keep the same
// annotation, so they can be used on one object in turn.
import type { KubeObject } from '../../api/object.ts';
import type { Target } from '../../api/transport.ts';
import { ApiError } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import { threeWayPatch } from '../../base/three-way-merge.ts';
import type { Connected } from '../server/connect.ts';
import { type Print, refer, targetOf } from '../server/target.ts';
import type { Manifest } from './manifests.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const MANAGER = 'flotilla-apply';

/** Applies one after the other. A refused object does not stop the rest; returns the number of refusals. */
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
  const suffix = options.dryRun ? ' (dry run)' : '';
  const { did, warnings } = await write(server, object, options.dryRun === true);
  warnings.forEach(print.warning);
  return `${refer(at)} ${did}${suffix}`;
}

/** The object as the server would store it, with defaults, by a dry run. Throws the error that the write would get. */
export const rehearse = async (server: Writer, object: KubeObject): Promise<KubeObject> =>
  (await write(server, object, true)).object;

type Writer = Pick<Connected, 'transport' | 'catalogue' | 'namespace'>;

interface Written {
  readonly did: 'created' | 'configured' | 'unchanged';
  readonly object: KubeObject;
  readonly warnings: readonly string[];
}

async function write(server: Writer, object: KubeObject, isRehearsal: boolean): Promise<Written> {
  const at = targetOf(server, object);
  const dryRun = isRehearsal ? ({ dryRun: true } as const) : {};
  const wanted = withLastApplied(object, at);
  const live = await find(server, at);
  if (!live) {
    const { name: _name, ...collection } = at;
    const { object: made = wanted, warnings } = await server.transport.call({
      verb: 'create',
      at: collection,
      object: wanted,
      manager: MANAGER,
      ...dryRun,
    });
    return { did: 'created', object: made, warnings };
  }
  const last = lastApplied(live);
  const body = threeWayPatch({ last, wanted: wanted as unknown as JsonObject, live: live as unknown as JsonObject });
  if (Object.keys(body).length === 0) return { did: 'unchanged', object: live, warnings: [] };
  const { object: after = live, warnings } = await server.transport.call({
    verb: 'patch',
    at,
    patch: { type: 'merge', body },
    manager: MANAGER,
    ...dryRun,
  });
  const isChanged = isRehearsal || after.metadata.resourceVersion !== live.metadata.resourceVersion;
  return { did: isChanged ? 'configured' : 'unchanged', object: after, warnings };
}

async function find(server: Pick<Connected, 'transport'>, at: Target): Promise<KubeObject | undefined> {
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
    // The annotation is malformed: without a record of the last applied configuration, nothing is removed.
    return {};
  }
}
