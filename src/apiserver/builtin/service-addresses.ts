// Cluster IPs and node ports: which are allocated, and the next free one for a Service. Equal Services get equal
// addresses in every run: a hash of the Service's name is the first candidate, and the following ones are tried in
// order.
//
// Allocations are derived from the store: an index of claims, updated before each use and compared with the newest
// state on every collision. So a claim that was never written, or whose Service was deleted, costs nothing.
import { keyOf, prefixOf, type Store } from '../store/store.ts';
import type { ServiceSpec } from './drafts.ts';

export const CLUSTER_RANGE = '10.96.0.0/12';
export const NODE_PORTS = { first: 30000, last: 32767 } as const;
const NETWORK = (10 << 24) | (96 << 16);
const SIZE = 2 ** 20;
// The lowest addresses are reserved for Services that request a specific one, such as `kubernetes` and DNS.
const FIRST_DYNAMIC = 257;
const FIRST_DYNAMIC_PORT = NODE_PORTS.first + 86;

const SERVICES = prefixOf('', 'services');

interface Claims {
  revision: number;
  /** Address or port (as text) to the key of the Service that last had it. */
  readonly holders: Map<string, string>;
}

const claimsOfStores = new WeakMap<Store, Claims>();

function claimsOf(store: Store): Claims {
  let claims = claimsOfStores.get(store);
  const changes = claims === undefined ? 'compacted' : store.since(claims.revision, SERVICES);
  if (claims === undefined || changes === 'compacted') {
    const { items, revision } = store.range(SERVICES);
    claims = { revision, holders: new Map() };
    for (const stored of items) note(claims, stored.key, stored.object().spec as ServiceSpec | undefined);
    claimsOfStores.set(store, claims);
    return claims;
  }
  for (const { key, stored, deleted, revision } of changes) {
    if (!deleted) note(claims, key, stored.object().spec as ServiceSpec | undefined);
    claims.revision = revision;
  }
  return claims;
}

function note(claims: Claims, key: string, spec: ServiceSpec | undefined): void {
  for (const claim of claimsIn(spec)) claims.holders.set(claim, key);
}

function claimsIn(spec: ServiceSpec | undefined): readonly string[] {
  if (spec === undefined) return [];
  const ports = (spec.ports ?? []).flatMap(({ nodePort, protocol }) =>
    nodePort ? [portClaim(nodePort, protocol ?? 'TCP')] : [],
  );
  if (spec.healthCheckNodePort) ports.push(portClaim(spec.healthCheckNodePort, 'TCP'));
  return [...(spec.clusterIPs ?? []).filter((ip) => ip !== 'None'), ...ports];
}

const portClaim = (port: number, protocol: string): string => `${protocol}/${port}`;

export interface Place {
  readonly store: Store;
  readonly namespace: string;
  readonly name: string;
}

const keyAt = ({ namespace, name }: Place): string => keyOf('', 'services', namespace, name);

function isTaken(place: Place, claims: Claims, claim: string): boolean {
  const key = claims.holders.get(claim);
  if (key === undefined || key === keyAt(place)) return false;
  const spec = place.store.get(key, 'head')?.object().spec as ServiceSpec | undefined;
  return claimsIn(spec).includes(claim);
}

/** Records the claim of one Service, so that others see it before it is visible. False: another Service has it. */
function take(place: Place, claim: string): boolean {
  const claims = claimsOf(place.store);
  if (isTaken(place, claims, claim)) return false;
  claims.holders.set(claim, keyAt(place));
  return true;
}

/** False if another Service has the address. */
export const takeIp = (place: Place, ip: string): boolean => take(place, ip);

export const takePort = (place: Place, port: number, protocol: string): boolean =>
  take(place, portClaim(port, protocol));

const textOf = (offset: number): string => {
  const address = (NETWORK + offset) >>> 0;
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.');
};

/** The offset of an address in the range; undefined = outside, or the first or last address. */
export function offsetOf(ip: string): number | undefined {
  const parts = ip.split('.');
  if (parts.length !== 4) return undefined;
  const address = parts.reduce((sum, part) => sum * 256 + Number(part), 0);
  const offset = address - (NETWORK >>> 0);
  return offset > 0 && offset < SIZE - 1 ? offset : undefined;
}

/** A free address for a Service, or undefined if the range is exhausted. */
export function freeIp(place: Place): string | undefined {
  const claims = claimsOf(place.store);
  const candidates = SIZE - 1 - FIRST_DYNAMIC;
  const start = hashOf(`${place.namespace}/${place.name}`) % candidates;
  for (let step = 0; step < candidates; step++) {
    const ip = textOf(FIRST_DYNAMIC + ((start + step) % candidates));
    if (isTaken(place, claims, ip)) continue;
    claims.holders.set(ip, keyAt(place));
    return ip;
  }
  return undefined;
}

/**
 * A node port that is free for all of these protocols; `label` distinguishes the ports of one Service, `own` are those
 * it already has.
 */
export function freeNodePort(
  place: Place,
  { label, protocols, own }: { label: string; protocols: readonly string[]; own: ReadonlySet<number> },
): number | undefined {
  const claims = claimsOf(place.store);
  const count = NODE_PORTS.last - NODE_PORTS.first + 1;
  const start = FIRST_DYNAMIC_PORT - NODE_PORTS.first;
  const first = start + (hashOf(`${place.namespace}/${place.name}/${label}`) % (count - start));
  for (let step = 0; step < count; step++) {
    const port = NODE_PORTS.first + ((first + step) % count);
    if (own.has(port)) continue;
    if (protocols.some((protocol) => isTaken(place, claims, portClaim(port, protocol)))) continue;
    for (const protocol of protocols) claims.holders.set(portClaim(port, protocol), keyAt(place));
    return port;
  }
  return undefined;
}

// FNV-1a: distributes names over the range.
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
