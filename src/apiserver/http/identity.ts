// Who a TLS connection belongs to. A certificate counts only when it was checked against our CA.
import type { Socket } from 'node:net';
import { type PeerCertificate, TLSSocket } from 'node:tls';
import type { ClientCertificate } from './http-cluster.ts';

const NOBODY = Symbol('no certificate');
const known = new WeakMap<Socket, ClientCertificate | typeof NOBODY>();

/** Asked once per connection: reading a certificate costs more than a request. */
export function certificateOf(socket: Socket): ClientCertificate | undefined {
  let certificate = known.get(socket);
  if (certificate === undefined) {
    certificate = readCertificate(socket) ?? NOBODY;
    known.set(socket, certificate);
  }
  return certificate === NOBODY ? undefined : certificate;
}

function readCertificate(socket: Socket): ClientCertificate | undefined {
  // `authorized` alone is not enough: a resumed TLS 1.3 session without a certificate is also called so.
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const { subject } = (socket.getPeerCertificate() ?? {}) as Partial<PeerCertificate>;
  if (!subject) return undefined;
  const [commonName] = words(subject.CN);
  return commonName ? { commonName, organizations: words(subject.O) } : undefined;
}

/** A name that occurs several times comes as an array. */
const words = (value: string | readonly string[] | undefined): readonly string[] =>
  value === undefined ? [] : typeof value === 'string' ? [value] : value;
