// A real Git server on loopback for tests: git http-backend behind node:http or node:https, and a working copy to commit with.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createAuthority, DAY_MS, issueServerCertificate } from '../src/apiserver/auth/certificates.ts';
import { systemRandom } from '../src/base/random.ts';

export interface GitServer extends AsyncDisposable {
  readonly url: string;
  /** PEM: the authority of its certificate, which no machine knows. Undefined = it answers without TLS. */
  readonly ca: string | undefined;
  /** Requests so far: `GET /repo.git/info/refs`. */
  readonly requests: string[];
  /** Answers to every request from now on: a status, or never. */
  trouble: number | 'silence' | undefined;
  /** Sends requests for refs on to another repository. */
  redirectTo: string | undefined;
  /** Requests for objects so far. */
  readonly transfers: number;
  /** Authorization headers so far. */
  readonly authorizations: readonly string[];
  /** The repository, and the working copy that commits are made in. */
  readonly bare: string;
  readonly work: string;
  /** `user:password` that is asked for. */
  login: string | undefined;
  /** Writes files, null removes one, and pushes a commit to a branch. Returns its id. */
  commit(files: Readonly<Record<string, string | null>>, options?: CommitOptions): string;
  git(...args: string[]): string;
}

export interface CommitOptions {
  readonly branch?: string;
  readonly force?: boolean;
  readonly tag?: string;
}

const ENV = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'test',
  GIT_AUTHOR_EMAIL: 'test@example.com',
  GIT_COMMITTER_NAME: 'test',
  GIT_COMMITTER_EMAIL: 'test@example.com',
};

export interface GitServerOptions {
  /** The names and addresses that its certificate is for; without any, it answers without TLS. */
  readonly tls?: readonly string[];
}

export async function aGitServer({ tls }: GitServerOptions = {}): Promise<GitServer> {
  const root = mkdtempSync(join(tmpdir(), 'git-server-'));
  const bare = join(root, 'repo.git');
  const work = join(root, 'work');
  const inside = (cwd: string, ...args: string[]) =>
    execFileSync('git', args, { cwd, env: ENV, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  inside(root, 'init', '--quiet', '--bare', '--initial-branch=main', bare);
  inside(bare, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
  inside(root, 'init', '--quiet', '--initial-branch=main', work);
  const backend = join(inside(root, '--exec-path'), 'git-http-backend');
  const state: Pick<GitServer, 'trouble' | 'login' | 'redirectTo' | 'transfers'> = {
    trouble: undefined,
    login: undefined,
    redirectTo: undefined,
    get transfers() {
      return transfers;
    },
  };
  const requests: string[] = [];
  const authorizations: string[] = [];
  let transfers = 0;
  const listener: RequestListener = (request, response) => {
    requests.push(`${request.method} ${request.url?.split('?')[0]}`);
    if (state.trouble === 'silence') return;
    if (state.trouble !== undefined) return void response.writeHead(state.trouble).end();
    const given = request.headers.authorization;
    if (given !== undefined) authorizations.push(given);
    if (state.redirectTo !== undefined) {
      const location = state.redirectTo + (request.url ?? '').replace(/^\/repo\.git/, '');
      return void response.writeHead(302, { location }).end();
    }
    if (state.login !== undefined && given !== `Basic ${Buffer.from(state.login).toString('base64')}`)
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
    const isSecond = request.headers['git-protocol'] === 'version=2';
    if (request.method === 'POST' && !isSecond) transfers++;
    else if (request.method === 'POST')
      request.once('data', (chunk: Buffer) => {
        if (chunk.includes('command=fetch')) transfers++;
      });
    answer(request, response, { root, backend });
  };
  const certificates = tls === undefined ? undefined : certificatesFor(tls);
  const server = certificates === undefined ? createServer(listener) : createTlsServer(certificates, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    url: `http${tls === undefined ? '' : 's'}://127.0.0.1:${port}/repo.git`,
    ca: certificates?.ca,
    requests,
    authorizations,
    bare,
    work,
    git: (...args: string[]) => inside(work, ...args),
    commit(files: Readonly<Record<string, string | null>>, { branch = 'main', force, tag }: CommitOptions = {}) {
      for (const [path, text] of Object.entries(files)) {
        const file = join(work, path);
        if (text === null) rmSync(file, { recursive: true });
        else {
          mkdirSync(dirname(file), { recursive: true });
          writeFileSync(file, text);
        }
      }
      inside(work, 'add', '-A');
      inside(work, 'commit', '--quiet', '--allow-empty', '-m', 'change');
      if (tag !== undefined) inside(work, 'tag', '-a', '-f', '-m', tag, tag);
      const forced = force ? ['--force'] : [];
      inside(work, 'push', '--quiet', ...forced, bare, `HEAD:refs/heads/${branch}`);
      if (tag !== undefined) inside(work, 'push', '--quiet', '--force', bare, `refs/tags/${tag}`);
      return inside(work, 'rev-parse', 'HEAD');
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(root, { recursive: true, force: true });
    },
  });
}

function certificatesFor(hosts: readonly string[]) {
  const issuing = { now: Date.now(), random: systemRandom, lifetimeMs: DAY_MS };
  const authority = createAuthority({ ...issuing, name: 'tests' });
  const { certificate, privateKey } = issueServerCertificate(authority, { ...issuing, hosts });
  return { ca: authority.certificate, cert: certificate, key: privateKey };
}

/** CGI: the request in the environment and on stdin, headers and body on stdout. */
function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { root, backend }: { readonly root: string; readonly backend: string },
): void {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const child = spawn(backend, [], {
    env: {
      ...ENV,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      ...(request.headers['content-encoding'] === undefined
        ? {}
        : { HTTP_CONTENT_ENCODING: request.headers['content-encoding'] }),
      ...(request.headers['content-length'] === undefined ? {} : { CONTENT_LENGTH: request.headers['content-length'] }),
    },
  });
  child.on('error', () => response.destroy());
  child.stdin.on('error', () => {});
  request.pipe(child.stdin);
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.on('close', () => {
    const output = Buffer.concat(chunks);
    const end = output.indexOf('\r\n\r\n');
    const headers = output
      .subarray(0, Math.max(0, end))
      .toString('latin1')
      .split('\r\n')
      .map((line) => line.split(': ') as [string, string]);
    const status = headers.find(([name]) => name.toLowerCase() === 'status')?.[1] ?? '200';
    const sent = headers.filter(([name]) => name !== '' && name.toLowerCase() !== 'status');
    response.writeHead(Number.parseInt(status, 10), Object.fromEntries(sent)).end(output.subarray(end + 4));
  });
}
