// Plays scripts on a real Kubernetes 1.34.4 and keeps what it answered, for those who have none. Run by hand, on a fresh server whose only
// controllers are those that keep house:
//   KUBE_JUDGE_KUBECONFIG=… npx tsx test/judge/record.ts [SCRIPT...]
import { findKubectl } from '../../scripts/kubectl.ts';
import { record } from './golden.ts';
import { play } from './play.ts';
import { connectReal } from './real.ts';
import { scripts } from './scripts/all.ts';

const wanted = process.argv.slice(2);
const kubectl = findKubectl({ mayBuild: true, asRecorded: true });
const kubeconfig = process.env['KUBE_JUDGE_KUBECONFIG'];
if (kubectl === undefined || kubeconfig === undefined)
  throw new Error('this needs a kubectl 1.34 and KUBE_JUDGE_KUBECONFIG');
const endpoint = await connectReal({ kubeconfig });
for (const script of scripts) {
  if (wanted.length > 0 && !wanted.includes(script.name)) continue;
  record(script, await play({ kubectl, endpoint }, script));
  console.log(script.name);
}
endpoint.close();
