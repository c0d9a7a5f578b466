// The identity of a member's agent on the hub.
import type { FieldCause } from './kind.ts';
import { RBAC_GROUP } from './resources.ts';
import { required, unsupportedValue } from './status.ts';

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

/** Why a RoleBinding cannot name this identity; empty = it can. */
export function identityCauses({ kind, name, apiGroup = '' }: Identity): readonly FieldCause[] {
  const at = 'spec.identity';
  if (!KINDS.includes(kind)) return [unsupportedValue(`${at}.kind`, kind, KINDS)];
  const group = kind === 'ServiceAccount' ? '' : RBAC_GROUP;
  return [
    ...(name === '' ? [required(`${at}.name`)] : []),
    ...(apiGroup === '' || apiGroup === group ? [] : [unsupportedValue(`${at}.apiGroup`, apiGroup, [group])]),
  ];
}

/**
 * The identity as the API server stores it in a RoleBinding, so that a comparison does not find differences in
 * defaults.
 */
export function subjectOf({ kind, name, apiGroup, namespace }: Identity): Subject {
  const group = apiGroup || (kind === 'ServiceAccount' ? '' : RBAC_GROUP);
  return {
    kind,
    ...(group === '' ? {} : { apiGroup: group }),
    name,
    ...(namespace ? { namespace } : {}),
  };
}
