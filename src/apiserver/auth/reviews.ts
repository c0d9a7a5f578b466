// Reviews: queries about identity and permissions that are answered immediately and never stored.
import type { FieldCause } from '../../api/kind.ts';
import type { KubeObject, User } from '../../api/object.ts';
import { badRequest, invalidValue } from '../../api/status.ts';
import { kubeTime } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import type { Attributes, PolicyRule } from '../cluster.ts';
import type { Behaviour, Draft, WriteContext } from '../registry.ts';

type Answer = NonNullable<Behaviour['answer']>;

/** By kind: the `Behaviour.answer` of each review. */
export const reviewAnswers: Readonly<
  Record<
    | 'SelfSubjectAccessReview'
    | 'SubjectAccessReview'
    | 'LocalSubjectAccessReview'
    | 'SelfSubjectRulesReview'
    | 'SelfSubjectReview'
    | 'TokenReview',
    Answer
  >
> = {
  SelfSubjectAccessReview(draft, context) {
    const spec = accessSpec(draft);
    refuse(attributeCauses(spec));
    return decided(draft, context, context.user, spec);
  },

  SubjectAccessReview(draft, context) {
    const spec = accessSpec(draft);
    refuse([...attributeCauses(spec), ...subjectCauses(spec)]);
    return decided(draft, context, subjectOf(spec), spec);
  },

  LocalSubjectAccessReview(draft, context) {
    const spec = accessSpec(draft);
    const { resourceAttributes, nonResourceAttributes } = spec;
    const causes = [...attributeCauses(spec), ...subjectCauses(spec)];
    const namespace = resourceAttributes?.namespace ?? '';
    if (resourceAttributes && namespace !== (draft.metadata.namespace ?? '')) {
      causes.push(invalidValue('spec.resourceAttributes.namespace', namespace, 'must match metadata.namespace'));
    }
    if (nonResourceAttributes) {
      causes.push(
        invalidValue('spec.nonResourceAttributes', goForm(nonResourceAttributes), 'disallowed on this kind of request'),
      );
    }
    refuse(causes);
    return decided(draft, context, subjectOf(spec), spec);
  },

  SelfSubjectRulesReview(draft, { cluster, user }) {
    const { namespace = '' } = (draft.spec ?? {}) as { namespace?: string };
    if (namespace === '') throw badRequest('no namespace on request');
    const rules = cluster.authorizer.rulesFor(user, namespace);
    return {
      apiVersion: draft.apiVersion,
      kind: draft.kind,
      metadata: {},
      spec: {},
      status: {
        resourceRules: rules.filter((rule) => rule.resources?.length).map(resourceRule),
        nonResourceRules: rules.filter((rule) => rule.nonResourceURLs?.length).map(nonResourceRule),
        incomplete: false,
      },
    };
  },

  SelfSubjectReview: (draft, { user, now }) => ({
    apiVersion: draft.apiVersion,
    kind: draft.kind,
    metadata: { creationTimestamp: kubeTime(now) },
    status: { userInfo: userInfo(user) },
  }),

  TokenReview(draft, { cluster }) {
    const { token = '', audiences = [] } = (draft.spec ?? {}) as { token?: string; audiences?: readonly string[] };
    if (token === '') throw badRequest('token is required for TokenReview in authentication');
    const checked = cluster.checkToken?.(token, audiences) ?? { ok: false, error: 'invalid bearer token' };
    return answered(
      draft,
      checked.ok
        ? { authenticated: true, user: userInfo(checked.user), audiences: checked.audiences }
        : { user: {}, error: checked.error },
    );
  },
};

interface ResourceAttributes {
  readonly namespace?: string;
  readonly verb?: string;
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly name?: string;
}

interface AccessSpec {
  readonly resourceAttributes?: ResourceAttributes;
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string };
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
  readonly extra?: User['extra'];
}

const accessSpec = (draft: Draft): AccessSpec => (draft.spec ?? {}) as AccessSpec;

const answered = (draft: Draft, status: object): KubeObject => ({ ...(draft as KubeObject), status });

function decided(draft: Draft, { cluster }: WriteContext, user: User, spec: AccessSpec): KubeObject {
  const { allowed, reason } = cluster.authorizer.allows(user, attributesOf(spec));
  return answered(draft, { allowed, ...(reason === '' ? {} : { reason }) });
}

function attributesOf({ resourceAttributes, nonResourceAttributes }: AccessSpec): Attributes {
  if (!resourceAttributes) {
    return { verb: nonResourceAttributes?.verb ?? '', path: nonResourceAttributes?.path ?? '' };
  }
  const { verb = '', group = '', resource = '', subresource, namespace, name } = resourceAttributes;
  return {
    verb,
    group,
    resource,
    ...(subresource ? { subresource } : {}),
    ...(namespace ? { namespace } : {}),
    ...(name ? { name } : {}),
  };
}

const subjectOf = ({ user = '', groups = [], uid, extra }: AccessSpec): User => ({
  name: user,
  groups,
  ...(uid ? { uid } : {}),
  ...(extra ? { extra } : {}),
});

function attributeCauses({ resourceAttributes, nonResourceAttributes }: AccessSpec): FieldCause[] {
  if (resourceAttributes && nonResourceAttributes) {
    const why = 'cannot be specified in combination with resourceAttributes';
    return [invalidValue('spec.nonResourceAttributes', goForm(nonResourceAttributes), why)];
  }
  if (resourceAttributes || nonResourceAttributes) return [];
  const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  return [invalidValue('spec.resourceAttributes', null, why)];
}

const subjectCauses = ({ user = '', groups = [] }: AccessSpec): FieldCause[] =>
  user === '' && groups.length === 0
    ? [invalidValue('spec.user', '', 'at least one of user or group must be specified')]
    : [];

/** A real server prints its internal struct here, with its Go field names. */
const goForm = ({ path = '', verb = '' }: { readonly path?: string; readonly verb?: string }) => ({
  Path: path,
  Verb: verb,
});

/** The error message has no kind, as on a real server. */
function refuse(causes: readonly FieldCause[]): void {
  if (causes.length === 0) return;
  const lines = causes.map(({ field, message }) => `${field}: ${message}`);
  const text = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`;
  const group = 'authorization.k8s.io';
  throw new ApiError(422, 'Invalid', `.${group} "" is invalid: ${text}`, { group, causes });
}

const userInfo = ({ name, uid, groups, extra }: User) => ({
  username: name,
  ...(uid ? { uid } : {}),
  ...(groups.length === 0 ? {} : { groups }),
  ...(extra && Object.keys(extra).length > 0 ? { extra } : {}),
});

const resourceRule = ({ verbs, apiGroups, resources, resourceNames }: PolicyRule) => ({
  verbs,
  ...(apiGroups?.length ? { apiGroups } : {}),
  resources,
  ...(resourceNames?.length ? { resourceNames } : {}),
});

const nonResourceRule = ({ verbs, nonResourceURLs }: PolicyRule) => ({ verbs, nonResourceURLs });
