// Paths without a resource: health, version, metrics, the list of paths, and the documents about tokens.
import type { HttpCluster } from './http-cluster.ts';
import type { Metrics } from './metrics.ts';
import type { Choose, Form } from './negotiate.ts';
import { type Exchange, sendBytes, sendJson, sendText } from './respond.ts';
import { servedGroups } from './served-groups.ts';
import { versionDocument } from './version.ts';

export interface PlainRequest {
  readonly served: HttpCluster;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly metrics: Metrics;
  readonly choose: Choose;
}

const JSON_FORMS: ReadonlySet<Form> = new Set(['json']);

/** False: the path does not exist. */
export function servePlain(exchange: Exchange, request: PlainRequest): boolean | Promise<boolean> {
  const { served, path, query, metrics, choose } = request;
  const [, root = '', ...rest] = path.split('/');
  if (HEALTH.has(root)) return serveHealth(exchange, served, root, rest.join('/'), query);
  switch (path) {
    case '/version':
      choose(exchange.request.headers.accept, JSON_FORMS);
      sendJson(exchange, 200, versionDocument);
      return true;
    case '/':
      sendJson(exchange, 200, { paths: pathsOf(served) });
      return true;
    case '/metrics':
      return serveMetrics(exchange, served, metrics);
    case '/.well-known/openid-configuration':
      if (!served.openid) return false;
      sendJson(exchange, 200, served.openid.configuration(), { cacheControl: 'public, max-age=3600' });
      return true;
    case '/openid/v1/jwks': {
      if (!served.openid) return false;
      const bytes = Buffer.from(JSON.stringify(served.openid.keys()));
      sendBytes(exchange, 200, 'application/jwk-set+json', bytes, { cacheControl: 'public, max-age=3600' });
      return true;
    }
    default:
      return false;
  }
}

// ---- health

const HEALTH: ReadonlySet<string> = new Set(['healthz', 'livez', 'readyz']);

function serveHealth(
  exchange: Exchange,
  { checks }: HttpCluster,
  root: string,
  asked: string,
  query: URLSearchParams,
): boolean {
  const all = new Map<string, () => string | undefined>([['ping', () => undefined], ...Object.entries(checks ?? {})]);
  if (asked !== '') {
    const check = all.get(asked);
    if (!check) return false;
    const fault = faultOf(check);
    sendText(
      exchange,
      fault === undefined ? 200 : 500,
      fault === undefined ? 'ok' : `internal server error: ${fault}\n`,
    );
    return true;
  }
  const excluded = new Set(query.getAll('exclude'));
  const lines: string[] = [];
  let isFine = true;
  for (const [name, check] of all) {
    const fault = excluded.has(name) ? undefined : faultOf(check);
    if (fault !== undefined) isFine = false;
    lines.push(
      excluded.has(name)
        ? `[+]${name} excluded: ok`
        : fault === undefined
          ? `[+]${name} ok`
          : `[-]${name} failed: ${fault}`,
    );
  }
  for (const name of excluded) {
    if (!all.has(name))
      lines.push(`warn: some health checks cannot be excluded: no matches for ${JSON.stringify(name)}`);
  }
  const report = `${lines.join('\n')}\n${root} check ${isFine ? 'passed' : 'failed'}\n`;
  sendText(exchange, isFine ? 200 : 500, isFine && !query.has('verbose') ? 'ok' : report);
  return true;
}

function faultOf(check: () => string | undefined): string | undefined {
  try {
    return check();
  } catch {
    return 'reason withheld';
  }
}

// ---- the rest

async function serveMetrics(exchange: Exchange, { cluster }: HttpCluster, metrics: Metrics): Promise<boolean> {
  const { text, contentType } = await metrics.text([
    { name: 'flotilla_store_head_revision', help: 'Newest assigned revision.', value: cluster.store.head },
    { name: 'flotilla_store_visible_revision', help: 'Newest durable revision.', value: cluster.store.visible },
  ]);
  sendBytes(exchange, 200, contentType, Buffer.from(text));
  return true;
}

function pathsOf({ cluster, checks, openid }: HttpCluster): readonly string[] {
  const groups = servedGroups(cluster.registry).flatMap(({ name, versions }) => {
    const root = name === '' ? '/api' : `/apis/${name}`;
    return [root, ...versions.map(({ version }) => `${root}/${version}`)];
  });
  const health = [...HEALTH].flatMap((root) => [
    `/${root}`,
    ...['ping', ...Object.keys(checks ?? {})].map((name) => `/${root}/${name}`),
  ]);
  const tokens = openid ? ['/.well-known/openid-configuration', '/openid/v1/jwks'] : [];
  return ['/apis', '/metrics', '/openapi/v3', '/version', ...groups, ...health, ...tokens].sort();
}
