import { defineConfig } from 'vitest/config';
import { isFull } from './scripts/gate/depth.ts';
import { patience } from './scripts/gate/patience.ts';

// unit: tests that need neither sockets to other programs nor tools: the inner loop.
// scenarios: whole fleets in one process on a simulated clock, and the promises of a simulated world.
// wire: the built program, real kubectl, real client libraries, kill -9.
// kube: a hub and members on real control planes, by the program's own entry points.
// judge: kubectl commands, raw requests, and generated objects and patches, on ours and on a real 1.34.4.
const WHOLE_FLEETS = ['test/scenarios/**/*.test.ts', 'test/simulation/**/*.test.ts'];

// Tests that only the full proof runs (FLOTILLA_DEPTH=full) are named *.proof.test.ts.
const NEVER = ['**/node_modules/**', 'dist/**', ...(isFull ? [] : ['**/*.proof.test.ts'])];

const inProcess = {
  // No module holds state, so files share what is loaded.
  isolate: false,
  pool: 'threads' as const,
  maxWorkers: 2,
  setupFiles: ['test/properties.ts'],
  testTimeout: patience(60_000),
  hookTimeout: patience(60_000),
  expect: { poll: { timeout: patience(10_000) } },
};

const withProcesses = {
  testTimeout: patience(120_000),
  hookTimeout: patience(300_000),
  expect: { poll: { timeout: patience(10_000) } },
};

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          ...inProcess,
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...WHOLE_FLEETS, 'test/wire/**', 'test/judge/**', 'test/kube/**', 'test/torture/**', ...NEVER],
        },
      },
      {
        test: {
          name: 'scenarios',
          ...inProcess,
          include: WHOLE_FLEETS,
          exclude: NEVER,
        },
      },
      {
        test: {
          name: 'wire',
          ...withProcesses,
          include: ['test/wire/**/*.test.ts', 'test/torture/**/*.test.ts'],
          exclude: NEVER,
          // Ports are free ones and homes are temporary, and most of the time is spent waiting.
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'judge',
          ...withProcesses,
          include: ['test/judge/**/*.test.ts'],
          exclude: NEVER,
          globalSetup: ['test/judge/setup.ts'],
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'kube',
          ...withProcesses,
          include: ['test/kube/**/*.test.ts'],
          exclude: NEVER,
          globalSetup: ['test/kube/setup.ts'],
          fileParallelism: false,
        },
      },
    ],
  },
});
