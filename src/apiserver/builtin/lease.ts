// Leases: written often, with PUT of the object that was read.
import { invalidValue } from '../../api/status.ts';
import type { Behaviour } from '../registry.ts';
import { behaviour } from './behaviour.ts';
import { nonNegative } from './field-checks.ts';

interface LeaseSpec {
  leaseDurationSeconds?: number;
  leaseTransitions?: number;
}

export const lease: Behaviour = behaviour({
  createOnUpdate: true,
  unconditionalUpdate: false,
  validate(object) {
    const { leaseDurationSeconds: seconds, leaseTransitions } = (object.spec ?? {}) as LeaseSpec;
    return [
      ...(seconds !== undefined && seconds <= 0
        ? [invalidValue('spec.leaseDurationSeconds', seconds, 'must be greater than 0')]
        : []),
      ...nonNegative('spec.leaseTransitions', leaseTransitions),
    ];
  },
});
