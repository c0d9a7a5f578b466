import { describe, expect, test } from 'vitest';
import { UserError } from '../base/errors.ts';
import { inClusterConnection } from './in-cluster.ts';

const environment = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
const folder = '/var/run/secrets/kubernetes.io/serviceaccount';
const files: Readonly<Record<string, string>> = {
  [`${folder}/token`]: 'secret\n',
  [`${folder}/ca.crt`]: 'CA\n',
  [`${folder}/namespace`]: 'shop',
};
const read = (more: Readonly<Record<string, string | undefined>> = {}) => {
  const all: Readonly<Record<string, string | undefined>> = { ...files, ...more };
  return (path: string): string => {
    const text = all[path];
    if (text === undefined) throw new Error('no such file');
    return text;
  };
};

describe('the service account of a Pod', () => {
  test('is found where every Pod has it', () => {
    expect(inClusterConnection(environment, read())).toEqual({
      server: 'https://10.0.0.1:443',
      ca: 'CA',
      insecure: false,
      token: 'secret',
      tokenIsRenewed: true,
      namespace: 'shop',
    });
  });

  test('may be at an IPv6 address', () => {
    const connection = inClusterConnection({ ...environment, KUBERNETES_SERVICE_HOST: 'fd00::1' }, read());
    expect(connection?.server).toBe('https://[fd00::1]:443');
  });

  test.each([{}, { KUBERNETES_SERVICE_HOST: '10.0.0.1' }, { ...environment, KUBERNETES_SERVICE_HOST: '' }])(
    'is not looked for outside of Pods: %j',
    (elsewhere) => {
      expect(
        inClusterConnection(elsewhere, () => {
          throw new Error('must not be read');
        }),
      ).toBeUndefined();
    },
  );

  test.each([
    { it: 'no token', change: { [`${folder}/token`]: undefined }, message: 'cannot read its token (no such file)' },
    { it: 'an empty token', change: { [`${folder}/token`]: '\n' }, message: 'its token is empty' },
    {
      it: 'no authority',
      change: { [`${folder}/ca.crt`]: undefined },
      message: 'cannot read its ca.crt (no such file)',
    },
  ])('with $it is one sentence', ({ change, message }) => {
    const find = () => inClusterConnection(environment, read(change));
    expect(find).toThrow(UserError);
    expect(find).toThrow(`this Pod has no service account to use: ${message}`);
  });
});
