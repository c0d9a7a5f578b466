// Runs the named suites and ends with one line that sums them: `N passed, N failed, N skipped`.
//   node --import tsx scripts/test.ts check unit wire judge sim mutants
// CPU-bound suites run beside those that wait; each line of output then names its suite. Before the last line come the duration of each
// suite, the slowest test files and why tests failed, for readers who see only the end of the output.
// A suite that ran nothing has failed, unless all of it was skipped outside of CI.
import { runInLanes } from './gate/lanes.ts';
import { SUITES } from './gate/suites.ts';
import { sum, summary } from './gate/summary.ts';

const suites = process.argv.slice(2);
const unknown = suites.filter((suite) => !SUITES.includes(suite));
if (suites.length === 0 || unknown.length > 0) {
  console.error(
    `error: name suites out of ${SUITES.join(', ')}${unknown.length > 0 ? `, not ${unknown.join(', ')}` : ''}`,
  );
  process.exitCode = 1;
} else {
  const began = performance.now();
  const results = await runInLanes(suites);
  for (const line of summary(results, performance.now() - began)) console.log(line);
  process.exitCode = sum(results).failed > 0 ? 1 : 0;
}
