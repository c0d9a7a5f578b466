// A Service is available when it can be reached: it has a cluster IP, or its load balancer has an address.
import { available, fieldsOf, notYet, type Rule, untracked } from './verdict.ts';

export const service: Rule = (live) => {
  const spec = fieldsOf(live.spec);
  switch (spec['type'] ?? '') {
    case '':
    case 'ClusterIP':
    case 'NodePort': {
      const { clusterIPs } = spec;
      const first: unknown = Array.isArray(clusterIPs) ? clusterIPs[0] : undefined;
      return typeof first === 'string' && first !== '' ? available : notYet('it has no cluster IP yet');
    }
    case 'LoadBalancer': {
      const { ingress } = fieldsOf(fieldsOf(live.status)['loadBalancer']);
      const first = fieldsOf(Array.isArray(ingress) ? ingress[0] : undefined);
      const hasAddress = isText(first['ip']) || isText(first['hostname']);
      return hasAddress ? available : notYet('its load balancer has no address yet');
    }
    default:
      return untracked;
  }
};

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
