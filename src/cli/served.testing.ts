// The real API server over https with some objects and their status, as commands find it, and what they print. No hub
// runs.
import { onTestFinished } from 'vitest';
import { admin, theHub } from '../../test/cluster.ts';
import { http1, type Start, type Subject } from '../../test/conformance/subjects.ts';
import { hubKinds } from '../api/kinds.ts';
import { groupVersionOf, type KubeObject, type User } from '../api/object.ts';
import type { Request, SubresourceName, Transport } from '../api/transport.ts';
import { discover } from '../client/discovery.ts';
import type { HttpTransport } from '../client/http.ts';

export interface Serving {
  readonly subject: Subject;
  /** Creates an object, or replaces its status. */
  write(object: KubeObject): Promise<void>;
  /** The connection that a command gets. */
  server(as?: User): Promise<{
    readonly transport: HttpTransport;
    readonly catalogue: Awaited<ReturnType<typeof discover>>;
    readonly namespace: string;
  }>;
}

/** Stops with the test. */
export async function serving(
  objects: readonly KubeObject[],
  options: Parameters<Start>[0] = { kinds: hubKinds },
): Promise<Serving> {
  const subject = await http1(options);
  onTestFinished(() => subject[Symbol.asyncDispose]());
  const { cluster } = subject;
  const hub = cluster.as(theHub);
  const write = async (object: KubeObject) => {
    const found = cluster.running.cluster.registry.all().find(({ kind }) => kind === object.kind);
    const place = cluster.at(found?.plural ?? object.kind, object.metadata.namespace);
    const at = { ...place, resource: { ...place.resource, version: groupVersionOf(object.apiVersion).version } };
    const { name = '' } = object.metadata;
    const { resourceVersion: _version, uid: _uid, deletionTimestamp: _going, ...metadata } = object.metadata;
    const made = await hub
      .call({ verb: 'get', at: { ...at, name } })
      .catch(() => hub.call({ verb: 'create', at, object: { ...object, metadata }, manager: 'test' }));
    if (object.status === undefined) return;
    const status = aboutGeneration(object.status, made.object?.metadata.generation ?? 1);
    const target = { ...at, name, subresource: 'status' as SubresourceName };
    const now = { ...object, metadata: { ...made.object?.metadata }, status };
    await hub.call({ verb: 'update', at: target, object: now, manager: 'test' });
  };
  for (const object of objects) await write(object);
  return {
    subject,
    write,
    async server(as = admin) {
      const transport = subject.as(as) as HttpTransport;
      return { transport, catalogue: await discover(transport), namespace: 'default' };
    },
  };
}

/** Records what a command prints. */
export function printing() {
  const out: string[] = [];
  const errors: string[] = [];
  const heard: (() => void)[] = [];
  return {
    out,
    errors,
    text: () => out.join('\n'),
    /** Resolves at the next printed line. */
    told: () => new Promise<void>((resolve) => heard.push(resolve)),
    print: {
      line(text: string) {
        out.push(text);
        for (const hear of heard.splice(0)) hear();
      },
      warning: (text: string) => void errors.push(text),
      error: (text: string) => void errors.push(text),
    },
  };
}

/** The same server, with a callback for every request. */
export const overheard = <S extends { readonly transport: Transport }>(
  server: S,
  note: (request: Request) => void,
): S => ({
  ...server,
  transport: {
    ...server.transport,
    call: (request, signal) => {
      note(request);
      return server.transport.call(request, signal);
    },
  } satisfies Transport,
});

/** The server sets generations, so a status for the present one must use its number. */
function aboutGeneration(status: unknown, generation: number): unknown {
  return JSON.parse(JSON.stringify(status), (key, value) =>
    key === 'observedGeneration' && value > 0 ? generation : value,
  );
}
