// Kubernetes' extensions of CEL: quantities, URLs, addresses, networks, versions and named formats.
import {
  dns1035LabelErrors,
  dnsLabelErrors,
  dnsSubdomainErrors,
  labelValueErrors,
  qualifiedNameErrors,
} from '../../../base/names.ts';
import { formatCheck } from '../formats.ts';
import { type Cidr, contains, formatIp, type Ip, isMapped, masked, parseCidr, parseIp } from '../value/ip.ts';
import {
  approximateQuantity,
  isWholeQuantity,
  parseQuantity,
  quantityOfWhole,
  wholeOfQuantity,
} from '../value/quantity.ts';
import { compareSemver, parseLooseSemver, parseSemver, type Semver } from '../value/semver.ts';
import { parseUrl, type UrlParts } from '../value/url.ts';
import { type Declaration, fn, method } from './overload.ts';
import { CelError, Opaque, Optional } from './value.ts';

// ---- quantities

class Quantity extends Opaque {
  readonly typeName = 'kubernetes.Quantity';
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    super();
    this.nanos = nanos;
  }
  override equals(other: this): boolean {
    return this.nanos === other.nanos;
  }
}

function quantity(text: string): Quantity {
  const nanos = parseQuantity(text);
  if (nanos === undefined) {
    throw new CelError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  }
  return new Quantity(nanos);
}

const order = (a: bigint, b: bigint): bigint => (a < b ? -1n : a > b ? 1n : 0n);

const Q = 'kubernetes.Quantity';
const quantities: readonly Declaration[] = [
  fn('quantity', ['string'], Q, quantity),
  fn('isQuantity', ['string'], 'bool', (text: string) => parseQuantity(text) !== undefined),
  fn('sign', [Q], 'int', ({ nanos }: Quantity) => order(nanos, 0n)),
  method(Q, 'isGreaterThan', [Q], 'bool', (a: Quantity, b: Quantity) => a.nanos > b.nanos),
  method(Q, 'isLessThan', [Q], 'bool', (a: Quantity, b: Quantity) => a.nanos < b.nanos),
  method(Q, 'compareTo', [Q], 'int', (a: Quantity, b: Quantity) => order(a.nanos, b.nanos)),
  method(Q, 'asApproximateFloat', [], 'double', ({ nanos }: Quantity) => approximateQuantity(nanos)),
  method(Q, 'isInteger', [], 'bool', ({ nanos }: Quantity) => isWholeQuantity(nanos)),
  method(Q, 'asInteger', [], 'int', ({ nanos }: Quantity) => {
    if (!isWholeQuantity(nanos)) throw new CelError('cannot convert value to integer');
    return wholeOfQuantity(nanos);
  }),
  method(Q, 'add', [Q], Q, (a: Quantity, b: Quantity) => new Quantity(a.nanos + b.nanos)),
  method(Q, 'add', ['int'], Q, (a: Quantity, b: bigint) => new Quantity(a.nanos + quantityOfWhole(b))),
  method(Q, 'sub', [Q], Q, (a: Quantity, b: Quantity) => new Quantity(a.nanos - b.nanos)),
  method(Q, 'sub', ['int'], Q, (a: Quantity, b: bigint) => new Quantity(a.nanos - quantityOfWhole(b))),
];

// ---- URLs

class Url extends Opaque {
  readonly typeName = 'kubernetes.URL';
  readonly parts: UrlParts;
  readonly text: string;
  constructor(parts: UrlParts, text: string) {
    super();
    this.parts = parts;
    this.text = text;
  }
  override equals(other: this): boolean {
    return this.text === other.text;
  }
}

const U = 'kubernetes.URL';
const part = (name: string, get: (parts: UrlParts) => unknown, type = 'string'): Declaration =>
  method(U, name, [], type, ({ parts }: Url) => get(parts));
const urls: readonly Declaration[] = [
  fn('url', ['string'], U, (text: string) => {
    const parts = parseUrl(text);
    if (parts === undefined) {
      const why = `parse ${JSON.stringify(text)}: invalid URI for request`;
      throw new CelError(`URL parse error during conversion from string: ${why}`);
    }
    return new Url(parts, text);
  }),
  fn('isURL', ['string'], 'bool', (text: string) => parseUrl(text) !== undefined),
  part('getScheme', ({ scheme }) => scheme),
  part('getHost', ({ host }) => host),
  part('getHostname', ({ hostname }) => hostname),
  part('getPort', ({ port }) => port),
  part('getEscapedPath', ({ escapedPath }) => escapedPath),
  part(
    'getQuery',
    ({ query }) => new Map([...query].map(([key, values]) => [key, [...values]])),
    'map(string, list(string))',
  ),
];

// ---- addresses and networks

class Address extends Opaque {
  readonly typeName = 'net.IP';
  readonly ip: Ip;
  constructor(ip: Ip) {
    super();
    this.ip = ip;
  }
  override equals(other: this): boolean {
    return formatIp(this.ip) === formatIp(other.ip);
  }
}

class Network extends Opaque {
  readonly typeName = 'net.CIDR';
  readonly cidr: Cidr;
  constructor(cidr: Cidr) {
    super();
    this.cidr = cidr;
  }
  override equals(other: this): boolean {
    return cidrText(this.cidr) === cidrText(other.cidr);
  }
}

const cidrText = ({ address, prefixLength }: Cidr): string => `${formatIp(address)}/${prefixLength}`;

function addressOf(text: string): Ip {
  const ip = parseIp(text);
  if (ip === undefined) {
    const why = `ParseAddr(${JSON.stringify(text)}): unable to parse IP`;
    throw new CelError(`IP Address ${JSON.stringify(text)} parse error during conversion from string: ${why}`);
  }
  if (isMapped(ip)) throw new CelError(`IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`);
  return ip;
}

function networkOf(text: string): Cidr {
  const cidr = parseCidr(text);
  if (cidr === undefined) {
    // A real server repeats this prefix.
    const words = 'network address parse error during conversion from string';
    const why = text.includes('/') ? 'unable to parse network' : "no '/'";
    throw new CelError(`${words}: ${words}: netip.ParsePrefix(${JSON.stringify(text)}): ${why}`);
  }
  if (isMapped(cidr.address)) throw new CelError(`IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`);
  return cidr;
}

const succeeds = (attempt: () => unknown): boolean => {
  try {
    attempt();
    return true;
  } catch (error) {
    if (error instanceof CelError) return false;
    throw error;
  }
};

const inNetwork = (text: string): ((ip: Ip) => boolean) => {
  const cidr = networkOf(text);
  return (ip) => contains(cidr, ip);
};
const isUnspecified = ({ bytes }: Ip): boolean => bytes.every((byte) => byte === 0);
const [loopback4, linkLocal4, linkLocal6, multicast4, multicast6, localMulticast4] = [
  '127.0.0.0/8',
  '169.254.0.0/16',
  'fe80::/10',
  '224.0.0.0/4',
  'ff00::/8',
  '224.0.0.0/24',
].map(inNetwork) as [
  (ip: Ip) => boolean,
  (ip: Ip) => boolean,
  (ip: Ip) => boolean,
  (ip: Ip) => boolean,
  (ip: Ip) => boolean,
  (ip: Ip) => boolean,
];
const isLoopback = (ip: Ip): boolean => loopback4(ip) || (ip.family === 6 && formatIp(ip) === '::1');
const isLinkLocalUnicast = (ip: Ip): boolean => linkLocal4(ip) || linkLocal6(ip);
const isLinkLocalMulticast = (ip: Ip): boolean =>
  localMulticast4(ip) || (ip.family === 6 && ip.bytes[0] === 0xff && ((ip.bytes[1] ?? 0) & 0x0f) === 2);
const isGlobalUnicast = (ip: Ip): boolean =>
  !isUnspecified(ip) &&
  !isLoopback(ip) &&
  !multicast4(ip) &&
  !multicast6(ip) &&
  !isLinkLocalUnicast(ip) &&
  !(ip.family === 4 && formatIp(ip) === '255.255.255.255');

const addresses: readonly Declaration[] = [
  fn('ip', ['string'], 'net.IP', (text: string) => new Address(addressOf(text))),
  fn('isIP', ['string'], 'bool', (text: string) => succeeds(() => addressOf(text))),
  fn('ip.isCanonical', ['string'], 'bool', (text: string) => formatIp(addressOf(text)) === text),
  fn('string', ['net.IP'], 'string', ({ ip }: Address) => formatIp(ip)),
  method('net.IP', 'family', [], 'int', ({ ip }: Address) => BigInt(ip.family)),
  method('net.IP', 'isUnspecified', [], 'bool', ({ ip }: Address) => isUnspecified(ip)),
  method('net.IP', 'isLoopback', [], 'bool', ({ ip }: Address) => isLoopback(ip)),
  method('net.IP', 'isLinkLocalMulticast', [], 'bool', ({ ip }: Address) => isLinkLocalMulticast(ip)),
  method('net.IP', 'isLinkLocalUnicast', [], 'bool', ({ ip }: Address) => isLinkLocalUnicast(ip)),
  method('net.IP', 'isGlobalUnicast', [], 'bool', ({ ip }: Address) => isGlobalUnicast(ip)),
  fn('cidr', ['string'], 'net.CIDR', (text: string) => new Network(networkOf(text))),
  fn('isCIDR', ['string'], 'bool', (text: string) => succeeds(() => networkOf(text))),
  fn('string', ['net.CIDR'], 'string', ({ cidr }: Network) => cidrText(cidr)),
  method('net.CIDR', 'containsIP', ['string'], 'bool', ({ cidr }: Network, text: string) =>
    contains(cidr, addressOf(text)),
  ),
  method('net.CIDR', 'containsIP', ['net.IP'], 'bool', ({ cidr }: Network, { ip }: Address) => contains(cidr, ip)),
  method('net.CIDR', 'containsCIDR', ['string'], 'bool', ({ cidr }: Network, text: string) =>
    holds(cidr, networkOf(text)),
  ),
  method('net.CIDR', 'containsCIDR', ['net.CIDR'], 'bool', ({ cidr }: Network, other: Network) =>
    holds(cidr, other.cidr),
  ),
  method('net.CIDR', 'ip', [], 'net.IP', ({ cidr }: Network) => new Address(cidr.address)),
  method('net.CIDR', 'prefixLength', [], 'int', ({ cidr }: Network) => BigInt(cidr.prefixLength)),
  method('net.CIDR', 'masked', [], 'net.CIDR', ({ cidr }: Network) => new Network(masked(cidr))),
];

const holds = (outer: Cidr, inner: Cidr): boolean => contains(outer, inner.address, inner.prefixLength);

// ---- versions

class Version extends Opaque {
  readonly typeName = 'kubernetes.Semver';
  readonly semver: Semver;
  constructor(semver: Semver) {
    super();
    this.semver = semver;
  }
  override equals(other: this): boolean {
    return compareSemver(this.semver, other.semver) === 0;
  }
}

const readSemver = (text: string, loose: boolean): Semver | undefined =>
  loose ? parseLooseSemver(text) : parseSemver(text);

function version(text: string, loose = false): Version {
  const semver = readSemver(text, loose);
  if (semver === undefined) throw new CelError(semverComplaint(text));
  return new Version(semver);
}

function semverComplaint(text: string): string {
  const parts = text.split('.');
  if (parts.length < 3) return 'No Major.Minor.Patch elements found';
  const numbers = [...parts.slice(0, 2), parts.slice(2).join('.').split(/[-+]/)[0] ?? ''];
  for (const [at, name] of (['Major', 'Minor', 'Patch'] as const).entries()) {
    const number = JSON.stringify(numbers[at]);
    if (!/^\d+$/.test(numbers[at] ?? '')) {
      return `Invalid character(s) found in ${name.toLowerCase()} number ${number}`;
    }
    if (/^0\d/.test(numbers[at] ?? '')) return `${name} number must not contain leading zeroes ${number}`;
  }
  return `Invalid character(s) found in prerelease or build of ${JSON.stringify(text)}`;
}

const V = 'kubernetes.Semver';
const versions: readonly Declaration[] = [
  fn('semver', ['string'], V, (text: string) => version(text)),
  fn('semver', ['string', 'bool'], V, version),
  fn('isSemver', ['string'], 'bool', (text: string) => readSemver(text, false) !== undefined),
  fn('isSemver', ['string', 'bool'], 'bool', (text: string, loose: boolean) => readSemver(text, loose) !== undefined),
  method(V, 'isGreaterThan', [V], 'bool', (a: Version, b: Version) => compareSemver(a.semver, b.semver) > 0),
  method(V, 'isLessThan', [V], 'bool', (a: Version, b: Version) => compareSemver(a.semver, b.semver) < 0),
  method(V, 'compareTo', [V], 'int', (a: Version, b: Version) => BigInt(compareSemver(a.semver, b.semver))),
  method(V, 'major', [], 'int', ({ semver }: Version) => semver.major),
  method(V, 'minor', [], 'int', ({ semver }: Version) => semver.minor),
  method(V, 'patch', [], 'int', ({ semver }: Version) => semver.patch),
];

// ---- named formats

class NamedFormat extends Opaque {
  readonly typeName = 'kubernetes.NamedFormat';
  readonly format: string;
  readonly errorsOf: (text: string) => readonly string[];
  constructor(format: string, errorsOf: (text: string) => readonly string[]) {
    super();
    this.format = format;
    this.errorsOf = errorsOf;
  }
  override equals(other: this): boolean {
    return this.format === other.format;
  }
}

const byCheck =
  (format: string, complaint: string) =>
  (text: string): readonly string[] =>
    formatCheck(format)?.(text) === false ? [complaint] : [];
// A prefix may end with a dash, because more characters follow.
const prefix =
  (check: (text: string) => readonly string[]) =>
  (text: string): readonly string[] =>
    check(text.endsWith('-') ? `${text.slice(0, -1)}a` : text);

const formats = new Map(
  (
    [
      ['dns1123Label', dnsLabelErrors],
      ['dns1123Subdomain', dnsSubdomainErrors],
      ['dns1035Label', dns1035LabelErrors],
      ['qualifiedName', qualifiedNameErrors],
      ['dns1123LabelPrefix', prefix(dnsLabelErrors)],
      ['dns1123SubdomainPrefix', prefix(dnsSubdomainErrors)],
      ['dns1035LabelPrefix', prefix(dns1035LabelErrors)],
      ['labelValue', labelValueErrors],
      [
        'uri',
        (text: string) =>
          parseUrl(text) === undefined ? [`parse ${JSON.stringify(text)}: invalid URI for request`] : [],
      ],
      ['uuid', byCheck('uuid', 'does not match the UUID format')],
      ['byte', byCheck('byte', 'invalid base64')],
      ['date', byCheck('date', 'invalid date')],
      ['datetime', byCheck('date-time', 'invalid datetime')],
    ] as const
  ).map(([name, check]) => [name, new NamedFormat(name, check)] as const),
);

const F = 'kubernetes.NamedFormat';
const namedFormats: readonly Declaration[] = [
  fn('format.named', ['string'], `optional(${F})`, (name: string) => {
    const found = (formats as ReadonlyMap<string, NamedFormat>).get(name);
    return found === undefined ? Optional.none : Optional.of(found);
  }),
  ...[...formats].map(([name, format]) => fn(`format.${name}`, [], F, () => format)),
  method(F, 'validate', ['string'], 'optional(list(string))', ({ errorsOf }: NamedFormat, text: string) => {
    const errors = errorsOf(text);
    return errors.length === 0 ? Optional.none : Optional.of([...errors]);
  }),
];

export const kubernetesFunctions: readonly Declaration[] = [
  ...quantities,
  ...urls,
  ...addresses,
  ...versions,
  ...namedFormats,
];
