// npm run bench -- NAME: prints ratios measured in this run; ends with 1 if a bound is broken.
import { isKept, printRow, type Row } from './report.ts';

const benchmarks: Readonly<
  Record<string, () => Promise<{ readonly rows: (tell: (row: Row) => void) => Promise<void> }>>
> = {
  apiserver: () => import('./apiserver.ts'),
  burst: () => import('./burst.ts'),
  deliver: () => import('./deliver.ts'),
  drift: () => import('./drift.ts'),
  fleet: () => import('./fleet.ts'),
  git: () => import('./git.ts'),
  partitions: () => import('./partitions.ts'),
  schedule: () => import('./schedule.ts'),
  sim: () => import('./sim.ts'),
  staged: () => import('./staged.ts'),
};

const name = process.argv[2] ?? '';
const load = benchmarks[name];
if (!load) {
  console.error(`name a benchmark: ${Object.keys(benchmarks).join(', ')}`);
  process.exitCode = 2;
} else {
  const rows: Row[] = [];
  const { rows: measure } = await load();
  await measure((row) => {
    rows.push(row);
    printRow(row);
  });
  const broken = rows.filter((row) => !isKept(row));
  console.log(`${rows.length} rows, ${broken.length} out of bounds`);
  process.exitCode = broken.length > 0 ? 1 : 0;
}
