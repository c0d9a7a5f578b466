import { spawnSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../base/random.ts';
import {
  type Credential,
  createAuthority,
  DAY_MS,
  issueClientCertificate,
  issueServerCertificate,
  SERVER_HOSTS,
} from './certificates.ts';

const now = Date.now();
const issuing = { now, random: seededRandom(1), lifetimeMs: 365 * DAY_MS };
const authority = createAuthority({ ...issuing, name: 'test "authority", one+two=three' });
const server = issueServerCertificate(authority, { ...issuing, hosts: [...SERVER_HOSTS, 'hub.example', '10.1.2.3'] });
const client = issueClientCertificate(authority, {
  ...issuing,
  user: 'jané "x"',
  groups: ['team:a', 'system:masters'],
});

describe('the certificates', () => {
  test('of server and client are signed by the authority and carry its key id', () => {
    const ca = new X509Certificate(authority.certificate);
    expect(ca.ca).toBe(true);
    expect(ca.verify(ca.publicKey)).toBe(true);
    for (const each of [server, client]) {
      const certificate = new X509Certificate(each.certificate);
      expect(certificate.ca).toBe(false);
      expect(certificate.checkIssued(ca)).toBe(true);
      expect(certificate.verify(ca.publicKey)).toBe(true);
      expect(certificate.checkPrivateKey(createPrivateKey(each.privateKey))).toBe(true);
    }
  });

  test('have different serial numbers, drawn from the given stream', () => {
    const serials = [authority, server, client].map((each) => new X509Certificate(each.certificate).serialNumber);
    expect(new Set(serials).size).toBe(3);
    const again = createAuthority({ ...issuing, random: seededRandom(1), name: 'x' });
    expect(new X509Certificate(again.certificate).serialNumber).toBe(serials[0]);
  });

  test('of a server answer to every host', () => {
    const certificate = new X509Certificate(server.certificate);
    for (const name of ['localhost', 'kubernetes.default.svc', 'hub.example'])
      expect(certificate.checkHost(name)).toBe(name);
    for (const address of ['127.0.0.1', '::1', '10.1.2.3']) expect(certificate.checkIP(address)).toBeTruthy();
    expect(certificate.checkHost('elsewhere.example')).toBeUndefined();
    expect(certificate.checkIP('10.1.2.4')).toBeUndefined();
  });

  test('of a client name the user and all groups, whatever characters they have', () => {
    const { subject } = new X509Certificate(client.certificate).toLegacyObject();
    expect(subject).toEqual({ CN: 'jané "x"', O: ['team:a', 'system:masters'] });
  });

  test('begin a little in the past, end when asked to, and never outlive the authority', () => {
    const certificate = new X509Certificate(client.certificate);
    expect(Date.parse(certificate.validFrom)).toBeLessThan(now);
    const short = createAuthority({ ...issuing, lifetimeMs: 10 * DAY_MS, name: 'short' });
    const leaf = new X509Certificate(issueServerCertificate(short, { ...issuing, hosts: ['a'] }).certificate);
    expect(leaf.validTo).toBe(new X509Certificate(short.certificate).validTo);
  });

  test('of a renewed authority with the old key still prove what the old one signed', () => {
    const renewed = createAuthority({
      ...issuing,
      name: 'test "authority", one+two=three',
      privateKey: authority.privateKey,
    });
    expect(new X509Certificate(server.certificate).checkIssued(new X509Certificate(renewed.certificate))).toBe(true);
    expect(new X509Certificate(server.certificate).verify(new X509Certificate(renewed.certificate).publicKey)).toBe(
      true,
    );
  });

  test.skipIf(spawnSync('openssl', ['version']).status !== 0)('are accepted by openssl for their purpose only', () => {
    const directory = mkdtempSync(join(tmpdir(), 'certificates-'));
    try {
      const file = (name: string, text: string) => {
        writeFileSync(join(directory, name), text, { mode: 0o600 });
        return join(directory, name);
      };
      const ca = file('ca.crt', authority.certificate);
      const verify = (purpose: string, credential: Credential, ...more: string[]) =>
        spawnSync('openssl', [
          ...['verify', '-x509_strict', '-CAfile', ca, '-purpose', purpose, ...more],
          file('leaf.crt', credential.certificate),
        ]).status;
      expect(verify('sslserver', server, '-verify_hostname', 'kubernetes.default')).toBe(0);
      expect(verify('sslserver', server, '-verify_ip', '::1')).toBe(0);
      expect(verify('sslserver', server, '-verify_hostname', 'elsewhere')).not.toBe(0);
      expect(verify('sslclient', client)).toBe(0);
      expect(verify('sslclient', server)).not.toBe(0);
      expect(verify('sslserver', client)).not.toBe(0);
      expect(verify('sslclient', createAuthority({ ...issuing, name: 'stranger' }))).not.toBe(0);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

describe('a handshake over https', () => {
  const answerTo = async (presented: Partial<Credential>, servername = 'localhost') => {
    const listener = createServer(
      {
        cert: server.certificate,
        key: server.privateKey,
        ca: authority.certificate,
        requestCert: true,
        rejectUnauthorized: false,
      },
      (incoming, outgoing) => {
        const socket = incoming.socket as TLSSocket;
        outgoing.end(
          JSON.stringify({ authorized: socket.authorized, subject: socket.getPeerCertificate().subject ?? null }),
        );
      },
    );
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    try {
      return await new Promise<unknown>((resolve, reject) => {
        const outgoing = request(
          {
            ...{ host: '127.0.0.1', port: (listener.address() as AddressInfo).port, servername, agent: false },
            ...{ ca: authority.certificate, cert: presented.certificate, key: presented.privateKey },
          },
          (incoming) => {
            let text = '';
            incoming.setEncoding('utf8').on('data', (piece) => {
              text += piece;
            });
            incoming.on('end', () => resolve(JSON.parse(text)));
          },
        );
        outgoing.on('error', reject).end();
      });
    } finally {
      listener.close();
    }
  };

  test('tells the server who the client is', async () => {
    expect(await answerTo(client)).toEqual({
      authorized: true,
      subject: { CN: 'jané "x"', O: ['team:a', 'system:masters'] },
    });
  });

  test('leaves a client without a certificate, with a stranger’s or with a server’s unauthorized', async () => {
    const stranger = createAuthority({ ...issuing, name: 'stranger' });
    const forged = issueClientCertificate(stranger, { ...issuing, user: 'root', groups: ['system:masters'] });
    const late = issueClientCertificate(authority, {
      ...issuing,
      now: now - 30 * DAY_MS,
      lifetimeMs: DAY_MS,
      user: 'a',
      groups: [],
    });
    for (const each of [{}, forged, server, late]) expect(await answerTo(each)).toMatchObject({ authorized: false });
  });

  test('fails for a client that expects another name', async () => {
    await expect(answerTo(client, 'elsewhere.example')).rejects.toThrow(/altnames/);
  });
});
