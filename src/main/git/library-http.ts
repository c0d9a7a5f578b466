// The HTTP client of isomorphic-git on node:http: uses the certificates of the source, limits the size, and with
// credentials does not follow redirects to another host.
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { GitHttpRequest, GitHttpResponse, HttpClient } from 'isomorphic-git';
import { GitError, type GitSource } from '../../hub/git/repository.ts';
import { UNKNOWN_AUTHORITY } from './repositories.ts';

export interface LibraryHttpOptions {
  readonly source: Pick<GitSource, 'credentials' | 'caBundle' | 'insecureSkipTLSVerify'>;
  /** The size of all responses together. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** Some servers return an HTML page to clients whose User-Agent does not begin with `git/`. */
const AGENT = 'git/isomorphic-git';
const MAX_REDIRECTS = 5;
const FIRST = '/info/refs?service=git-upload-pack';

export function libraryHttp({ source, maxBytes, signal }: LibraryHttpOptions): HttpClient {
  const { credentials, caBundle: ca, insecureSkipTLSVerify } = source;
  /** The redirect of the first request, which applies to the following ones too. */
  let moved: { readonly from: string; readonly to: string } | undefined;
  let left = maxBytes;

  async function sent(url: string, { method = 'GET', headers = {} }: GitHttpRequest, body: Buffer | undefined) {
    const { protocol } = new URL(url);
    const options = {
      method,
      headers: { 'user-agent': AGENT, ...headers, ...(body === undefined ? {} : { 'content-length': body.length }) },
      signal,
      // Connections are not kept alive, because polls are far apart.
      agent: false as const,
    };
    const tls = { ...(ca === undefined ? {} : { ca }), rejectUnauthorized: insecureSkipTLSVerify !== true };
    return new Promise<IncomingMessage>((done, failed) => {
      const request =
        protocol === 'https:' ? requestHttps(url, { ...options, ...tls }, done) : requestHttp(url, options, done);
      request.on('error', failed);
      request.end(body);
    });
  }

  async function contentOf(response: IncomingMessage): Promise<readonly Uint8Array[]> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of response) {
      left -= (chunk as Buffer).length;
      if (left < 0) {
        const message = `the repository takes more than ${maxBytes} bytes, which is too much without the program git`;
        throw new GitError('RepositoryTooLarge', message);
      }
      chunks.push(chunk as Buffer);
    }
    return chunks;
  }

  return {
    async request(asked): Promise<GitHttpResponse> {
      const body = asked.body === undefined ? undefined : await whole(asked.body);
      let url =
        moved !== undefined && asked.url.startsWith(moved.from) ? asked.url.replace(moved.from, moved.to) : asked.url;
      for (let redirects = 0; ; redirects++) {
        let response: IncomingMessage;
        let chunks: readonly Uint8Array[];
        try {
          response = await sent(url, asked, body);
          chunks = await contentOf(response);
        } catch (error) {
          signal.throwIfAborted();
          throw error instanceof GitError ? error : unreachable(url, error);
        }
        const { statusCode = 0, statusMessage = '', headers } = response;
        const { location } = headers;
        if (statusCode < 300 || statusCode > 399 || location === undefined) {
          const plain = Object.entries(headers).map(([name, value]) => [name, String(value)] as const);
          return {
            url,
            method: asked.method ?? 'GET',
            statusCode,
            statusMessage,
            headers: Object.fromEntries(plain),
            body: inParts(chunks),
          };
        }
        const next = redirectTo(url, location);
        if (credentials !== undefined || next === undefined || redirects === MAX_REDIRECTS || !url.endsWith(FIRST))
          throw new GitError('FetchFailed', 'the server sends on to another address, which is refused');
        moved = { from: asked.url.slice(0, -FIRST.length), to: next.slice(0, -FIRST.length) };
        url = next;
      }
    },
  };
}

/** Only to the same request elsewhere, and never from https to http. */
function redirectTo(url: string, location: string): string | undefined {
  const next = URL.canParse(location, url) ? new URL(location, url) : undefined;
  if (next === undefined || !next.href.endsWith(FIRST) || next.username !== '') return undefined;
  return next.protocol === 'https:' || (next.protocol === 'http:' && url.startsWith('http:')) ? next.href : undefined;
}

const UNVERIFIED: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

function unreachable(url: string, cause: unknown): GitError {
  const { code, message = '' } = cause as NodeJS.ErrnoException;
  const { host } = new URL(url);
  if (UNVERIFIED.has(code ?? '')) {
    const unverified = `cannot verify the certificate of ${host}: ${message}; ${UNKNOWN_AUTHORITY}`;
    return new GitError('FetchFailed', unverified, { cause });
  }
  const proxy = ['HTTPS_PROXY', 'HTTP_PROXY'].some((name) => process.env[name] ?? process.env[name.toLowerCase()]);
  const hint = proxy ? '; a proxy is used by the program git only, which is not on PATH of the hub' : '';
  const why = message === '' ? (code ?? 'no answer') : message;
  return new GitError('FetchFailed', `cannot reach ${host}: ${why}${hint}`, { cause });
}

async function whole(body: NonNullable<GitHttpRequest['body']>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* inParts(chunks: readonly Uint8Array[]): AsyncIterableIterator<Uint8Array> {
  yield* chunks;
}
