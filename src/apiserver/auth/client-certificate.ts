// The client certificate of a TLS connection, read once per connection.
import type { TLSSocket } from 'node:tls';
import type { ClientCertificate } from './authenticator.ts';

const known = new WeakMap<TLSSocket, ClientCertificate | null>();

/**
 * The certificate whose key the client has proven to own, if our CA signed it for clients. The listener must request
 * it: `requestCert: true, rejectUnauthorized: false, ca`. Returns the same object for the whole connection.
 */
export function clientCertificateOf(socket: TLSSocket): ClientCertificate | undefined {
  let certificate = known.get(socket);
  if (certificate === undefined) {
    certificate = socket.authorized ? read(socket) : null;
    known.set(socket, certificate);
  }
  return certificate ?? undefined;
}

function read(socket: TLSSocket): ClientCertificate | null {
  const peer = socket.getPeerCertificate();
  if (!peer?.subject) return null;
  const { CN, O } = peer.subject as { readonly CN?: string | string[]; readonly O?: string | string[] };
  return Object.freeze({
    commonName: listOf(CN).at(-1) ?? '',
    organizations: Object.freeze(listOf(O)),
    fingerprint: peer.fingerprint256,
    validUntil: Date.parse(peer.valid_to),
  });
}

const listOf = (value: string | string[] | undefined): string[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];
