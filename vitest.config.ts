import { defineConfig } from 'vitest/config';

// unit: everything that needs neither sockets to other programs nor tools: the inner loop.
// scenarios: whole fleets in one process on a simulated clock, and what a simulated world promises.
// wire: the built program, real kubectl, real client libraries, kill -9.
// kube: a hub and members on real control planes, by the program's own entry points.
// judge: kubectl commands, raw requests, and generated objects and patches, on ours and on a real 1.34.4.
const WHOLE_FLEETS = ['test/scenarios/**/*.test.ts', 'test/simulation/**/*.test.ts'];

const inProcess = {
  // No module holds state, so files share what is loaded.
  isolate: false,
  pool: 'threads' as const,
  maxWorkers: 2,
  // Machines are shared: a slow one is not a failure.
  testTimeout: 60_000,
};

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          ...inProcess,
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [
            ...WHOLE_FLEETS,
            'test/wire/**',
            'test/judge/**',
            'test/kube/**',
            'test/torture/**',
            '**/node_modules/**',
            'dist/**',
          ],
        },
      },
      {
        test: {
          name: 'scenarios',
          ...inProcess,
          include: WHOLE_FLEETS,
        },
      },
      {
        test: {
          name: 'wire',
          include: ['test/wire/**/*.test.ts', 'test/torture/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'dist/**'],
          testTimeout: 120_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'judge',
          include: ['test/judge/**/*.test.ts'],
          globalSetup: ['test/judge/setup.ts'],
          testTimeout: 120_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'kube',
          include: ['test/kube/**/*.test.ts'],
          globalSetup: ['test/kube/setup.ts'],
          testTimeout: 120_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
