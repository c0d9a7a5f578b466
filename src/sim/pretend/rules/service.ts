// A Service of type LoadBalancer gets an address, and loses it when it is none any more.

import type { Service } from '../../../api/builtin/shapes.ts';
import { numberOf } from '../names.ts';
import { isDeleting } from '../reading.ts';
import { services } from '../resources.ts';
import { nothing, type Rule, statusWrites } from '../rule.ts';

/** The other half of the range set aside for benchmarks, so that no address is that of a real machine or of a pretend node. */
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
  // The class belongs to another controller; an address that exists is good enough.
  if (spec.loadBalancerClass !== undefined || present.length > 0) return nothing;
  const ip = spec.loadBalancerIP || addressOf(object.metadata.uid ?? '');
  const next = { ...status, loadBalancer: { ingress: [{ ip, ipMode: 'VIP' }] } };
  return { writes: statusWrites(services, object, { status: next, because: ip }) };
};
