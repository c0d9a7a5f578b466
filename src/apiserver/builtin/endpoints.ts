// Endpoints and EndpointSlices.
import type { FieldCause } from '../../api/kind.ts';
import { invalidValue, required } from '../../api/status.ts';
import type { Behaviour } from '../registry.ts';
import { behaviour } from './behaviour.ts';
import { type Causes, ipAddress, isIpv4, isIpv6, oneOf, portNumber, requiredOneOf } from './field-checks.ts';

interface Subset {
  addresses?: { ip?: string }[];
  notReadyAddresses?: { ip?: string }[];
  ports?: { name?: string; port?: number; protocol?: string }[];
}

const PROTOCOLS: readonly string[] = ['SCTP', 'TCP', 'UDP'];

export const endpoints: Behaviour = behaviour({
  createOnUpdate: true,
  default(draft) {
    for (const subset of (draft.subsets ?? []) as Subset[]) {
      for (const port of subset.ports ?? []) port.protocol ||= 'TCP';
    }
  },
  validate: (object) =>
    ((object.subsets ?? []) as readonly Subset[]).flatMap((subset, index) => subsetCauses(`subsets[${index}]`, subset)),
});

function subsetCauses(field: string, { addresses = [], notReadyAddresses = [], ports = [] }: Subset): Causes {
  const causes: FieldCause[] = [];
  if (addresses.length === 0 && notReadyAddresses.length === 0) {
    causes.push(required(field, 'must specify `addresses` or `notReadyAddresses`'));
  }
  for (const [list, part] of [
    [addresses, 'addresses'],
    [notReadyAddresses, 'notReadyAddresses'],
  ] as const) {
    list.forEach(({ ip = '' }, index) => {
      const at = `${field}.${part}[${index}].ip`;
      causes.push(...ipAddress(at, ip));
      // Reported twice by a real server: once for the syntax, once for the semantics.
      if (!isIpv4(ip) && !isIpv6(ip)) causes.push(invalidValue(at, ip, 'must be a valid IP address'));
    });
  }
  ports.forEach(({ name, port = 0, protocol }, index) => {
    const at = `${field}.ports[${index}]`;
    if (!name && ports.length > 1) causes.push(required(`${at}.name`));
    causes.push(...portNumber(`${at}.port`, port), ...requiredOneOf(`${at}.protocol`, protocol, PROTOCOLS));
  });
  return causes;
}

interface Endpoint {
  addresses?: string[];
  conditions?: object;
}

export const endpointSlice: Behaviour = behaviour({
  countsGeneration: true,
  default(draft) {
    for (const port of (draft.ports ?? []) as { name?: string; protocol?: string }[]) {
      port.name ??= '';
      port.protocol ??= 'TCP';
    }
  },
  validate(object, old) {
    const { addressType } = object;
    const causes: FieldCause[] = [...requiredOneOf('addressType', addressType as string, ['FQDN', 'IPv4', 'IPv6'])];
    if (old !== undefined && old.addressType !== addressType) {
      causes.push(invalidValue('addressType', addressType, 'field is immutable'));
    }
    ((object.endpoints ?? []) as readonly Endpoint[]).forEach((endpoint, index) => {
      const addresses = endpoint.addresses ?? [];
      const at = `endpoints[${index}].addresses`;
      if (addresses.length === 0) causes.push(required(at, 'must contain at least 1 address'));
      if (addressType !== 'IPv4' && addressType !== 'IPv6') return;
      addresses.forEach((address, place) => {
        const isRight = addressType === 'IPv4' ? isIpv4(address) : isIpv6(address);
        const why = `must be a valid ${addressType} address, (e.g. ${addressType === 'IPv4' ? '10.9.8.7' : '2001:db8::ffff'})`;
        if (!isRight) causes.push(invalidValue(`${at}[${place}]`, address, why));
      });
    });
    ((object.ports ?? []) as readonly { protocol?: string }[]).forEach(({ protocol }, index) => {
      causes.push(...oneOf(`ports[${index}].protocol`, protocol, PROTOCOLS));
    });
    return causes;
  },
});
