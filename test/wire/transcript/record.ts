// Plays the scripts on a fresh real Kubernetes and keeps what it printed. Run by hand, once per version of kubectl, each time on a fresh
// server that has the CRDs of config/crd:
//   npx tsx test/wire/transcript/record.ts KUBECONFIG KUBECTL [--anew] [SCRIPT...]
// --anew forgets what other versions of kubectl printed.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { record } from './golden.ts';
import { play } from './play.ts';
import { scripts } from './scripts/all.ts';

const [kubeconfig, kubectl, ...rest] = process.argv.slice(2);
if (kubeconfig === undefined || kubectl === undefined)
  throw new Error('usage: record.ts KUBECONFIG KUBECTL [--anew] [SCRIPT...]');
const isAnew = rest.includes('--anew');
const wanted = rest.filter((word) => word !== '--anew');
for (const script of scripts) {
  if (wanted.length > 0 && !wanted.includes(script.name)) continue;
  if (isAnew) rmSync(join(import.meta.dirname, 'golden', `${script.name}.json`), { force: true });
  record(script, await play({ kubectl, kubeconfig }, script));
  console.log(script.name);
}
