// Who the agent of a member is on the hub.
import type { FieldCause } from './kind.ts';
import { RBAC_GROUP } from './resources.ts';
import { notSupported, required } from './status.ts';

export interface Identity {
  readonly kind: string;
  readonly name: string;
  readonly apiGroup?: string;
  readonly namespace?: string;
}

export interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly apiGroup?: string;
  readonly namespace?: string;
}

const KINDS = ['Group', 'ServiceAccount', 'User'];

/** Why no RoleBinding can name this identity; none = it can. */
export function identityCauses({ kind, name, apiGroup = '' }: Identity): readonly FieldCause[] {
  const at = 'spec.identity';
  if (!KINDS.includes(kind)) return [notSupported(`${at}.kind`, kind, KINDS)];
  const group = kind === 'ServiceAccount' ? '' : RBAC_GROUP;
  return [
    ...(name === '' ? [required(`${at}.name`)] : []),
    ...(apiGroup === '' || apiGroup === group ? [] : [notSupported(`${at}.apiGroup`, apiGroup, [group])]),
  ];
}

/** The identity as the API server stores it in a RoleBinding, so that a comparison finds no difference where there is none. */
export function subjectOf({ kind, name, apiGroup, namespace }: Identity): Subject {
  const group = apiGroup || (kind === 'ServiceAccount' ? '' : RBAC_GROUP);
  return {
    kind,
    ...(group === '' ? {} : { apiGroup: group }),
    name,
    ...(namespace ? { namespace } : {}),
  };
}
