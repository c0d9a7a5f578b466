// Plain https requests to a server under test, as the user of its kubeconfig or as nobody: for what no client library would send.
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, type RequestOptions, request } from 'node:https';
import { connect, type TLSSocket } from 'node:tls';
import { parseYaml } from '../../src/base/yaml.ts';

export interface Reply {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Parsed when it is JSON. */
  readonly json: Readonly<Record<string, unknown>> | undefined;
}

export interface Sent {
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** Without the client certificate. */
  readonly anonymous?: true;
}

export interface Connection {
  readonly server: string;
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

/** What a kubeconfig of ours holds. */
export function connectionOf(kubeconfig: string): Connection {
  const { clusters, users } = parseYaml(readFileSync(kubeconfig, 'utf8')) as {
    readonly clusters: readonly [{ readonly cluster: Readonly<Record<string, string>> }];
    readonly users: readonly [{ readonly user: Readonly<Record<string, string>> }];
  };
  const { cluster } = clusters[0];
  const { user } = users[0];
  const pem = (text = '') => Buffer.from(text, 'base64').toString();
  return {
    server: cluster['server'] as string,
    ca: pem(cluster['certificate-authority-data']),
    certificate: pem(user['client-certificate-data']),
    key: pem(user['client-key-data']),
  };
}

function optionsFor(kubeconfig: string, method: string, path: string, sent: Sent): RequestOptions {
  const { server, ca, certificate, key } = connectionOf(kubeconfig);
  const url = new URL(server);
  return {
    host: url.hostname,
    port: url.port,
    // Taken literally: URL would tidy up what these tests are about.
    path: `${url.pathname === '/' ? '' : url.pathname}${path}`,
    method,
    ca,
    ...(sent.anonymous ? {} : { cert: certificate, key }),
    headers: {
      accept: 'application/json',
      ...(sent.body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(sent.body)) }),
      ...sent.headers,
    },
    agent: new Agent({ keepAlive: false }),
  };
}

export function call(kubeconfig: string, method: string, path: string, sent: Sent = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const outgoing = request(optionsFor(kubeconfig, method, path, sent), async (response) =>
      resolve(await replyOf(response)),
    );
    outgoing.on('error', reject);
    outgoing.end(sent.body);
  });
}

async function replyOf(response: IncomingMessage): Promise<Reply> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const isJson = response.headers['content-type']?.startsWith('application/json') && text !== '';
  return {
    code: response.statusCode ?? 0,
    headers: response.headers,
    text,
    json: isJson ? (JSON.parse(text) as Reply['json']) : undefined,
  };
}

/** An answer that has begun and is read by the caller: a watch. */
export function open(kubeconfig: string, path: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request(optionsFor(kubeconfig, 'GET', path, {}), resolve);
    outgoing.on('error', reject);
    outgoing.end();
  });
}

/** A socket on which anything may be written. */
export function rawSocket(kubeconfig: string): Promise<TLSSocket> {
  const { server, ca, certificate, key } = connectionOf(kubeconfig);
  const url = new URL(server);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: url.hostname, port: Number(url.port), ca, cert: certificate, key }, () =>
      resolve(socket),
    );
    socket.once('error', reject);
  });
}
