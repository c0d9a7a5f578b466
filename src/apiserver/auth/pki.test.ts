import { X509Certificate } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { seededRandom } from '../../base/random.ts';
import { DAY_MS } from './certificates.ts';
import { kubeconfigText, serverUrl, writeKubeconfig } from './kubeconfig.ts';
import { filesIn, filesInMemory, loadOrCreatePki, type PkiFiles } from './pki.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
const random = seededRandom(3);
const load = (files: PkiFiles, days = 0, hosts: string[] = []) =>
  loadOrCreatePki({ files, now: START + days * DAY_MS, random, hosts });

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pki-'));
});
afterEach(() => rm(directory, { recursive: true }));

describe('the keys of a server', () => {
  test('are made once and found again', async () => {
    const files = filesIn(join(directory, 'pki'));
    const first = await load(files);
    const second = await load(files, 100);
    expect(second.authority).toEqual(first.authority);
    expect(second.server).toEqual(first.server);
    expect(second.admin).toEqual(first.admin);
    expect(second.signingKey.keyId).toBe(first.signingKey.keyId);
  });

  test('are readable by their owner only, and leave nothing else behind', async () => {
    const pki = join(directory, 'pki');
    await load(filesIn(pki));
    expect((await stat(pki)).mode & 0o777).toBe(0o700);
    const names = (await readdir(pki)).sort();
    expect(names).toEqual(['admin.crt', 'admin.key', 'ca.crt', 'ca.key', 'sa.key', 'server.crt', 'server.key']);
    for (const name of names) expect((await stat(join(pki, name))).mode & 0o777).toBe(0o600);
  });

  test('name the administrator', async () => {
    const { admin } = await load(filesInMemory());
    const { subject } = new X509Certificate(admin.certificate).toLegacyObject();
    expect(subject).toEqual({ CN: 'flotilla-admin', O: 'system:masters' });
  });

  test.each([
    { it: 'near its end', days: 306, hosts: [] },
    { it: 'past its end', days: 400, hosts: [] },
    { it: 'lacking a name', days: 0, hosts: ['hub.example'] },
    { it: 'lacking an address', days: 0, hosts: ['10.9.8.7'] },
  ])('get a new server certificate for one $it, from the same authority', async ({ days, hosts }) => {
    const files = filesInMemory();
    const first = await load(files);
    const second = await load(files, days, hosts);
    expect(second.server.certificate).not.toBe(first.server.certificate);
    expect(second.authority).toEqual(first.authority);
    expect((await load(files, days, hosts)).server).toEqual(second.server);
    const certificate = new X509Certificate(second.server.certificate);
    expect(certificate.verify(new X509Certificate(first.authority.certificate).publicKey)).toBe(true);
  });

  test('keep the authority’s key and trust when its certificate is renewed', async () => {
    const files = filesInMemory();
    const first = await load(files);
    const late = await load(files, 9 * 365);
    expect(late.authority.certificate).not.toBe(first.authority.certificate);
    expect(late.authority.privateKey).toBe(first.authority.privateKey);
    const server = new X509Certificate(late.server.certificate);
    expect(server.checkIssued(new X509Certificate(first.authority.certificate))).toBe(true);
    expect(Date.parse(server.validTo)).toBeLessThan(
      Date.parse(new X509Certificate(late.authority.certificate).validTo),
    );
  });

  test.each(['server.key', 'server.crt', 'admin.key', 'admin.crt'])('repair a damaged %s', async (name) => {
    const files = filesInMemory();
    await load(files);
    await files.write(name, 'nonsense');
    await load(files);
    expect(await files.read(name)).not.toBe('nonsense');
  });

  test.each([
    { it: 'a damaged ca.key', break: (files: PkiFiles) => files.write('ca.key', 'x'), says: 'cannot read ca.key' },
    { it: 'a damaged ca.crt', break: (files: PkiFiles) => files.write('ca.crt', 'x'), says: 'cannot read ca.crt' },
    { it: 'a damaged sa.key', break: (files: PkiFiles) => files.write('sa.key', 'x'), says: 'cannot read sa.key' },
    {
      it: 'a ca.key of somebody else',
      break: async (files: PkiFiles) => files.write('ca.key', (await load(filesInMemory())).authority.privateKey),
      says: 'ca.key does not belong to ca.crt',
    },
  ])('refuse to start with $it instead of replacing it', async ({ break: spoil, says }) => {
    const files = filesInMemory();
    await load(files);
    await spoil(files);
    await expect(load(files)).rejects.toThrow(says);
  });

  test('refuse to start when the authority has lost its key, and begin anew when it has lost both', async () => {
    const files = filesIn(directory);
    const first = await load(files);
    await rm(join(directory, 'ca.key'));
    await expect(load(files)).rejects.toThrow('ca.crt is there but its key ca.key is not');
    await rm(join(directory, 'ca.crt'));
    const second = await load(files);
    expect(second.authority.certificate).not.toBe(first.authority.certificate);
    const server = new X509Certificate(second.server.certificate);
    expect(server.verify(new X509Certificate(second.authority.certificate).publicKey)).toBe(true);
  });

  test('do not follow a link that somebody has laid', async () => {
    const victim = join(directory, 'victim');
    await writeFile(victim, 'untouched');
    await symlink(victim, join(directory, 'ca.key.new'));
    await load(filesIn(directory));
    expect((await stat(victim)).size).toBe('untouched'.length);
  });

  test('stay safe when the process dies between any two writes', async () => {
    const complete = filesInMemory();
    let writes = 0;
    await load({ read: complete.read, write: async () => void writes++ });
    for (let survived = 0; survived <= writes; survived++) {
      const files = filesInMemory();
      let left = survived;
      const dying: PkiFiles = {
        read: files.read,
        write: async (name, text) => {
          if (left-- <= 0) throw new Error('died');
          await files.write(name, text);
        },
      };
      await load(dying).catch(() => {});
      const pki = await load(files);
      expect(
        new X509Certificate(pki.server.certificate).verify(new X509Certificate(pki.authority.certificate).publicKey),
      ).toBe(true);
    }
  });
});

describe('a kubeconfig', () => {
  const certificate = '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n';
  const config = {
    clusters: {
      hub: { server: serverUrl({ host: '127.0.0.1', port: 6443 }), caCertificate: certificate },
      m1: { server: serverUrl({ host: '::1', port: 6443, cluster: 'm1' }), caCertificate: certificate },
      plain: { server: serverUrl({ scheme: 'http', host: 'localhost', port: 80 }) },
    },
    users: { admin: { certificate, privateKey: 'KEY' }, robot: { token: 'a.b:c # d' }, nobody: {} },
    contexts: {
      hub: { cluster: 'hub', user: 'admin' },
      m1: { cluster: 'm1', user: 'robot', namespace: 'fleet-member-m1' },
      plain: { cluster: 'plain', user: 'nobody' },
    },
    current: 'm1',
  };

  test('is understood by a client library', () => {
    const read = new KubeConfig();
    read.loadFromString(kubeconfigText(config));
    expect(read.getCurrentContext()).toBe('m1');
    expect(read.getCurrentCluster()).toMatchObject({ server: 'https://[::1]:6443/clusters/m1', skipTLSVerify: false });
    expect(Buffer.from(read.getCurrentCluster()!.caData!, 'base64').toString()).toBe(certificate);
    expect(read.getCurrentUser()).toMatchObject({ name: 'robot', token: 'a.b:c # d' });
    expect(read.getContextObject('m1')?.namespace).toBe('fleet-member-m1');
    expect(read.getUser('admin')).toMatchObject({ keyData: Buffer.from('KEY').toString('base64') });
    expect(read.getCluster('plain')).toMatchObject({ server: 'http://localhost:80', skipTLSVerify: true });
  });

  test('is written where it is wanted, for its owner only, also over a file that others could read', async () => {
    const path = join(directory, 'deep', 'kubeconfig');
    await writeKubeconfig(path, config);
    await rm(path);
    await writeFile(path, '', { mode: 0o644 });
    await writeKubeconfig(path, config);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(directory, 'deep'))).toEqual(['kubeconfig']);
  });
});
