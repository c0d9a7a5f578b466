// The built program and a real server side by side, each with the same empty namespace.
import { randomBytes } from 'node:crypto';
import { type Server, startServer } from '../../wire/server.ts';
import { connectReal, type Judge } from '../real.ts';
import { askUntil, type Endpoint, endpointOf, type Reply, type Request } from '../server.ts';

export interface Both extends AsyncDisposable {
  readonly namespace: string;
  /** Of the real server, if that is another question there, `ofReal`. */
  ask(request: Request, ofReal?: Request): Promise<{ readonly ours: Reply; readonly real: Reply }>;
}

export async function startBoth(judge: Judge): Promise<Both> {
  const server: Server = await startServer();
  const [ours, real] = [endpointOf(server.kubeconfig), await connectReal(judge)];
  const namespace = `judge-${randomBytes(3).toString('hex')}`;
  for (const endpoint of [ours, real]) await makeNamespace(endpoint, namespace);
  return {
    namespace,
    async ask(request, ofReal = request) {
      const [first, second] = await Promise.all([ours.ask(request), real.ask(ofReal)]);
      return { ours: first, real: second };
    },
    async [Symbol.asyncDispose]() {
      await real.ask({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}` });
      ours.close();
      real.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Pods need its account. */
async function makeNamespace(endpoint: Endpoint, name: string): Promise<void> {
  await endpoint.ask({ path: '/api/v1/namespaces', body: { metadata: { name } } });
  const account = `/api/v1/namespaces/${name}/serviceaccounts/default`;
  const { code, text } = await askUntil(endpoint, { path: account }, (reply) => reply.code === 200);
  if (code !== 200) throw new Error(`namespace ${name} has no account: ${text}`);
}

/** Takes from a list one after the other, a few at once. */
export async function eachOf<T>(items: readonly T[], atOnce: number, run: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const working = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await run(next);
  };
  await Promise.all(Array.from({ length: atOnce }, working));
}
