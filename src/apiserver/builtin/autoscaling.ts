// HorizontalPodAutoscalers. v2 is the storage version; v1 knows only CPU utilization and keeps the rest in annotations.
import type { FieldCause } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { forbiddenField, invalidValue, required } from '../../api/status.ts';
import { isObject } from '../../base/json.ts';
import { pathSegmentErrors } from '../../base/names.ts';
import type { Behaviour, ServedVersion } from '../registry.ts';
import { behaviour, specOf, startsWith } from './behaviour.ts';
import { type Causes, complaints } from './field-checks.ts';

interface MetricTarget {
  type?: string;
  value?: string;
  averageValue?: string;
  averageUtilization?: number;
}

interface Metric {
  type?: string;
  resource?: { name?: string; target?: MetricTarget };
  [source: string]: unknown;
}

interface ScalingRules {
  selectPolicy?: string;
  policies?: object[];
  stabilizationWindowSeconds?: number;
}

interface AutoscalerSpec {
  scaleTargetRef?: { kind?: string; name?: string; apiVersion?: string };
  minReplicas?: number;
  maxReplicas?: number;
  metrics?: Metric[];
  behavior?: { scaleUp?: ScalingRules; scaleDown?: ScalingRules };
}

const USUAL_UTILIZATION = 80;

export const horizontalPodAutoscaler: Behaviour = behaviour({
  default(draft) {
    const spec = specOf<AutoscalerSpec>(draft);
    spec.minReplicas ??= 1;
    if ((spec.metrics ?? []).length === 0) spec.metrics = [cpuMetric(USUAL_UTILIZATION)];
    if (!spec.behavior) return;
    spec.behavior.scaleUp = {
      stabilizationWindowSeconds: 0,
      selectPolicy: 'Max',
      policies: [
        { type: 'Pods', value: 4, periodSeconds: 15 },
        { type: 'Percent', value: 100, periodSeconds: 15 },
      ],
      ...spec.behavior.scaleUp,
    };
    spec.behavior.scaleDown = {
      selectPolicy: 'Max',
      policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
      ...spec.behavior.scaleDown,
    };
  },
  prepare: startsWith(() => ({ desiredReplicas: 0, currentMetrics: null })),
  validate(object, _old, { subresource }) {
    return subresource === undefined ? autoscalerCauses((object.spec ?? {}) as AutoscalerSpec) : [];
  },
});

const cpuMetric = (averageUtilization: number): Metric => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});

function autoscalerCauses(spec: AutoscalerSpec): Causes {
  const { minReplicas = 1, maxReplicas = 0, scaleTargetRef: target = {}, metrics = [] } = spec;
  const causes: FieldCause[] = [];
  if (minReplicas < 1) {
    causes.push(invalidValue('spec.minReplicas', minReplicas, 'must be greater than or equal to 1'));
  }
  if (maxReplicas < 1) causes.push(invalidValue('spec.maxReplicas', maxReplicas, 'must be greater than 0'));
  if (maxReplicas < minReplicas) {
    const why = 'must be greater than or equal to `minReplicas`';
    causes.push(invalidValue('spec.maxReplicas', maxReplicas, why));
  }
  for (const field of ['kind', 'name'] as const) {
    const value = target[field] ?? '';
    const at = `spec.scaleTargetRef.${field}`;
    causes.push(...(value === '' ? [required(at)] : complaints(at, value, pathSegmentErrors(value))));
  }
  const apiVersion = target.apiVersion ?? '';
  if (apiVersion === '' || (apiVersion === 'v1' && target.kind !== 'ReplicationController')) {
    causes.push(invalidValue('spec.scaleTargetRef.apiVersion', apiVersion, 'apiVersion must specify API group'));
  }
  if (minReplicas === 0 && !metrics.some((metric) => metric.type === 'Object' || metric.type === 'External')) {
    const why = 'must specify at least one Object or External metric to support scaling to zero replicas';
    causes.push(forbiddenField('spec.metrics', why));
  }
  return causes;
}

// ---- version 1

const ANNOTATION = 'autoscaling.alpha.kubernetes.io/';

interface V1Spec extends Omit<AutoscalerSpec, 'metrics' | 'behavior'> {
  targetCPUUtilizationPercentage?: number;
}

const isCpuUtilization = ({ type, resource }: Metric): boolean =>
  type === 'Resource' && resource?.name === 'cpu' && resource.target?.averageUtilization !== undefined;

/** Parses the JSON of an annotation; invalid JSON counts as absent. */
function fromAnnotation(object: KubeObject, name: string): unknown {
  try {
    return JSON.parse(object.metadata.annotations?.[ANNOTATION + name] ?? 'null');
  } catch {
    return null;
  }
}

const parts = ['metrics', 'behavior', 'conditions', 'current-metrics'] as const;

/** Between autoscaling/v1 and the storage version. */
export const autoscalerV1: NonNullable<ServedVersion['convert']> = {
  toStored(object) {
    const { targetCPUUtilizationPercentage: cpu, ...spec } = (object.spec ?? {}) as V1Spec;
    const metrics = fromAnnotation(object, 'metrics');
    const behavior = fromAnnotation(object, 'behavior');
    const conditions = fromAnnotation(object, 'conditions');
    const currentMetrics = fromAnnotation(object, 'current-metrics');
    const { currentCPUUtilizationPercentage: current, ...status } = (object.status ?? {}) as Record<string, unknown>;
    const others = Array.isArray(metrics) ? (metrics as Metric[]) : [];
    const measured = [
      ...(typeof current === 'number'
        ? [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: current } } }]
        : []),
      ...(Array.isArray(currentMetrics) ? currentMetrics : []),
    ];
    return {
      ...object,
      apiVersion: 'autoscaling/v2',
      metadata: { ...object.metadata, ...annotationsOf(object, {}) },
      spec: {
        ...spec,
        ...(cpu === undefined && others.length === 0
          ? {}
          : { metrics: [...(cpu === undefined ? [] : [cpuMetric(cpu)]), ...others] }),
        ...(isObject(behavior) ? { behavior } : {}),
      },
      ...(object.status === undefined
        ? {}
        : {
            status: {
              ...status,
              currentMetrics: measured.length > 0 ? measured : null,
              ...(Array.isArray(conditions) ? { conditions } : {}),
            },
          }),
    };
  },
  fromStored(object) {
    const { metrics = [], behavior, ...spec } = (object.spec ?? {}) as AutoscalerSpec;
    const status = (object.status ?? {}) as {
      conditions?: unknown[];
      currentMetrics?: readonly { type?: string; resource?: { name?: string; current?: MetricTarget } }[] | null;
      currentReplicas?: number;
      desiredReplicas?: number;
    };
    const { conditions, currentMetrics, currentReplicas = 0, desiredReplicas = 0, ...others } = status;
    const cpu = metrics.find(isCpuUtilization);
    const rest = metrics.filter((metric) => metric !== cpu);
    const measured = (currentMetrics ?? []).find(
      ({ type, resource }) =>
        type === 'Resource' && resource?.name === 'cpu' && resource.current?.averageUtilization !== undefined,
    );
    const restMeasured = (currentMetrics ?? []).filter((metric) => metric !== measured);
    return {
      ...object,
      apiVersion: 'autoscaling/v1',
      metadata: {
        ...object.metadata,
        ...annotationsOf(object, {
          metrics: rest,
          behavior,
          conditions,
          'current-metrics': restMeasured,
        }),
      },
      spec: {
        ...spec,
        ...(cpu === undefined
          ? {}
          : { targetCPUUtilizationPercentage: cpu.resource?.target?.averageUtilization as number }),
      },
      status: {
        ...others,
        currentReplicas,
        desiredReplicas,
        ...(measured === undefined
          ? {}
          : { currentCPUUtilizationPercentage: measured.resource?.current?.averageUtilization }),
      },
    };
  },
};

/** The object's annotations with ours replaced; empty ones are omitted. */
function annotationsOf(object: KubeObject, values: Partial<Record<(typeof parts)[number], unknown>>): object {
  const annotations: Record<string, string> = { ...object.metadata.annotations };
  for (const part of parts) {
    const value = values[part];
    if (value === undefined || (Array.isArray(value) && value.length === 0)) delete annotations[ANNOTATION + part];
    else annotations[ANNOTATION + part] = JSON.stringify(value);
  }
  return { annotations: Object.keys(annotations).length > 0 ? annotations : undefined };
}
