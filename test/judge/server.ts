// The two API servers that are compared: the built program, and a real Kubernetes if one can be had. Requests go over connections that
// stay open: the judge asks thousands of questions.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { patience } from '../../scripts/gate/patience.ts';
import { parseYaml } from '../../src/base/yaml.ts';

export interface Request {
  /** Absent = GET, or POST where there is a body. */
  readonly method?: string;
  readonly path: string;
  /** JSON, or a text that is sent as it is. */
  readonly body?: unknown;
  /** Content type of the body; absent = JSON. A text is sent as it is. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Without the client certificate. */
  readonly anonymous?: true;
}

export interface Reply {
  readonly code: number;
  readonly warnings: readonly string[];
  readonly type: string;
  readonly text: string;
}

/** A server may hang up instead of answering. */
const CUT: Reply = { code: 0, warnings: [], type: '', text: 'the connection was cut' };

export interface Endpoint {
  readonly kubeconfig: string;
  ask(asked: Request): Promise<Reply>;
  close(): void;
}

const LOOK_AGAIN_MS = 50;
/** What is done in the background takes no longer. */
const PATIENCE_MS = patience(30_000);

/** Asks again until the answer is the one that is waited for, as somebody works on it in the background, but not for ever. Returns the last answer. */
export async function askUntil(endpoint: Endpoint, asked: Request, isIt: (reply: Reply) => boolean): Promise<Reply> {
  const givenUp = Date.now() + PATIENCE_MS;
  for (;;) {
    const reply = await endpoint.ask(asked);
    if (isIt(reply) || Date.now() >= givenUp) return reply;
    await sleep(LOOK_AGAIN_MS);
  }
}

interface KubeConfig {
  readonly 'current-context'?: string;
  readonly contexts: readonly {
    readonly name: string;
    readonly context: { readonly cluster: string; readonly user: string };
  }[];
  readonly clusters: readonly { readonly name: string; readonly cluster: Readonly<Record<string, string>> }[];
  readonly users: readonly { readonly name: string; readonly user: Readonly<Record<string, string>> }[];
}

/** Connects as the user of a context of a kubeconfig that holds its certificates. */
export function endpointOf(kubeconfig: string, context?: string): Endpoint {
  const config = parseYaml(readFileSync(kubeconfig, 'utf8')) as KubeConfig;
  const wanted = context ?? config['current-context'];
  const found = config.contexts.find(({ name }) => name === wanted) ?? config.contexts[0];
  const cluster = config.clusters.find(({ name }) => name === found?.context.cluster)?.cluster;
  const user = config.users.find(({ name }) => name === found?.context.user)?.user;
  if (cluster === undefined || user === undefined) throw new Error(`${kubeconfig} has no context ${wanted ?? ''}`);
  const pem = (name: string, from: Readonly<Record<string, string>>) => Buffer.from(from[name] ?? '', 'base64');
  const url = new URL(cluster['server'] as string);
  const shared = { keepAlive: true, maxSockets: 16, ca: pem('certificate-authority-data', cluster) };
  const agents = {
    known: new Agent({ ...shared, cert: pem('client-certificate-data', user), key: pem('client-key-data', user) }),
    anonymous: new Agent(shared),
  };
  const prefix = url.pathname === '/' ? '' : url.pathname;
  const ask = ({ method, path, body, type = 'application/json', headers = {}, anonymous }: Request): Promise<Reply> => {
    const sent = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const about = {
      agent: anonymous ? agents.anonymous : agents.known,
      host: url.hostname,
      port: url.port,
      path: prefix + path,
      method: method ?? (sent === undefined ? 'GET' : 'POST'),
      headers: {
        accept: 'application/json',
        ...(sent === undefined ? {} : { 'content-type': type, 'content-length': String(Buffer.byteLength(sent)) }),
        ...headers,
      },
    };
    return new Promise((resolve, reject) => {
      const outgoing = request(about, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const warnings = response.headers['warning'];
          resolve({
            code: response.statusCode ?? 0,
            warnings: warnings === undefined ? [] : warnings.split(/, (?=299 )/),
            type: response.headers['content-type'] ?? '',
            text: Buffer.concat(chunks).toString(),
          });
        });
      });
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNRESET' || error.code === 'EPIPE') resolve(CUT);
        else reject(error);
      });
      outgoing.end(sent);
    });
  };
  const close = () => {
    for (const agent of Object.values(agents)) agent.destroy();
  };
  return { kubeconfig, ask, close };
}
