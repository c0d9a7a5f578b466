// Runs suites in two lanes side by side, so that the machine computes while other tests wait. Results come back in the order asked for.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { slowness } from './patience.ts';
import { laneOf, runSuite } from './suites.ts';
import { inCounts, inMinutes, type SuiteResult } from './summary.ts';

export async function runInLanes(
  suites: readonly string[],
  onResult: (result: SuiteResult) => void = () => {},
): Promise<readonly SuiteResult[]> {
  console.log(`this machine takes ${slowness().toFixed(1)} times as long as a usual idle one: limits scale with that`);
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-test-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const lanes = [...new Set(suites.map(laneOf))].map((lane) => suites.filter((suite) => laneOf(suite) === lane));
  const isShared = lanes.length > 1;
  const results = new Map<string, SuiteResult>();
  const runLane = async (lane: readonly string[]) => {
    for (const suite of lane) {
      if (isShared) console.log(`${suite.padEnd(9)} : begins`);
      const result = await runSuite(suite, { folder, isShared });
      if (isShared) console.log(`${suite.padEnd(9)} : ${inCounts(result)} in ${inMinutes(result.wallMs)}`);
      results.set(suite, result);
      onResult(result);
    }
  };
  await Promise.all(lanes.map(runLane));
  return suites.map((suite) => results.get(suite) as SuiteResult);
}
