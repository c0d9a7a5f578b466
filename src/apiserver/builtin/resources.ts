// Names and amounts of resources: which names are valid, and how limits and requests relate.
import type { FieldCause } from '../../api/kind.ts';
import { forbiddenField, invalidValue, required } from '../../api/status.ts';
import { byText } from '../../base/compare.ts';
import { qualifiedNameErrors } from '../../base/names.ts';
import { canonicalQuantity, compareQuantities, parseQuantity, type Quantity } from '../../base/quantity.ts';
import type { Quantities, Resources } from './drafts.ts';
import { type Causes, complaints } from './field-checks.ts';

const COUNTED: readonly string[] = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];
const STANDARD: ReadonlySet<string> = new Set([
  ...COUNTED,
  ...['cpu', 'memory', 'ephemeral-storage', 'storage', 'requests.storage'],
  ...['requests.cpu', 'requests.memory', 'requests.ephemeral-storage'],
  ...['limits.cpu', 'limits.memory', 'limits.ephemeral-storage'],
]);
const OF_CONTAINERS: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);

const isHugePages = (name: string): boolean => name.startsWith('hugepages-');
const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');
const isExtended = (name: string): boolean =>
  !isNative(name) && !name.startsWith('requests.') && qualifiedNameErrors(`requests.${name}`).length === 0;
const mayOvercommit = (name: string): boolean => isNative(name) && !isHugePages(name);

const byName = (amounts: Quantities): readonly (readonly [string, string | number])[] =>
  Object.entries(amounts).sort(([a], [b]) => byText(a, b));

/** The name must be qualified, or known to Kubernetes. */
export function resourceNameCauses(field: string, name: string): Causes {
  const errors = complaints(field, name, qualifiedNameErrors(name));
  if (errors.length > 0) return errors;
  const isKnown = STANDARD.has(name) || isHugePages(name) || isHugePages(name.replace(/^requests\./, ''));
  return name.includes('/') || isKnown
    ? []
    : [invalidValue(field, name, 'must be a standard resource type or fully qualified')];
}

function containerResourceNameCauses(field: string, name: string): Causes {
  const causes = resourceNameCauses(field, name);
  if (!name.includes('/')) {
    const isKnown = OF_CONTAINERS.has(name) || isHugePages(name);
    return isKnown ? causes : [...causes, invalidValue(field, name, 'must be a standard resource for containers')];
  }
  return isNative(name) || isExtended(name)
    ? causes
    : [...causes, invalidValue(field, name, "doesn't follow extended resource name standard")];
}

/** The amount must not be negative, and an integer for countable resources. */
export function amountCauses(field: string, name: string, amount: string | number): Causes {
  const quantity = parseQuantity(amount);
  if (quantity === undefined) return []; // decoding has rejected it
  if (quantity.nano < 0n) {
    return [invalidValue(field, canonicalQuantity(amount), 'must be greater than or equal to 0')];
  }
  const isWhole = quantity.nano % 1_000_000_000n === 0n;
  return isWhole || !(COUNTED.includes(name) || isExtended(name))
    ? []
    : [invalidValue(field, canonicalQuantity(amount), 'must be an integer')];
}

/** `resources` of a container. */
export function resourceCauses(field: string, resources: Resources | undefined): Causes {
  if (resources === undefined) return [];
  const { limits = {}, requests = {} } = resources;
  const causes: FieldCause[] = [];
  for (const [name, amount] of byName(limits)) {
    const at = `${field}.limits[${name}]`;
    causes.push(...containerResourceNameCauses(at, name), ...amountCauses(at, name, amount));
  }
  for (const [name, amount] of byName(requests)) {
    const at = `${field}.requests[${name}]`;
    causes.push(...containerResourceNameCauses(at, name), ...amountCauses(at, name, amount));
    causes.push(...fitCauses(field, name, amount, Object.hasOwn(limits, name) ? limits[name] : undefined));
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isHugePages) && !names.some((name) => name === 'cpu' || name === 'memory')) {
    causes.push(forbiddenField(field, 'HugePages require cpu or memory'));
  }
  return causes;
}

function fitCauses(field: string, name: string, request: string | number, limit: string | number | undefined): Causes {
  if (limit === undefined) {
    const why = 'Limit must be set for non overcommitable resources';
    return mayOvercommit(name) ? [] : [required(`${field}.limits`, why)];
  }
  const [asked, max] = [parseQuantity(request), parseQuantity(limit)] as [Quantity, Quantity];
  const order = asked && max ? compareQuantities(asked, max) : 0;
  const shown = () => [canonicalQuantity(request), canonicalQuantity(limit)] as const;
  if (order !== 0 && !mayOvercommit(name)) {
    return [invalidValue(`${field}.requests`, shown()[0], `must be equal to ${name} limit of ${shown()[1]}`)];
  }
  if (order > 0) {
    return [
      invalidValue(`${field}.requests`, shown()[0], `must be less than or equal to ${name} limit of ${shown()[1]}`),
    ];
  }
  return [];
}

/** Rewrites all amounts of a map in canonical form. */
export function canonicalAmounts(amounts: Quantities | undefined): void {
  if (!amounts) return;
  for (const name of Object.keys(amounts)) {
    const amount = amounts[name];
    if (amount !== undefined && parseQuantity(amount) !== undefined) amounts[name] = canonicalQuantity(amount);
  }
}
