// The user and group names of ServiceAccounts.

export const ALL_AUTHENTICATED = 'system:authenticated';
export const ALL_UNAUTHENTICATED = 'system:unauthenticated';
export const ANONYMOUS = 'system:anonymous';
export const MASTERS = 'system:masters';

const PREFIX = 'system:serviceaccount:';

export const accountUserName = (namespace: string, name: string): string => `${PREFIX}${namespace}:${name}`;

export const accountGroups = (namespace: string): readonly string[] => [
  'system:serviceaccounts',
  `system:serviceaccounts:${namespace}`,
];

/** The account of a user name; undefined if it is not a ServiceAccount. */
export function accountOf(userName: string): { readonly namespace: string; readonly name: string } | undefined {
  if (!userName.startsWith(PREFIX)) return undefined;
  const [namespace = '', name = '', ...rest] = userName.slice(PREFIX.length).split(':');
  return rest.length === 0 && /^[a-z0-9][-a-z0-9]*$/.test(namespace) && /^[a-z0-9][-.a-z0-9]*$/.test(name)
    ? { namespace, name }
    : undefined;
}
