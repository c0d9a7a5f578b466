// The certificate of a kubeconfig's first user as files, for programs that take no kubeconfig.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

export function clientFiles(kubeconfig: string, folder: string) {
  const config = parse(kubeconfig) as {
    clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
    users: [{ user: { 'client-certificate-data': string; 'client-key-data': string } }];
  };
  const keep = (name: string, data: string): string => {
    const file = join(folder, name);
    writeFileSync(file, Buffer.from(data, 'base64'), { mode: 0o600 });
    return file;
  };
  const [{ cluster }] = config.clusters;
  const [{ user }] = config.users;
  const ca = keep('ca.crt', cluster['certificate-authority-data']);
  const client = [
    keep('client.crt', user['client-certificate-data']),
    keep('client.key', user['client-key-data']),
    ca,
  ] as const;
  return { port: Number(new URL(cluster.server).port), ca, client };
}
