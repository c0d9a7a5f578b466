// Plain http is for programs of this machine. A web page from elsewhere must not get in through the user's browser: neither by a
// request across origins nor by a name of its own that it lets point at 127.0.0.1.

const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);

export const isLoopback = (host: string): boolean => LOOPBACK_HOSTS.has(host);

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/** What speaks against a request, or undefined. */
export function loopbackFault(
  headers: { readonly host?: string | undefined; readonly origin?: string | undefined },
  port: number,
): string | undefined {
  const hosts = LOOPBACK_NAMES.flatMap((name) => [`${name}:${port}`, ...(port === 80 ? [name] : [])]);
  const host = headers.host?.toLowerCase();
  if (host === undefined || !hosts.includes(host)) {
    return `forbidden: this server only answers to ${hosts.join(', ')}, not to the host of this request`;
  }
  if (headers.origin !== undefined && headers.origin.toLowerCase() !== `http://${host}`) {
    return 'forbidden: this server does not answer pages of other origins';
  }
  return undefined;
}
