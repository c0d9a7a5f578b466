// The defaults that a server sets in entries of atomic lists, so that a list that we applied can be distinguished from
// one that another client changed: constants of a type, and values that follow from the rest of the entry. Only types
// that occur in such lists are here.
// A missing value costs one write without effect when an agent restarts; a wrong one hides a change.
import type { Json, JsonObject } from '../../base/json.ts';
import { lazyByText } from '../../base/lazy.ts';
import { jsonFields } from './facts.ts';

/** The entry as the server stores it; the input has no nulls and no values that count as empty. */
export function filledIn(typeName: string, entry: JsonObject): JsonObject {
  const full = { ...constantsOf(typeName), ...entry };
  return { ...full, ...CONSEQUENCES[typeName]?.(full) };
}

const CORE = 'io.k8s.api.core.v1';
const ADMISSION = 'io.k8s.api.admissionregistration.v1';
const RBAC = 'io.k8s.api.rbac.v1';
const DEVICES = 'io.k8s.api.resource.v1';

const CONSTANTS: Readonly<Record<string, JsonObject>> = {
  [`${ADMISSION}.NamedRuleWithOperations`]: { scope: '*' },
  [`${ADMISSION}.RuleWithOperations`]: { scope: '*' },
  'io.k8s.api.batch.v1.PodFailurePolicyOnPodConditionsPattern': { status: 'True' },
  [`${CORE}.EndpointPort`]: { protocol: 'TCP' },
  [`${CORE}.ObjectFieldSelector`]: { apiVersion: 'v1' },
  // volumeClaimTemplates of a StatefulSet.
  [`${CORE}.PersistentVolumeClaim`]: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', status: { phase: 'Pending' } },
  [`${CORE}.PersistentVolumeClaimSpec`]: { volumeMode: 'Filesystem' },
  [`${CORE}.ResourceFieldSelector`]: { divisor: '0' },
  [`${CORE}.ServiceAccountTokenProjection`]: { expirationSeconds: 3600 },
  'io.k8s.api.discovery.v1.EndpointPort': { name: '', protocol: 'TCP' },
  'io.k8s.api.networking.v1.NetworkPolicyPort': { protocol: 'TCP' },
};

const requestedDevices = ({ allocationMode = 'ExactCount', count = 1 }: JsonObject): JsonObject =>
  allocationMode === 'ExactCount' ? { allocationMode, count } : {};

const CONSEQUENCES: Readonly<Record<string, (entry: JsonObject) => JsonObject>> = {
  [`${CORE}.LimitRangeItem`]({ type, min, max, default: usual, defaultRequest }) {
    if (type !== 'Container') return {};
    const limit = { ...quantities(max), ...quantities(usual) };
    return { default: limit, defaultRequest: { ...quantities(min), ...limit, ...quantities(defaultRequest) } };
  },
  [`${RBAC}.Subject`]: ({ kind, apiGroup }) =>
    apiGroup === undefined && (kind === 'User' || kind === 'Group') ? { apiGroup: 'rbac.authorization.k8s.io' } : {},
  [`${DEVICES}.DeviceSubRequest`]: requestedDevices,
  [`${DEVICES}.ExactDeviceRequest`]: requestedDevices,
};

const quantities = (value: Json | undefined): JsonObject => (value ?? {}) as JsonObject;

const constantsOf: (typeName: string) => JsonObject = lazyByText((typeName) => ({
  ...Object.fromEntries(jsonFields(typeName).flatMap((fact) => marked(fact.name, fact.default as Json | undefined))),
  ...CONSTANTS[typeName],
}));

const marked = (name: string, value: Json | undefined): readonly (readonly [string, Json])[] =>
  value === undefined ? [] : [[name, value]];
