import { defineConfig } from 'vitest/config';

// unit: everything that needs neither sockets to other programs nor tools: the inner loop.
// scenarios: whole fleets in one process on a simulated clock, and what a simulated world promises.
// wire: the built program, real kubectl, real client libraries, kill -9.
// judge: some 800 kubectl commands, compared with what a real 1.34.4 answered.
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
          exclude: [...WHOLE_FLEETS, 'test/wire/**', 'test/torture/**', '**/node_modules/**', 'dist/**'],
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
          exclude: ['test/wire/kubectl.test.ts', '**/node_modules/**', 'dist/**'],
          testTimeout: 120_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'judge',
          include: ['test/wire/kubectl.test.ts'],
        },
      },
    ],
  },
});
