import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { kubeconfigFile } from './embedded.ts';

test.each([
  { it: 'on disk', options: {}, file: 'data/kubeconfig' },
  { it: 'in memory, beside that of a fleet on disk', options: { inMemory: true }, file: 'data/in-memory.kubeconfig' },
  { it: 'where it is asked for', options: { inMemory: true, kubeconfig: 'mine' }, file: 'mine' },
])('the kubeconfig is written $it', ({ options, file }) => {
  expect(kubeconfigFile({ dataDir: 'data', port: 0, ...options })).toBe(resolve(file));
});
