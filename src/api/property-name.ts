// Names of cluster properties, parsed the same way by admission and by the scheduler.
// Differs from KubeFleet: there the scheduler splits a resource property at every dash, so that a policy on
// `available-ephemeral-storage` is accepted and then never scheduled.

const RESOURCE_PREFIX = 'resources.kubernetes-fleet.io/';

/** Segments of a qualified name, separated by slashes: `kubernetes.azure.com/vm-sizes/Standard_D4/count`. */
export const PROPERTY_NAME = '^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?(/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)*$';
export const PROPERTY_NAME_LENGTH = 1024;

/** Where the status of a MemberCluster contains the value of a property. */
export interface PropertySource {
  readonly from: 'properties' | 'capacity' | 'allocatable' | 'available';
  readonly key: string;
}

const FIELDS: Readonly<Record<string, PropertySource['from']>> = {
  total: 'capacity',
  allocatable: 'allocatable',
  available: 'available',
};

/** undefined = no cluster can ever report a property of this name. */
export function propertySourceOf(name: string): PropertySource | undefined {
  if (!name.startsWith(RESOURCE_PREFIX)) return name === '' ? undefined : { from: 'properties', key: name };
  const rest = name.slice(RESOURCE_PREFIX.length);
  // The name of the resource may itself contain dashes, such as `ephemeral-storage`.
  const dash = rest.indexOf('-');
  const kind = dash < 0 ? '' : rest.slice(0, dash);
  const key = rest.slice(dash + 1);
  const from = Object.hasOwn(FIELDS, kind) ? FIELDS[kind] : undefined;
  return from === undefined || key === '' ? undefined : { from, key };
}
