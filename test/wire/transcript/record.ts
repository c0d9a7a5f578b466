// Plays the scripts on a fresh real Kubernetes 1.34.4 and keeps what its kubectl printed. Run by hand, on a server that has the CRDs of
// config/crd and of the controllers only those that tidy up (namespaces, garbage, service accounts, aggregated roles):
//   npx tsx test/wire/transcript/record.ts KUBECONFIG KUBECTL [SCRIPT...]
import { record } from './golden.ts';
import { play } from './play.ts';
import { scripts } from './scripts/all.ts';

const [kubeconfig, kubectl, ...wanted] = process.argv.slice(2);
if (kubeconfig === undefined || kubectl === undefined)
  throw new Error('usage: record.ts KUBECONFIG KUBECTL [SCRIPT...]');
for (const script of scripts) {
  if (wanted.length > 0 && !wanted.includes(script.name)) continue;
  record(script, await play({ kubectl, kubeconfig }, script));
  console.log(script.name);
}
