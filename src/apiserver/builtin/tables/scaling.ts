// Tables of autoscalers and disruption budgets.
import type { KubeObject } from '../../../api/object.ts';
import { AGE, ageOf, integer, NAME, nameOf, table, text } from './table.ts';

interface Disruption {
  readonly spec?: { readonly minAvailable?: number | string; readonly maxUnavailable?: number | string };
  readonly status?: { readonly disruptionsAllowed?: number };
}

export const podDisruptionBudget = table<Disruption>(
  [
    NAME,
    text('Min Available', 'How many Pods must stay.'),
    text('Max Unavailable', 'How many Pods may be unavailable.'),
    integer('Allowed Disruptions', 'How many Pods may be evicted now.'),
    AGE,
  ],
  (object, now) => [
    nameOf(object),
    `${object.spec?.minAvailable ?? 'N/A'}`,
    `${object.spec?.maxUnavailable ?? 'N/A'}`,
    object.status?.disruptionsAllowed ?? 0,
    ageOf(object, now),
  ],
);

interface Amounts {
  readonly value?: string;
  readonly averageValue?: string;
  readonly averageUtilization?: number;
}

interface MetricOf {
  readonly name?: string;
  readonly target?: Amounts;
  readonly current?: Amounts;
}

interface Metric {
  readonly type?: string;
  readonly resource?: MetricOf;
  readonly containerResource?: MetricOf;
  readonly pods?: MetricOf;
  readonly object?: MetricOf;
  readonly external?: MetricOf;
}

interface Autoscaler {
  readonly spec?: {
    readonly scaleTargetRef?: { readonly kind?: string; readonly name?: string };
    readonly minReplicas?: number;
    readonly maxReplicas?: number;
    readonly metrics?: readonly Metric[];
    /** Version 1 knows only this metric. */
    readonly targetCPUUtilizationPercentage?: number;
  };
  readonly status?: {
    readonly currentReplicas?: number;
    readonly currentMetrics?: readonly Metric[];
    readonly currentCPUUtilizationPercentage?: number;
  };
}

export const horizontalPodAutoscaler = table<Autoscaler>(
  [
    NAME,
    text('Reference', 'What is scaled.'),
    text('Targets', 'Each metric: now and as wanted.'),
    text('MinPods', 'The fewest Pods.'),
    text('MaxPods', 'The most Pods.'),
    text('Replicas', 'How many Pods there are.'),
    AGE,
  ],
  (object, now) => [
    nameOf(object),
    `${object.spec?.scaleTargetRef?.kind ?? ''}/${object.spec?.scaleTargetRef?.name ?? ''}`,
    targets(object),
    `${object.spec?.minReplicas ?? '<unset>'}`,
    object.spec?.maxReplicas ?? 0,
    object.status?.currentReplicas ?? 0,
    ageOf(object, now),
  ],
);

const UNKNOWN = '<unknown>';
const percent = (share: number | undefined, otherwise: string): string =>
  share === undefined ? otherwise : `${share}%`;

function targets({ spec, status }: KubeObject & Autoscaler): string {
  if (spec?.targetCPUUtilizationPercentage !== undefined) {
    const current = percent(status?.currentCPUUtilizationPercentage, UNKNOWN);
    return `cpu: ${current}/${spec.targetCPUUtilizationPercentage}%`;
  }
  const metrics = spec?.metrics ?? [];
  if (metrics.length === 0) return '<none>';
  const shown = metrics.slice(0, 2).map((metric, index) => metricText(metric, status?.currentMetrics?.[index]));
  const more = metrics.length > 2 ? ` + ${metrics.length - 2} more...` : '';
  return shown.join(', ') + more;
}

function metricText(wanted: Metric, seen: Metric | undefined): string {
  switch (wanted.type) {
    case 'Resource':
      return resourceText(wanted.resource, seen?.resource);
    case 'ContainerResource':
      return resourceText(wanted.containerResource, seen?.containerResource);
    case 'Pods':
      return `${seen?.pods?.current?.averageValue ?? UNKNOWN}/${wanted.pods?.target?.averageValue}`;
    case 'Object':
      return amountText(wanted.object, seen?.object);
    case 'External':
      return amountText(wanted.external, seen?.external);
    default:
      return '<unknown type>';
  }
}

function resourceText(wanted: MetricOf | undefined, seen: MetricOf | undefined): string {
  const target = wanted?.target;
  return target?.averageValue === undefined
    ? `${wanted?.name}: ${percent(seen?.current?.averageUtilization, UNKNOWN)}/${percent(target?.averageUtilization, '<auto>')}`
    : `${wanted?.name}: ${seen?.current?.averageValue ?? UNKNOWN}/${target.averageValue}`;
}

function amountText(wanted: MetricOf | undefined, seen: MetricOf | undefined): string {
  const target = wanted?.target;
  return target?.averageValue === undefined
    ? `${seen?.current?.value ?? UNKNOWN}/${target?.value}`
    : `${seen?.current?.averageValue ?? UNKNOWN}/${target.averageValue} (avg)`;
}

interface Scaled {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas?: number };
}

/** The scale subresource of any kind. */
export const scaleTable = table<Scaled>(
  [
    { ...NAME, format: '' },
    integer('Desired', 'How many instances are wanted.'),
    integer('Available', 'How many instances were seen.'),
    AGE,
  ],
  (object, now) => [nameOf(object), object.spec?.replicas ?? 0, object.status?.replicas ?? 0, ageOf(object, now)],
);
