// Assigns an address to a Service of type LoadBalancer, and removes it when the type changes.

import type { Service } from '../../../api/builtin/shapes.ts';
import { numberOf } from '../names.ts';
import { isDeleting } from '../reading.ts';
import { services } from '../resources.ts';
import { nothing, type Rule, statusWrites } from '../rule.ts';

/**
 * The other half of the address range reserved for benchmarks, so that no real machine or simulated node has the
 * address.
 */
const addressOf = (uid: string): string => {
  const host = numberOf(uid, 65_534) + 1;
  return `198.19.${host >> 8}.${host & 255}`;
};

export const service: Rule<Service, undefined> = (object) => {
  const { spec, status } = object;
  if (spec === undefined || isDeleting(object)) return nothing;
  const present = status?.loadBalancer?.ingress ?? [];
  if (spec.type !== 'LoadBalancer') {
    const isOurs = present.length > 0 && present.every(({ ip }) => ip === addressOf(object.metadata.uid ?? ''));
    if (!isOurs) return nothing;
    return {
      writes: statusWrites(services, object, { status: { ...status, loadBalancer: {} }, because: 'no load balancer' }),
    };
  }
  // The class belongs to another controller, or it already has an address.
  if (spec.loadBalancerClass !== undefined || present.length > 0) return nothing;
  const ip = spec.loadBalancerIP || addressOf(object.metadata.uid ?? '');
  const next = { ...status, loadBalancer: { ingress: [{ ip, ipMode: 'VIP' }] } };
  return { writes: statusWrites(services, object, { status: next, because: ip }) };
};
