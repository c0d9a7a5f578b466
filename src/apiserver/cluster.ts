// The state of one API server, on which the verbs act. One process can have many of them behind one listener.
import type { User } from '../api/object.ts';
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import type { Registry } from './registry.ts';
import type { Store } from './store/store.ts';

/**
 * The attributes of a request for authorization. For paths that are not resources: `path`, and the lower-case HTTP
 * method as verb.
 */
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
  /** The binding and role that allowed it, or why it was denied. */
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

/** Signs and verifies ServiceAccount tokens. */
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
  /** A token without expiration, for a token Secret. */
  issueForSecret(account: {
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly secretName: string;
  }): string;
}

/** The user of a bearer token, or why it is invalid. */
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
  /** PEM of the CA that clients trust: the content of kube-root-ca.crt and token Secrets. */
  readonly caCertificate: string;
}
