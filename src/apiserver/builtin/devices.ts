// Device claims: a request without a count means one device.
import type { Behaviour, Draft } from '../registry.ts';
import { KEEPS_OWNED_METADATA } from '../status-keeps.ts';
import { behaviour, specOf } from './behaviour.ts';

interface Request {
  allocationMode?: string;
  count?: number;
}

interface ClaimSpec {
  devices?: { requests?: { exactly?: Request; firstAvailable?: Request[] }[] };
}

function fill(request: Request): void {
  request.allocationMode ||= 'ExactCount';
  if (request.allocationMode === 'ExactCount') request.count ||= 1;
}

function defaultClaim(spec: ClaimSpec): void {
  for (const { exactly, firstAvailable } of spec.devices?.requests ?? []) {
    if (exactly) fill(exactly);
    firstAvailable?.forEach(fill);
  }
}

export const resourceClaim: Behaviour = behaviour({
  statusKeeps: KEEPS_OWNED_METADATA,
  returnsDeleted: true,
  default: (draft: Draft) => defaultClaim(specOf<ClaimSpec>(draft)),
});

export const resourceClaimTemplate: Behaviour = behaviour({
  returnsDeleted: true,
  default(draft) {
    const spec = specOf<{ spec?: ClaimSpec }>(draft);
    spec.spec ??= {};
    defaultClaim(spec.spec);
  },
});
