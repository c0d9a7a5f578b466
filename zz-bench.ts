import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clientFiles } from './bench/client-files.ts';
import { start } from './bench/processes.ts';
const [, , program, prof, rounds = '4'] = process.argv;
const folder = mkdtempSync(join(tmpdir(), 'zzb-'));
const kubeconfig = join(folder, 'kubeconfig');
const TEXT = 'x'.repeat(1850);
const configMap = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c{i}', namespace: 'default', labels: { app: 'bench' } }, data: { text: TEXT } });
const placement = JSON.stringify({
  apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
  kind: 'ClusterResourcePlacement',
  metadata: { name: 'p{i}' },
  spec: {
    resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: 'web' }],
    policy: {
      placementType: 'PickN',
      numberOfClusters: 3,
      affinity: {
        clusterAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            clusterSelectorTerms: [{ labelSelector: { matchLabels: { region: 'eu' } } }],
          },
        },
      },
      tolerations: [{ key: 'a', operator: 'Exists' }],
    },
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: 1 } },
  },
});

const ours = start(program!, ['apiserver', '--data-dir', join(folder, 'data'), '--port', '0', '--kubeconfig', kubeconfig], { imports: [], flags: prof === 'prof' ? ['--cpu-prof', '--cpu-prof-dir=/tmp/prof'] : [] } as never);
await ours.firstLine;
const { port, client } = clientFiles(readFileSync(kubeconfig, 'utf8'), folder);
const load = start('bench/load.mjs', client);
let from = 0; const c: number[] = [], g: number[] = [], p: number[] = [];
for (let i = 0; i <= Number(rounds); i++) {
  const a: any = await load.ask({ kind: 'requests', clients: 64, count: 4000, from, port, method: 'POST', path: '/api/v1/namespaces/default/configmaps?fieldManager=bench', body: configMap });
  from += 4000;
  const b: any = await load.ask({ kind: 'requests', clients: 64, count: 8000, from, port, method: 'GET', path: '/api/v1/namespaces/default/configmaps/c1' });
  from += 8000;
  const d: any = await load.ask({ kind: 'requests', clients: 64, count: 2000, from, port, method: 'POST', path: '/apis/placement.kubernetes-fleet.io/v1beta1/clusterresourceplacements', body: placement });
  from += 2000; if (i > 0) p.push(d.perSecond);
  if (i > 0) { c.push(a.perSecond); g.push(b.perSecond); }
}
const med = (x: number[]) => Math.round(x.toSorted((p, q) => p - q)[x.length >> 1]!);
console.log(program, 'create', med(c), 'get', med(g), 'placement', med(p));
load[Symbol.dispose](); ours[Symbol.dispose]();
await new Promise((r) => setTimeout(r, 1500));
rmSync(folder, { recursive: true, force: true });
process.exit(0);
