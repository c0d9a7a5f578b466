// Impersonation: `Impersonate-User` and related headers, each of which needs its own permission.
import type { User } from '../../api/object.ts';
import { internalError } from '../../api/status.ts';
import type { ApiError } from '../../base/errors.ts';
import { deepFreeze } from '../../base/json.ts';
import type { Attributes, Authorizer } from '../cluster.ts';
import { forbiddenError } from './rbac.ts';
import { ALL_AUTHENTICATED, ALL_UNAUTHENTICATED, ANONYMOUS, accountGroups, accountOf } from './service-account.ts';

/**
 * Headers with lower-case names. Repeated ones must be lists (Node's `headersDistinct`): a group may contain a comma,
 * so a joined string cannot be split again.
 */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

const EXTRA = 'impersonate-extra-';
const AUTHENTICATION = 'authentication.k8s.io';

interface Wanted {
  readonly user: string;
  readonly groups: readonly string[];
  readonly uid: string;
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

/** The user to act as: the same user if no header is set, an error 403 if it is not allowed. */
export function impersonate(user: User, headers: Headers, authorizer: Authorizer): User | ApiError {
  const wanted = wantedIn(headers);
  if (!wanted) return user;
  if (wanted.user === '') return internalError(`requested [${referencesOf(wanted)}] without impersonating a user`);
  for (const attributes of attributesOf(wanted)) {
    const verdict = authorizer.allows(user, attributes);
    if (!verdict.allowed) return forbiddenError(user, attributes, verdict.reason);
  }
  return impersonated(wanted);
}

function wantedIn(headers: Headers): Wanted | undefined {
  const extra = new Map<string, string[]>();
  for (const name in headers) {
    if (!name.startsWith(EXTRA)) continue;
    const key = decoded(name.slice(EXTRA.length)).toLowerCase();
    extra.set(key, [...(extra.get(key) ?? []), ...valuesOf(headers[name])]);
  }
  const user = valuesOf(headers['impersonate-user'])[0] ?? '';
  const groups = valuesOf(headers['impersonate-group']);
  const uid = valuesOf(headers['impersonate-uid'])[0] ?? '';
  const isAsked = user !== '' || groups.length > 0 || uid !== '' || extra.size > 0;
  return isAsked ? { user, groups, uid, extra } : undefined;
}

const valuesOf = (header: string | readonly string[] | undefined): readonly string[] =>
  header === undefined ? [] : typeof header === 'string' ? [header] : header;

/** Keys of extras are percent-encoded, because a header name cannot contain a slash. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function* attributesOf({ user, groups, uid, extra }: Wanted): Generator<Attributes> {
  const verb = 'impersonate';
  const account = accountOf(user);
  if (account) yield { verb, group: '', resource: 'serviceaccounts', ...account };
  else yield { verb, group: '', resource: 'users', name: user };
  for (const name of groups) yield { verb, group: '', resource: 'groups', name };
  for (const [subresource, values] of extra) {
    for (const name of values) yield { verb, group: AUTHENTICATION, resource: 'userextras', subresource, name };
  }
  if (uid !== '') yield { verb, group: AUTHENTICATION, resource: 'uids', name: uid };
}

function impersonated({ user, groups, uid, extra }: Wanted): User {
  const account = accountOf(user);
  const given = groups.length === 0 && account ? accountGroups(account.namespace) : groups;
  const isKnown = given.includes(ALL_AUTHENTICATED) || given.includes(ALL_UNAUTHENTICATED);
  const added =
    user === ANONYMOUS
      ? given.includes(ALL_UNAUTHENTICATED)
        ? []
        : [ALL_UNAUTHENTICATED]
      : isKnown
        ? []
        : [ALL_AUTHENTICATED];
  return deepFreeze({
    name: user,
    ...(uid === '' ? {} : { uid }),
    groups: [...given, ...added],
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
  });
}

/** As Go prints the requested references. */
const referencesOf = ({ groups, uid, extra }: Wanted): string =>
  [
    ...groups.map((name) => `{Group  ${name}    }`),
    ...[...extra].flatMap(([key, values]) =>
      values.map((value) => `{UserExtra  ${value}  ${AUTHENTICATION}/v1  ${key}}`),
    ),
    ...(uid === '' ? [] : [`{UID  ${uid}  ${AUTHENTICATION}/v1  }`]),
  ].join(' ');
