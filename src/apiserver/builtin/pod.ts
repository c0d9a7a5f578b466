// Pods: fields set beyond the defaults of their spec, which fields are mutable, and how long their deletion waits.
import type { FieldCause } from '../../api/kind.ts';
import { forbiddenField, invalidValue } from '../../api/status.ts';
import { kubeTime } from '../../base/clock.ts';
import { deepEqual } from '../../base/json.ts';
import { parseQuantity } from '../../base/quantity.ts';
import type { Behaviour, Draft } from '../registry.ts';
import { behaviour, specOf, textAt } from './behaviour.ts';
import type { Container, PodSpec, Quantities } from './drafts.ts';
import type { Causes } from './field-checks.ts';
import { admitPod, tolerateSilentNodes } from './pod-admission.ts';
import { defaultPodSpec, dropFromPodSpec } from './pod-spec.ts';
import { podSpecCauses } from './pod-spec-validation.ts';
import { canonicalAmounts } from './resources.ts';

export const pod: Behaviour = behaviour({
  countsGeneration: true,
  returnsDeleted: true,
  statusKeeps: { fields: ['ownerReferences'] },
  default: defaultPod,
  drop: (draft) => dropFromPodSpec(specOf<PodSpec>(draft)),

  prepare(draft, old, context) {
    const spec = specOf<PodSpec>(draft);
    if (old !== undefined) {
      if (context.subresource === undefined) keepPriority(spec, (old.spec ?? {}) as PodSpec);
      if (context.subresource === undefined) tolerateSilentNodes(spec);
      return;
    }
    admitPod(draft, spec, context);
    const isGated = (spec.schedulingGates ?? []).length > 0;
    draft.status = {
      phase: 'Pending',
      ...(isGated ? { conditions: [{ ...GATED, lastTransitionTime: kubeTime(context.now) }] } : {}),
      qosClass: qosClassOf(spec),
    };
  },

  validate(object, old, context) {
    if (context.subresource !== undefined) return [];
    const spec = (object.spec ?? {}) as PodSpec;
    const causes = [...podSpecCauses('spec', spec), ...imageCauses(spec)];
    return old === undefined ? causes : [...causes, ...updateCauses(spec, (old.spec ?? {}) as PodSpec)];
  },

  graceSeconds(object, asked) {
    const { nodeName, terminationGracePeriodSeconds } = (object.spec ?? {}) as PodSpec;
    const { phase } = (object.status ?? {}) as { phase?: string };
    // No kubelet runs the Pod, so there is nothing to stop.
    if (!nodeName || phase === 'Succeeded' || phase === 'Failed') return 0;
    const seconds = asked ?? terminationGracePeriodSeconds ?? 0;
    return seconds < 0 ? 1 : seconds;
  },

  selectableFields: {
    'spec.nodeName': textAt('spec', 'nodeName'),
    'spec.restartPolicy': textAt('spec', 'restartPolicy'),
    'spec.schedulerName': textAt('spec', 'schedulerName'),
    'spec.serviceAccountName': textAt('spec', 'serviceAccountName'),
    'spec.hostNetwork': (object) => String((object.spec as PodSpec | undefined)?.hostNetwork === true),
    'status.phase': textAt('status', 'phase'),
    'status.podIP': textAt('status', 'podIP'),
    'status.nominatedNodeName': textAt('status', 'nominatedNodeName'),
  },
});

const GATED = {
  type: 'PodScheduled',
  status: 'False',
  lastProbeTime: null,
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
} as const;

/** The result of admission stays unless the object sets another value. */
function keepPriority(spec: PodSpec, old: PodSpec): void {
  if (old.priority !== undefined) spec.priority ??= old.priority;
  if (old.preemptionPolicy !== undefined) spec.preemptionPolicy ??= old.preemptionPolicy;
}

function defaultPod(draft: Draft): void {
  const spec = specOf<PodSpec>(draft);
  defaultPodSpec(spec);
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    requestLimits(container);
    if (!spec.hostNetwork) continue;
    for (const port of container.ports ?? []) if (!port.hostPort) port.hostPort = port.containerPort ?? 0;
  }
  spec.enableServiceLinks ??= true;
}

/** Limits are the default of the requests. */
function requestLimits({ resources }: Container): void {
  if (!resources?.limits) return;
  canonicalAmounts(resources.limits);
  resources.requests ??= {};
  canonicalAmounts(resources.requests);
  for (const name of Object.keys(resources.limits)) {
    if (!Object.hasOwn(resources.requests, name)) resources.requests[name] = resources.limits[name] as string;
  }
}

const COMPUTE = ['cpu', 'memory'] as const;

/** Guaranteed: every container has both limits, and requests equal to them. BestEffort: no container has requests. */
export function qosClassOf(spec: PodSpec): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const requests = new Map<string, bigint>();
  const limits = new Map<string, bigint>();
  let allLimited = true;
  for (const { resources } of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    sumUp(requests, resources?.requests);
    if (sumUp(limits, resources?.limits) < COMPUTE.length) allLimited = false;
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  const isEqual = [...requests].every(([name, amount]) => limits.get(name) === amount);
  return allLimited && isEqual && requests.size === limits.size ? 'Guaranteed' : 'Burstable';
}

function sumUp(sums: Map<string, bigint>, amounts: Quantities | undefined): number {
  let found = 0;
  for (const name of COMPUTE) {
    const amount = amounts?.[name];
    const nano = amount === undefined ? 0n : (parseQuantity(amount)?.nano ?? 0n);
    if (nano <= 0n) continue;
    sums.set(name, (sums.get(name) ?? 0n) + nano);
    found++;
  }
  return found;
}

const imageCauses = (spec: PodSpec): Causes =>
  (['containers', 'initContainers'] as const).flatMap((list) =>
    (spec[list] ?? []).flatMap(({ image = '' }, index) =>
      image !== image.trim()
        ? [invalidValue(`spec.${list}[${index}].image`, image, 'must not have leading or trailing whitespace')]
        : [],
    ),
  );

const CHANGEABLE =
  '`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

function updateCauses(spec: PodSpec, old: PodSpec): Causes {
  const causes: FieldCause[] = [];
  for (const [list, kind] of [
    ['containers', 'containers'],
    ['initContainers', 'init containers'],
  ] as const) {
    if ((spec[list] ?? []).length !== (old[list] ?? []).length) {
      return [forbiddenField(`spec.${list}`, `pod updates may not add or remove ${kind}`)];
    }
  }
  causes.push(...deadlineCauses(spec, old), ...addedTolerations(spec, old));
  if (!deepEqual(withoutChangeable(spec, old), old)) {
    causes.push(forbiddenField('spec', `pod updates may not change fields other than ${CHANGEABLE}`));
  }
  return causes;
}

function deadlineCauses({ activeDeadlineSeconds: next }: PodSpec, { activeDeadlineSeconds: before }: PodSpec): Causes {
  if (next !== undefined && before !== undefined && next > before) {
    return [invalidValue('spec.activeDeadlineSeconds', next, 'must be less than or equal to previous value')];
  }
  if (next === undefined && before !== undefined) {
    return [invalidValue('spec.activeDeadlineSeconds', null, 'must not update from a positive integer to nil value')];
  }
  return [];
}

function addedTolerations(spec: PodSpec, old: PodSpec): Causes {
  const kept = (old.tolerations ?? []).every((before) =>
    spec.tolerations?.some((each) => deepEqual({ ...each, tolerationSeconds: before.tolerationSeconds }, before)),
  );
  return kept
    ? []
    : [forbiddenField('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')];
}

/** The new spec with all mutable fields reset. Any remaining difference is forbidden. */
function withoutChangeable(spec: PodSpec, old: PodSpec): PodSpec {
  const images = (list: 'containers' | 'initContainers') =>
    spec[list]?.map((container, index) => ({ ...container, image: old[list]?.[index]?.image }));
  const next: PodSpec = { ...spec };
  for (const list of ['containers', 'initContainers'] as const) {
    const containers = images(list);
    if (containers !== undefined) next[list] = containers as Container[];
  }
  for (const field of ['activeDeadlineSeconds', 'tolerations', 'schedulingGates'] as const) {
    if (old[field] === undefined) delete next[field];
    else Object.assign(next, { [field]: old[field] });
  }
  if ((old.terminationGracePeriodSeconds ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1) {
    next.terminationGracePeriodSeconds = old.terminationGracePeriodSeconds as number;
  }
  return next;
}
