// Tables of admission, aggregation, certificates, priorities and flow control.
import { shortDuration } from '../../../base/age.ts';
import type { Condition } from '../drafts.ts';
import { AGE, ageOf, boolean, conditionOf, integer, NAME, nameOf, table, text } from './table.ts';

/** For mutating and validating configurations. */
export const webhookConfiguration = table<{ readonly webhooks?: readonly unknown[] }>(
  [NAME, integer('Webhooks', 'How many webhooks are called.'), AGE],
  (object, now) => [nameOf(object), object.webhooks?.length ?? 0, ageOf(object, now)],
);

interface AdmissionPolicy {
  readonly spec?: {
    readonly validations?: readonly unknown[];
    readonly paramKind?: { readonly apiVersion?: string; readonly kind?: string };
  };
}

export const validatingAdmissionPolicy = table<AdmissionPolicy>(
  [
    NAME,
    integer('Validations', 'How many expressions are checked.'),
    text('ParamKind', 'The kind of its parameters.'),
    AGE,
  ],
  (object, now) => {
    const kind = object.spec?.paramKind;
    return [
      nameOf(object),
      object.spec?.validations?.length ?? 0,
      kind === undefined ? '<unset>' : `${kind.apiVersion ?? ''}/${kind.kind ?? ''}`,
      ageOf(object, now),
    ];
  },
);

interface AdmissionBinding {
  readonly spec?: {
    readonly policyName?: string;
    readonly paramRef?: { readonly namespace?: string; readonly name?: string; readonly selector?: unknown };
  };
}

export const validatingAdmissionPolicyBinding = table<AdmissionBinding>(
  [NAME, text('PolicyName', 'The policy that is bound.'), text('ParamRef', 'Its parameters.'), AGE],
  (object, now) => {
    const ref = object.spec?.paramRef;
    const name = ref?.name ? `${ref.namespace || '*'}/${ref.name}` : undefined;
    return [
      nameOf(object),
      object.spec?.policyName ?? '',
      ref === undefined ? '<unset>' : (name ?? `${ref.namespace || '*'}/*`),
      ageOf(object, now),
    ];
  },
);

interface ApiService {
  readonly spec?: { readonly service?: { readonly namespace?: string; readonly name?: string } };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export const apiService = table<ApiService>(
  [NAME, text('Service', 'Who answers for the group.'), text('Available', 'Whether it answers.'), AGE],
  (object, now) => {
    const service = object.spec?.service;
    const available = conditionOf(object.status?.conditions, 'Available');
    const status = available?.status ?? 'Unknown';
    return [
      nameOf(object),
      service === undefined ? 'Local' : `${service.namespace ?? ''}/${service.name ?? ''}`,
      status !== 'True' && available?.reason ? `${status} (${available.reason})` : status,
      ageOf(object, now),
    ];
  },
);

interface SigningRequest {
  readonly spec?: { readonly signerName?: string; readonly username?: string; readonly expirationSeconds?: number };
  readonly status?: { readonly conditions?: readonly Condition[]; readonly certificate?: string };
}

export const certificateSigningRequest = table<SigningRequest>(
  [
    NAME,
    AGE,
    text('SignerName', 'Who is asked to sign.'),
    text('Requestor', 'Who asks.'),
    text('RequestedDuration', 'For how long.'),
    text('Condition', 'What became of it.'),
  ],
  (object, now) => {
    const { spec, status } = object;
    const has = (type: string) => conditionOf(status?.conditions, type) !== undefined;
    return [
      nameOf(object),
      ageOf(object, now),
      spec?.signerName || '<none>',
      spec?.username ?? '',
      spec?.expirationSeconds === undefined ? '<none>' : shortDuration(spec.expirationSeconds * 1000),
      (has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending') +
        (has('Failed') ? ',Failed' : '') +
        (status?.certificate ? ',Issued' : ''),
    ];
  },
);

interface Priority {
  readonly value?: number;
  readonly globalDefault?: boolean;
  readonly preemptionPolicy?: string;
}

export const priorityClass = table<Priority>(
  [
    NAME,
    integer('Value', 'The priority.'),
    boolean('Global-Default', 'Whether Pods without a class get it.'),
    AGE,
    text('PreemptionPolicy', 'Whether its Pods may push out others.'),
  ],
  (object, now) => [
    nameOf(object),
    object.value ?? 0,
    object.globalDefault ?? false,
    ageOf(object, now),
    object.preemptionPolicy ?? '',
  ],
);

export const runtimeClass = table<{ readonly handler?: string }>(
  [NAME, text('Handler', 'Which handler runs its Pods.'), AGE],
  (object, now) => [nameOf(object), object.handler ?? '', ageOf(object, now)],
);

interface FlowSchema {
  readonly spec?: {
    readonly priorityLevelConfiguration?: { readonly name?: string };
    readonly matchingPrecedence?: number;
    readonly distinguisherMethod?: { readonly type?: string };
  };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export const flowSchema = table<FlowSchema>(
  [
    NAME,
    text('PriorityLevel', 'The level that its requests get.'),
    text('MatchingPrecedence', 'Lower ones are tried first.'),
    text('DistinguisherMethod', 'How flows are distinguished.'),
    AGE,
    text('MissingPL', 'Whether the level is missing.'),
  ],
  (object, now) => [
    nameOf(object),
    object.spec?.priorityLevelConfiguration?.name ?? '',
    object.spec?.matchingPrecedence ?? 0,
    object.spec?.distinguisherMethod?.type ?? '<none>',
    ageOf(object, now),
    conditionOf(object.status?.conditions, 'Dangling')?.status ?? '?',
  ],
);

interface PriorityLevel {
  readonly spec?: {
    readonly type?: string;
    readonly limited?: {
      readonly nominalConcurrencyShares?: number;
      readonly limitResponse?: {
        readonly queuing?: { readonly queues?: number; readonly handSize?: number; readonly queueLengthLimit?: number };
      };
    };
  };
}

export const priorityLevelConfiguration = table<PriorityLevel>(
  [
    NAME,
    text('Type', 'Limited or exempt.'),
    text('NominalConcurrencyShares', 'Its share of the requests in flight.'),
    text('Queues', 'How many queues it has.'),
    text('HandSize', 'How many queues a flow is dealt.'),
    text('QueueLengthLimit', 'How many requests may wait in a queue.'),
    AGE,
  ],
  (object, now) => {
    const limited = object.spec?.limited;
    const queuing = limited?.limitResponse?.queuing;
    return [
      nameOf(object),
      object.spec?.type ?? '',
      limited?.nominalConcurrencyShares ?? '<none>',
      queuing?.queues ?? '<none>',
      queuing?.handSize ?? '<none>',
      queuing?.queueLengthLimit ?? '<none>',
      ageOf(object, now),
    ];
  },
);
