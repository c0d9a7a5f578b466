// Where a server is, how it is trusted and who we are to it: plain data, found by kubeconfig.ts or in-cluster.ts, used by http.ts.
import type { JsonObject } from '../base/json.ts';

export interface Connection {
  /** Base address without a slash at its end, perhaps with a path prefix. */
  readonly server: string;
  /** PEM. Absent: what the system trusts. */
  readonly ca?: string;
  readonly insecure: boolean;
  /** The name in the server's certificate, if it is not that of the address. */
  readonly serverName?: string;
  /** Address of an HTTP proxy, which is asked for a tunnel. */
  readonly proxy?: string;
  /** PEM, always both or none. */
  readonly certificate?: string;
  readonly key?: string;
  readonly token?: string;
  /** The token is renewed in the file that it was read from: it must be read again from time to time. */
  readonly tokenIsRenewed?: boolean;
  /** A program to run or an identity provider to ask, as the kubeconfig describes it. */
  readonly plugin?: LoginPlugin;
  readonly impersonate?: Impersonation;
  /** The context's namespace, `default` if it names none. */
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

/** The text of a file that a kubeconfig names, relative to the kubeconfig's own folder. Throws a sentence. */
export type ReadFile = (path: string) => string;
