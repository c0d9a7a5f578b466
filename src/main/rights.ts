// Checks the permissions of a part at its start and names the missing verbs and resources, instead of failing later in
// a log. The server itself is asked (SelfSubjectAccessReview), so this works with any authorizer.
import type { Rule } from '../api/agent-rights.ts';
import type { Transport } from '../api/transport.ts';
import { ApiError, UserError } from '../base/errors.ts';
import { mapLimit } from '../base/map-limit.ts';

export interface Needed {
  readonly rules: readonly Rule[];
  /** Absent = in the whole cluster. */
  readonly namespace?: string;
}

export interface RightsCheck {
  readonly needed: readonly Needed[];
  /** The part that is started, as in "the hub's controllers". */
  readonly whom: string;
  /** The command that grants the missing permissions. */
  readonly remedy: string;
}

interface Right {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly verb: string;
  readonly namespace: string;
}

const REVIEWS = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  namespaced: false,
} as const;

const QUESTIONS_AT_A_TIME = 16;
const MAX_LISTED = 12;

/**
 * Throws a UserError that names the missing permissions. If the server does not support such reviews, the check is
 * skipped.
 */
export async function checkRights(transport: Transport, check: RightsCheck): Promise<void> {
  const rights = check.needed.flatMap(rightsIn);
  let answers: readonly boolean[];
  try {
    answers = await mapLimit(rights, QUESTIONS_AT_A_TIME, (right) => isAllowed(transport, right));
  } catch (error) {
    if (error instanceof ApiError) return;
    throw error;
  }
  const missing = rights.filter((_, index) => !answers[index]);
  if (missing.length === 0) return;
  const message = `${check.whom} may not ${sentence(missing)}: ${check.remedy}`;
  throw new UserError('RightsMissing', message);
}

function rightsIn({ rules, namespace = '' }: Needed): readonly Right[] {
  const all = rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((path) =>
        verbs.map((verb): Right => {
          const [resource = '', subresource = ''] = path.split('/');
          return { group, resource, subresource, verb, namespace };
        }),
      ),
    ),
  );
  return [...new Map(all.map((right) => [JSON.stringify(right), right])).values()];
}

async function isAllowed(transport: Transport, { group, resource, subresource, verb, namespace }: Right) {
  const resourceAttributes = { group, resource, subresource, verb, namespace };
  const { object } = await transport.call({
    verb: 'create',
    at: { resource: REVIEWS },
    object: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: REVIEWS.kind,
      metadata: {},
      spec: { resourceAttributes },
    },
    manager: 'flotilla',
  });
  return (object?.status as { readonly allowed?: boolean } | undefined)?.allowed === true;
}

/** `create, patch namespaces; list works.placement.kubernetes-fleet.io` */
function sentence(missing: readonly Right[]): string {
  const verbs = new Map<string, string[]>();
  for (const right of missing) {
    const name = nameOf(right);
    verbs.set(name, [...(verbs.get(name) ?? []), right.verb]);
  }
  const parts = [...verbs].map(([name, each]) => `${each.join(', ')} ${name}`);
  const more = parts.length > MAX_LISTED ? [`and ${parts.length - MAX_LISTED} more`] : [];
  return [...parts.slice(0, MAX_LISTED), ...more].join('; ');
}

function nameOf({ group, resource, subresource, namespace }: Right): string {
  const qualified = group === '' ? resource : `${resource}.${group}`;
  return `${qualified}${subresource && `/${subresource}`}${namespace && ` in namespace ${namespace}`}`;
}
