// One API server's state: what the verbs act on. Many of them can live in one process behind one listener.
import type { User } from '../api/object.ts';
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import type { Registry } from './registry.ts';
import type { Store } from './store/store.ts';

/** What a user wants to do. For paths that are no resources: `path` and the lower-case HTTP method as verb. */
export interface Attributes {
  readonly verb: string;
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly path?: string;
}

export interface Verdict {
  readonly allowed: boolean;
  /** Which binding and role allowed it, or what stood in the way. */
  readonly reason: string;
}

export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

export interface Authorizer {
  allows(user: User, what: Attributes): Verdict;
  /** All rules that apply to a user in a namespace ('' = cluster-wide ones only). */
  rulesFor(user: User, namespace: string): readonly PolicyRule[];
}

export interface IssuedToken {
  readonly token: string;
  readonly expirationTimestamp: string;
}

/** Signs and checks ServiceAccount tokens. */
export interface TokenIssuer {
  readonly issuer: string;
  issue(request: {
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly audiences: readonly string[];
    readonly expirationSeconds: number;
    readonly boundObject?: { readonly kind: string; readonly name: string; readonly uid: string };
    readonly now: number;
  }): IssuedToken;
  /** A token without an end, for a token Secret. */
  issueForSecret(account: {
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly secretName: string;
  }): string;
}

/** The user of a bearer token, or why there is none. */
export type TokenCheck =
  | { readonly ok: true; readonly user: User; readonly audiences: readonly string[] }
  | { readonly ok: false; readonly error: string };

export interface Cluster {
  readonly name: string;
  readonly store: Store;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly authorizer: Authorizer;
  readonly tokens: TokenIssuer;
  /** For TokenReview: static tokens and ServiceAccount tokens alike. No audiences = those of the API server. */
  readonly checkToken?: (token: string, audiences: readonly string[]) => TokenCheck;
  /** PEM of the CA that clients trust: goes into kube-root-ca.crt and token Secrets. */
  readonly caCertificate: string;
}
