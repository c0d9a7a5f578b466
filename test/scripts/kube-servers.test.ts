import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { isAlive } from '../../scripts/kube/lock.ts';
import { end, launch, runningPid } from '../../scripts/kube/servers.ts';

const folder = mkdtempSync(join(tmpdir(), 'flotilla-servers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a server is started once, found again, and ended by its own process id', async () => {
  const place = { folder, name: 'sleeper' };
  const sleep = ['-e', 'setInterval(() => {}, 1000)'];
  launch(place, process.execPath, sleep);
  const pid = runningPid(place) as number;
  launch(place, process.execPath, sleep);
  expect(runningPid(place)).toBe(pid);
  await end(place);
  expect(runningPid(place)).toBeUndefined();
  // It was started by this very process, which has to hear of its end before its id is free.
  await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: patience(10_000) });
  await end(place);
});

test('a process that has got the id of one that is gone is not ours to end', async () => {
  const place = { folder, name: 'other' };
  writeFileSync(join(folder, 'other.pid'), `${process.pid} kube-apiserver`);
  expect(runningPid(place)).toBeUndefined();
  await end(place);
  expect(isAlive(process.pid)).toBe(true);
  expect(() => readFileSync(join(folder, 'other.pid'))).toThrow();
});
