// A TokenRequest, the subresource `token` of a ServiceAccount, and the claims of a ServiceAccount's token.
import type { KubeObject } from './object.ts';

export const tokenRequest = (lifetimeMs: number): KubeObject => ({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenRequest',
  metadata: {},
  spec: { expirationSeconds: Math.round(lifetimeMs / 1000) },
});

export interface IssuedToken {
  readonly token: string;
  readonly expirationTimestamp: string;
}

export function issuedToken(answer: KubeObject | undefined): IssuedToken {
  const { token, expirationTimestamp } = (answer?.status ?? {}) as Partial<IssuedToken>;
  if (!token || !expirationTimestamp) throw new Error('the API server answered a TokenRequest without a token');
  return { token, expirationTimestamp };
}

export interface TokenClaims {
  readonly namespace: string;
  readonly account: string;
  /** Epoch ms. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

const SUBJECT = /^system:serviceaccount:([^:]+):([^:]+)$/;

/**
 * undefined = not the token of a ServiceAccount, or a token without expiration. Nothing is verified: the API server
 * does that.
 */
export function claimsOf(token: string): TokenClaims | undefined {
  const [, payload, signature] = token.split('.');
  if (payload === undefined || signature === undefined) return undefined;
  try {
    const { sub, iat, exp } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
    const [, namespace, account] = SUBJECT.exec(String(sub)) ?? [];
    if (namespace === undefined || account === undefined) return undefined;
    if (typeof iat !== 'number' || typeof exp !== 'number' || !(exp > iat)) return undefined;
    return { namespace, account, issuedAt: iat * 1000, expiresAt: exp * 1000 };
  } catch {
    return undefined;
  }
}
