// Plain http is for programs on this machine. A foreign web page must not reach it through the user's browser, neither
// with a cross-origin request nor with its own name that resolves to 127.0.0.1.

const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);

export const isLoopback = (host: string): boolean => LOOPBACK_HOSTS.has(host);

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/** Why a request is rejected, or undefined. */
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
