// The address of a server, its trust, and our credentials: plain data, created by kubeconfig.ts or in-cluster.ts, used
// by http.ts.
import type { JsonObject } from '../base/json.ts';

export interface Connection {
  /** Base address without a trailing slash, possibly with a path prefix. */
  readonly server: string;
  /** PEM. Absent: the system's CAs. */
  readonly ca?: string;
  readonly insecure: boolean;
  /** The name in the server's certificate, if it differs from the address. */
  readonly serverName?: string;
  /** Address of an HTTP proxy, used with CONNECT. */
  readonly proxy?: string;
  /** PEM, both or none. */
  readonly certificate?: string;
  readonly key?: string;
  readonly token?: string;
  /** The token is renewed in its file, which must be read again periodically. */
  readonly tokenIsRenewed?: boolean;
  /** A program to run or an identity provider to call, as in the kubeconfig. */
  readonly plugin?: LoginPlugin;
  readonly impersonate?: Impersonation;
  /** The context's namespace, by default `default`. */
  readonly namespace: string;
}

export interface LoginPlugin {
  readonly kind: 'exec' | 'auth-provider';
  readonly user: string;
  readonly config: JsonObject;
}

export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** Reads a file that a kubeconfig names, relative to the kubeconfig's own folder. Throws with a message for users. */
export type ReadFile = (path: string) => string;
