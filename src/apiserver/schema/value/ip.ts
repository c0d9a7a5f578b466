// IP addresses and networks, as bytes. Strict: no leading zeros, no zones, no mapped addresses.

export interface Ip {
  readonly family: 4 | 6;
  readonly bytes: Uint8Array;
}

export interface Cidr {
  /** As written, host bits included. */
  readonly address: Ip;
  readonly prefixLength: number;
}

export function parseIp(text: string): Ip | undefined {
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text);
}

function parseIpv4(text: string): Ip | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  const bytes = new Uint8Array(4);
  for (const [at, part] of parts.entries()) {
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined;
    bytes[at] = Number(part);
  }
  return { family: 4, bytes };
}

function parseIpv6(text: string): Ip | undefined {
  let source = text;
  const lastColon = text.lastIndexOf(':');
  if (text.includes('.')) {
    const tail = parseIpv4(text.slice(lastColon + 1));
    if (tail === undefined) return undefined;
    const [a = 0, b = 0, c = 0, d = 0] = tail.bytes;
    source = `${text.slice(0, lastColon + 1)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  }
  const halves = source.split('::');
  if (halves.length > 2) return undefined;
  const groupsOf = (half: string | undefined): string[] => (half === undefined || half === '' ? [] : half.split(':'));
  const head = groupsOf(halves[0]);
  const tail = groupsOf(halves[1]);
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const groups = [...head, ...Array.from({ length: halves.length === 1 ? 0 : missing }, () => '0'), ...tail];
  const bytes = new Uint8Array(16);
  for (const [at, group] of groups.entries()) {
    if (!/^[0-9a-fA-F]{1,4}$/.test(group)) return undefined;
    const value = Number.parseInt(group, 16);
    bytes[at * 2] = value >> 8;
    bytes[at * 2 + 1] = value & 0xff;
  }
  return { family: 6, bytes };
}

/** An IPv4 address written as IPv6 (`::ffff:1.2.3.4`). */
export const isMapped = ({ family, bytes }: Ip): boolean =>
  family === 6 && bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;

export function formatIp({ family, bytes }: Ip): string {
  if (family === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, at) => ((bytes[at * 2] ?? 0) << 8) | (bytes[at * 2 + 1] ?? 0));
  let best = { at: -1, length: 1 };
  for (let at = 0; at < 8; at++) {
    let length = 0;
    while (at + length < 8 && groups[at + length] === 0) length++;
    if (length > best.length) best = { at, length };
  }
  const words = (from: number, to: number): string =>
    groups
      .slice(from, to)
      .map((group) => group.toString(16))
      .join(':');
  return best.at < 0 ? words(0, 8) : `${words(0, best.at)}::${words(best.at + best.length, 8)}`;
}

export function parseCidr(text: string): Cidr | undefined {
  const slash = text.lastIndexOf('/');
  if (slash < 0) return undefined;
  const address = parseIp(text.slice(0, slash));
  const bits = text.slice(slash + 1);
  if (address === undefined || !/^(0|[1-9]\d{0,2})$/.test(bits)) return undefined;
  const prefixLength = Number(bits);
  return prefixLength <= address.bytes.length * 8 ? { address, prefixLength } : undefined;
}

/** The network's first address: host bits are zero. */
export function masked({ address, prefixLength }: Cidr): Cidr {
  const bytes = address.bytes.map((byte, at) => {
    const kept = Math.min(8, Math.max(0, prefixLength - at * 8));
    return byte & (0xff << (8 - kept)) & 0xff;
  });
  return { address: { family: address.family, bytes }, prefixLength };
}

export function contains(outer: Cidr, address: Ip, prefixLength = address.bytes.length * 8): boolean {
  if (outer.address.family !== address.family || prefixLength < outer.prefixLength) return false;
  const network = masked({ address, prefixLength: outer.prefixLength }).address.bytes;
  return masked(outer).address.bytes.every((byte, at) => byte === network[at]);
}
