// Validation of a claim's spec as on a real server: in a PersistentVolumeClaim, a StatefulSet, or a Pod's volume.
import { required } from '../../api/status.ts';
import type { ClaimSpec } from './drafts.ts';
import { type Causes, dnsSubdomain, oneOf } from './field-checks.ts';
import { amountCauses } from './resources.ts';

const ACCESS_MODES: readonly string[] = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

export const accessModeCauses = (field: string, modes: readonly string[]): Causes =>
  modes.flatMap((mode) => oneOf(field, mode, ACCESS_MODES));

export function claimSpecCauses(field: string, { accessModes = [], resources, storageClassName }: ClaimSpec): Causes {
  const storage = resources?.requests?.['storage'];
  return [
    ...(accessModes.length === 0 ? [required(`${field}.accessModes`, 'at least 1 access mode is required')] : []),
    ...accessModeCauses(`${field}.accessModes`, accessModes),
    ...(storage === undefined
      ? [required(`${field}.resources[storage]`)]
      : amountCauses(`${field}.resources[storage]`, 'storage', storage)),
    ...(storageClassName ? dnsSubdomain(`${field}.storageClassName`, storageClassName) : []),
  ];
}
