// Authenticates a request: from the connection and the headers to a User, the anonymous user, or an error.
//
// Guarantee: a request without credentials is anonymous; one with invalid credentials is rejected (401), never
// anonymous.
import type { User } from '../../api/object.ts';
import { unauthorized } from '../../api/status.ts';
import type { Clock } from '../../base/clock.ts';
import type { ApiError } from '../../base/errors.ts';
import { deepFreeze } from '../../base/json.ts';
import type { TokenCheck } from '../cluster.ts';
import { quoteAll } from './quote.ts';
import { ALL_AUTHENTICATED, ALL_UNAUTHENTICATED, ANONYMOUS } from './service-account.ts';
import type { StaticTokens } from './static-tokens.ts';
import type { ServiceAccountTokens } from './tokens.ts';

/** The verified client certificate of the TLS connection. Only certificates that our CA signed for clients. */
export interface ClientCertificate {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** SHA-256 of the certificate, as Node prints it. */
  readonly fingerprint?: string;
  /** Epoch milliseconds. A connection may outlive its certificate. */
  readonly validUntil?: number;
}

export interface Credentials {
  readonly certificate?: ClientCertificate;
  /** The Authorization header, unparsed. */
  readonly authorization?: string;
}

export interface Authenticator {
  authenticate(credentials: Credentials): User | ApiError;
  /** For TokenReview. No audiences = those of the API server. */
  checkToken(token: string, audiences: readonly string[]): TokenCheck;
}

export interface AuthenticatorOptions {
  readonly clock: Clock;
  readonly tokens: ServiceAccountTokens;
  readonly staticTokens?: StaticTokens;
}

export const anonymous: User = deepFreeze({ name: ANONYMOUS, groups: [ALL_UNAUTHENTICATED] });

export function createAuthenticator({ clock, tokens, staticTokens }: AuthenticatorOptions): Authenticator {
  // There is one certificate object per connection; its user is created once, so that caches keyed by the user object
  // hit.
  const byCertificate = new WeakMap<ClientCertificate, User>();

  function certified(certificate: ClientCertificate): User | undefined {
    if (certificate.validUntil !== undefined && certificate.validUntil < clock.now()) return undefined;
    let user = byCertificate.get(certificate);
    if (!user) {
      user = userFrom(certificate);
      byCertificate.set(certificate, user);
    }
    return user;
  }

  function checkToken(token: string, asked: readonly string[]): TokenCheck {
    const audiences = asked.length === 0 ? tokens.audiences : asked;
    const user = staticTokens?.userOf(token);
    if (user) {
      // A static token is valid only for the API server.
      const shared = tokens.audiences.filter((each) => audiences.includes(each));
      if (shared.length > 0) return { ok: true, user, audiences: shared };
      const own = quoteAll(tokens.audiences);
      return refused(`token audiences ${own} is invalid for the target audiences ${quoteAll(audiences)}`);
    }
    const checked = tokens.check(token, audiences);
    return checked?.ok === true ? checked : refused(checked?.error);
  }

  return {
    checkToken,
    authenticate({ certificate, authorization }) {
      // A certificate without a CN has no user name, so it counts as no certificate.
      const proven = certificate?.commonName === '' ? undefined : certificate;
      const user = proven && certified(proven);
      if (user) return user;
      const token = authorization === undefined ? undefined : bearerToken(authorization);
      if (token === undefined) return proven ? unauthorized() : anonymous;
      const checked = checkToken(token, tokens.audiences);
      return checked.ok ? checked.user : unauthorized();
    },
  };
}

const INVALID = 'invalid bearer token';

const refused = (why: string | undefined): TokenCheck => ({
  ok: false,
  error: why === undefined ? INVALID : `[${INVALID}, ${why}]`,
});

const userFrom = ({ commonName, organizations, fingerprint }: ClientCertificate): User =>
  deepFreeze({
    name: commonName,
    groups: organizations.includes(ALL_AUTHENTICATED) ? [...organizations] : [...organizations, ALL_AUTHENTICATED],
    ...(fingerprint === undefined
      ? {}
      : {
          extra: {
            'authentication.kubernetes.io/credential-id': [
              `X509SHA256=${fingerprint.replaceAll(':', '').toLowerCase()}`,
            ],
          },
        }),
  });

/** The token of `Bearer x`; undefined for other schemes and an empty token, which count as no credentials. */
function bearerToken(authorization: string): string | undefined {
  const [scheme = '', token = ''] = authorization.trim().split(' ');
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined;
}
