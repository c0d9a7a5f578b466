// Webhook configurations and admission policies: stored with their defaults. This server calls no webhooks.
import type { FieldCause } from '../../api/kind.ts';
import { forbiddenField, invalidValue, required, unsupportedValue } from '../../api/status.ts';
import { dnsSubdomainErrors } from '../../base/names.ts';
import type { Behaviour } from '../registry.ts';
import { KEEPS_METADATA } from '../status-keeps.ts';
import { behaviour, specOf, startsWith } from './behaviour.ts';
import { type Causes, oneOf } from './field-checks.ts';

interface Rule {
  operations?: string[];
  apiGroups?: string[];
  apiVersions?: string[];
  resources?: string[];
  scope?: string;
}

interface Webhook {
  name?: string;
  clientConfig?: { url?: string; service?: { name?: string; namespace?: string; port?: number } };
  rules?: Rule[];
  failurePolicy?: string;
  matchPolicy?: string;
  namespaceSelector?: object;
  objectSelector?: object;
  sideEffects?: string;
  timeoutSeconds?: number;
  admissionReviewVersions?: string[];
  reinvocationPolicy?: string;
}

const HTTPS = 443;
const USUAL_SECONDS = 10;
const OPERATIONS: readonly string[] = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];

const webhooks = (mutates: boolean): Behaviour =>
  behaviour({
    countsGeneration: true,
    unconditionalUpdate: false,
    default(draft) {
      for (const hook of (draft.webhooks ?? []) as Webhook[]) {
        hook.failurePolicy ??= 'Fail';
        hook.matchPolicy ??= 'Equivalent';
        hook.namespaceSelector ??= {};
        hook.objectSelector ??= {};
        hook.timeoutSeconds ??= USUAL_SECONDS;
        if (mutates) hook.reinvocationPolicy ??= 'Never';
        for (const rule of hook.rules ?? []) rule.scope ??= '*';
        if (hook.clientConfig?.service) hook.clientConfig.service.port ??= HTTPS;
      }
    },
    validate: (object) =>
      ((object.webhooks ?? []) as readonly Webhook[]).flatMap((hook, index) =>
        webhookCauses(`webhooks[${index}]`, hook),
      ),
  });

export const mutatingWebhooks: Behaviour = webhooks(true);
export const validatingWebhooks: Behaviour = webhooks(false);

function webhookCauses(field: string, hook: Webhook): Causes {
  const { name = '', timeoutSeconds = USUAL_SECONDS, clientConfig = {} } = hook;
  const causes: FieldCause[] = [];
  if (dnsSubdomainErrors(name).length > 0 || name.split('.').length < 3) {
    causes.push(
      invalidValue(`${field}.name`, name, 'should be a domain with at least three segments separated by dots'),
    );
  }
  hook.rules?.forEach((rule, index) => {
    causes.push(...ruleCauses(`${field}.rules[${index}]`, rule));
  });
  if (hook.failurePolicy !== undefined) {
    causes.push(...oneOf(`${field}.failurePolicy`, hook.failurePolicy, ['Fail', 'Ignore']));
  }
  if (hook.matchPolicy !== undefined) {
    causes.push(...oneOf(`${field}.matchPolicy`, hook.matchPolicy, ['Equivalent', 'Exact']));
  }
  if (!hook.sideEffects) {
    causes.push(required(`${field}.sideEffects`, 'must specify one of None, NoneOnDryRun'));
  } else causes.push(...oneOf(`${field}.sideEffects`, hook.sideEffects, ['None', 'NoneOnDryRun']));
  if (timeoutSeconds < 1 || timeoutSeconds > 30) {
    const why = 'the timeout value must be between 1 and 30 seconds';
    causes.push(invalidValue(`${field}.timeoutSeconds`, timeoutSeconds, why));
  }
  if ((clientConfig.url === undefined) === (clientConfig.service === undefined)) {
    causes.push(required(`${field}.clientConfig`, 'exactly one of url or service is required'));
  }
  if ((hook.admissionReviewVersions ?? []).length === 0) {
    causes.push(required(`${field}.admissionReviewVersions`, 'must specify one of v1, v1beta1'));
  }
  return causes;
}

function ruleCauses(field: string, rule: Rule): Causes {
  const causes: FieldCause[] = [];
  const operations = rule.operations ?? [];
  if (operations.length === 0) causes.push(required(`${field}.operations`));
  operations.forEach((operation, index) => {
    if (!OPERATIONS.includes(operation)) {
      causes.push(unsupportedValue(`${field}.operations[${index}]`, operation, OPERATIONS));
    }
  });
  for (const part of ['apiGroups', 'apiVersions', 'resources'] as const) {
    if ((rule[part] ?? []).length === 0) causes.push(required(`${field}.${part}`));
  }
  return causes;
}

// ---- policies in CEL

interface MatchResources {
  namespaceSelector?: object;
  objectSelector?: object;
  matchPolicy?: string;
  resourceRules?: Rule[];
  excludeResourceRules?: Rule[];
}

function defaultMatch(match: MatchResources | undefined): void {
  if (!match) return;
  match.namespaceSelector ??= {};
  match.objectSelector ??= {};
  match.matchPolicy ??= 'Equivalent';
  for (const rule of [...(match.resourceRules ?? []), ...(match.excludeResourceRules ?? [])]) rule.scope ??= '*';
}

interface PolicySpec {
  failurePolicy?: string;
  matchConstraints?: MatchResources;
  validations?: { expression?: string }[];
  auditAnnotations?: object[];
}

export const validatingPolicy: Behaviour = behaviour({
  statusKeeps: KEEPS_METADATA,
  countsGeneration: true,
  unconditionalUpdate: false,
  default(draft) {
    const spec = specOf<PolicySpec>(draft);
    spec.failurePolicy ??= 'Fail';
    defaultMatch(spec.matchConstraints);
  },
  prepare: startsWith(() => ({})),
  validate(object, _old, { subresource }) {
    if (subresource !== undefined) return [];
    const { matchConstraints, validations = [], auditAnnotations = [] } = (object.spec ?? {}) as PolicySpec;
    const causes: FieldCause[] = [];
    if (matchConstraints === undefined) causes.push(required('spec.matchConstraints'));
    else if ((matchConstraints.resourceRules ?? []).length === 0) {
      causes.push(required('spec.matchConstraints.resourceRules'));
    }
    if (validations.length === 0 && auditAnnotations.length === 0) {
      causes.push(required('spec.validations', 'validations or auditAnnotations must contain at least one item'));
      causes.push(required('spec.auditAnnotations', 'validations or auditAnnotations must contain at least one item'));
    }
    return causes;
  },
});

interface PolicyBindingSpec {
  policyName?: string;
  validationActions?: string[];
  matchResources?: MatchResources;
}

export const validatingPolicyBinding: Behaviour = behaviour({
  countsGeneration: true,
  unconditionalUpdate: false,
  default: (draft) => defaultMatch(specOf<PolicyBindingSpec>(draft).matchResources),
  validate(object) {
    const { policyName = '', validationActions = [] } = (object.spec ?? {}) as PolicyBindingSpec;
    const causes: FieldCause[] = [];
    if (policyName === '') causes.push(required('spec.policyName'));
    if (validationActions.length === 0)
      causes.push(required('spec.validationActions', 'at least one validation action is required'));
    if (validationActions.includes('Deny') && validationActions.includes('Warn')) {
      const why =
        'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
      causes.push(forbiddenField('spec.validationActions', why));
    }
    return causes;
  },
});
