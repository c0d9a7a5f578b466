// URLs of requests: absolute, or a path with its query. Parts are kept as written, not normalized.

export interface UrlParts {
  readonly scheme: string;
  /** With the port. */
  readonly host: string;
  readonly hostname: string;
  readonly port: string;
  readonly escapedPath: string;
  readonly query: ReadonlyMap<string, readonly string[]>;
}

const ABSOLUTE = /^([a-zA-Z][a-zA-Z0-9+.-]*):(?:\/\/([^/?#]*))?([^?#]*)(?:\?(.*))?$/;
const HOST = /^(?:[^@]*@)?(\[[0-9a-fA-F:.%]+\]|[^:[\]]*)(?::(\d*))?$/;

export function parseUrl(text: string): UrlParts | undefined {
  if (text === '' || /[\p{Cc} ]/u.test(text)) return undefined;
  if (text.startsWith('/')) {
    const [path = '', query] = cut(text, '?');
    return hasGoodEscapes(path) ? { ...NO_HOST, escapedPath: path, query: queryOf(query) } : undefined;
  }
  const found = ABSOLUTE.exec(text);
  if (found === null) return undefined;
  const [, scheme = '', authority = '', path = '', query] = found;
  const host = HOST.exec(authority);
  if (host === null || !hasGoodEscapes(path)) return undefined;
  // `mailto:x` has no path: it is opaque.
  if (!path.startsWith('/') && path !== '' && authority === '') {
    return { ...NO_HOST, scheme: scheme.toLowerCase(), escapedPath: '', query: queryOf(query) };
  }
  return {
    scheme: scheme.toLowerCase(),
    host: authority.slice(authority.lastIndexOf('@') + 1),
    hostname: (host[1] ?? '').replace(/^\[|\]$/g, ''),
    port: host[2] ?? '',
    escapedPath: path,
    query: queryOf(query),
  };
}

const NO_HOST = { scheme: '', host: '', hostname: '', port: '' };

const hasGoodEscapes = (text: string): boolean => !/%(?![0-9a-fA-F]{2})/.test(text);

function cut(text: string, at: string): readonly [string, string | undefined] {
  const index = text.indexOf(at);
  return index < 0 ? [text, undefined] : [text.slice(0, index), text.slice(index + 1)];
}

function queryOf(text: string | undefined): ReadonlyMap<string, readonly string[]> {
  const query = new Map<string, string[]>();
  for (const part of (text ?? '').split('&')) {
    if (part === '' || part.includes(';')) continue;
    const [key, value = ''] = cut(part, '=');
    const name = unescaped(key);
    const decoded = unescaped(value);
    if (name === undefined || decoded === undefined) continue;
    const values = query.get(name);
    if (values === undefined) query.set(name, [decoded]);
    else values.push(decoded);
  }
  return query;
}

function unescaped(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
