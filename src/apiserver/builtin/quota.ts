// ResourceQuotas and LimitRanges: stored, defaulted and validated. They are not enforced on other objects.
import type { FieldCause } from '../../api/kind.ts';
import { forbiddenField, invalidValue } from '../../api/status.ts';
import { byText } from '../../base/compare.ts';
import { qualifiedNameErrors } from '../../base/names.ts';
import { canonicalQuantity, compareQuantities, parseQuantity } from '../../base/quantity.ts';
import type { Behaviour } from '../registry.ts';
import { behaviour, specOf, startsWith } from './behaviour.ts';
import type { Quantities } from './drafts.ts';
import { type Causes, complaints } from './field-checks.ts';
import { amountCauses } from './resources.ts';

// ---- ResourceQuota

interface QuotaSpec {
  hard?: Quantities;
  scopes?: string[];
}

const OF_QUOTAS: ReadonlySet<string> = new Set([
  ...['cpu', 'memory', 'ephemeral-storage', 'requests.cpu', 'requests.memory', 'requests.storage'],
  ...['requests.ephemeral-storage', 'limits.cpu', 'limits.memory', 'limits.ephemeral-storage', 'pods'],
  ...['resourcequotas', 'services', 'replicationcontrollers', 'secrets', 'persistentvolumeclaims', 'configmaps'],
  ...['services.nodeports', 'services.loadbalancers'],
]);
const SCOPES: ReadonlySet<string> = new Set([
  ...['Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort', 'PriorityClass', 'CrossNamespacePodAffinity'],
  'VolumeAttributesClass',
]);

export const resourceQuota: Behaviour = behaviour({
  returnsDeleted: true,
  prepare: startsWith(() => ({})),
  validate(object, _old, { subresource }) {
    if (subresource !== undefined) return [];
    const { hard = {}, scopes = [] } = (object.spec ?? {}) as QuotaSpec;
    const causes: FieldCause[] = [];
    for (const name of Object.keys(hard).sort(byText)) {
      const at = `spec.hard[${name}]`;
      causes.push(...complaints(at, name, qualifiedNameErrors(name)));
      const isKnown = name.includes('/') || OF_QUOTAS.has(name) || /^(?:requests\.)?hugepages-/.test(name);
      if (!isKnown) causes.push(invalidValue(at, name, 'must be a standard resource for quota'));
      causes.push(...amountCauses(at, name, hard[name] ?? 0));
    }
    if (scopes.some((scope) => !SCOPES.has(scope))) {
      causes.push(invalidValue('spec.scopes', scopes, 'unsupported scope'));
    }
    return causes;
  },
});

// ---- LimitRange

interface Limit {
  type?: string;
  max?: Quantities;
  min?: Quantities;
  default?: Quantities;
  defaultRequest?: Quantities;
}

interface LimitRangeSpec {
  limits?: Limit[];
}

export const limitRange: Behaviour = behaviour({
  createOnUpdate: true,
  default(draft) {
    for (const limit of specOf<LimitRangeSpec>(draft).limits ?? []) {
      if (limit.type !== 'Container') continue;
      // Missing values are derived: the limit from the maximum, the request from the limit, otherwise from the minimum.
      limit.default = { ...limit.max, ...limit.default };
      limit.defaultRequest = { ...limit.min, ...limit.default, ...limit.defaultRequest };
    }
  },
  validate: (object) =>
    (((object.spec ?? {}) as LimitRangeSpec).limits ?? []).flatMap((limit, index) =>
      limitCauses(`spec.limits[${index}]`, limit),
    ),
});

function limitCauses(field: string, limit: Limit): Causes {
  const causes: FieldCause[] = [];
  const { max = {}, min = {}, default: usual = {}, defaultRequest: request = {} } = limit;
  if (limit.type === 'Pod') {
    for (const part of ['default', 'defaultRequest'] as const) {
      if (limit[part] !== undefined && Object.keys(limit[part]).length > 0) {
        causes.push(forbiddenField(`${field}.${part}`, "may not be specified when `type` is 'Pod'"));
      }
    }
    if (causes.length > 0) return causes;
  }
  const names = new Set([max, min, usual, request].flatMap((amounts) => Object.keys(amounts)));
  const isMore = (a: string | number | undefined, b: string | number | undefined): boolean => {
    const [left, right] = [a, b].map((each) => (each === undefined ? undefined : parseQuantity(each)));
    return left !== undefined && right !== undefined && compareQuantities(left, right) > 0;
  };
  const shown = (amount: string | number | undefined) => canonicalQuantity(amount ?? 0);
  for (const name of [...names].sort(byText)) {
    const [most, least, standard, asked] = [max[name], min[name], usual[name], request[name]];
    const refuse = (part: string, value: string | number | undefined, why: string) => {
      causes.push(invalidValue(`${field}.${part}[${name}]`, shown(value), why));
    };
    if (isMore(least, most)) {
      refuse('min', least, `min value ${shown(least)} is greater than max value ${shown(most)}`);
    }
    if (isMore(least, asked)) {
      refuse(
        'defaultRequest',
        asked,
        `min value ${shown(least)} is greater than default request value ${shown(asked)}`,
      );
    }
    if (isMore(asked, most)) {
      refuse('defaultRequest', asked, `default request value ${shown(asked)} is greater than max value ${shown(most)}`);
    }
    if (isMore(asked, standard)) {
      refuse(
        'defaultRequest',
        asked,
        `default request value ${shown(asked)} is greater than default limit value ${shown(standard)}`,
      );
    }
    if (isMore(least, standard)) {
      refuse('default', least, `min value ${shown(least)} is greater than default value ${shown(standard)}`);
    }
    if (isMore(standard, most)) {
      refuse('default', most, `default value ${shown(standard)} is greater than max value ${shown(most)}`);
    }
  }
  return causes;
}
