// apply, re-apply, prune, diff, dry runs, validation, kustomize; on built-in and custom kinds.
import { script } from '../script.ts';

const n = '-n applying';

const config = (size: string, extra = '') => `
apiVersion: v1
kind: ConfigMap
metadata: {name: conf, namespace: applying, labels: {prune: me}}
data: {size: "${size}"${extra}}
`;

const web = (image: string, rest = '') => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: applying}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: ${image}
        env: [{name: A, value: "1"}, {name: B, value: "2"}]
${rest}
`;

const sidecar = `
      - name: side
        image: side:1
        ports: [{containerPort: 90}]
`;

const placement = (clusters: number, rest = '') => `
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: applying}
spec:
  resourceSelectors: [{group: "", version: v1, kind: Namespace, name: applying}]
  policy: {placementType: PickN, numberOfClusters: ${clusters}}
${rest}
`;

const rolling = `
  strategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 50%}}
`;

const typo = `
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: typo}
spec:
  resourceSelectors: [{group: "", version: v1, kind: Namespace, nam: applying}]
  polycy: {}
`;

const typoDeployment = web('web:1')
  .replace('name: web, namespace', 'name: typo, namespace')
  .replace('selector:', 'replicaz: 2\n  selector:');

const several = `${config('1')}---
apiVersion: v1
kind: ConfigMap
metadata: {name: pruned, namespace: applying, labels: {prune: me}}
`;

const overlay = {
  'kustomization.yaml':
    'namespace: applying\nnamePrefix: k-\ncommonAnnotations: {by: kustomize}\nresources: [base.yaml]\nconfigMapGenerator: [{name: gen, literals: [a=1]}]\n',
  'base.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: base}\ndata: {a: "1"}\n',
};

export const applying = script('applying', [
  'create ns applying',
  { run: 'apply -f -', input: config('1') },
  { run: 'apply -f -', input: config('1') },
  { run: 'apply -f -', input: config('2', ', colour: blue') },
  { run: 'apply -f - -o yaml', input: config('2') },
  `get cm conf ${n} -o yaml`,
  { run: 'apply -f -', input: web('web:1', sidecar) },
  { run: 'apply -f -', input: web('web:1', sidecar) },
  { run: 'diff -f -', input: web('web:1', sidecar) },
  { run: 'diff -f -', input: web('web:2', sidecar), env: { KUBECTL_EXTERNAL_DIFF: 'diff -U0 --label a --label b' } },
  { run: 'apply -f - --dry-run=server', input: web('web:2', sidecar) },
  { run: 'apply -f - --dry-run=client', input: web('web:2', sidecar) },
  { run: 'apply -f -', input: web('web:2', sidecar) },
  { run: 'apply -f -', input: web('web:2') },
  `get deploy web ${n} -o yaml`,
  `set image deploy/web web=web:3 ${n}`,
  { run: 'apply -f -', input: web('web:2') },
  `apply view-last-applied deploy/web ${n}`,
  `get deploy web ${n} -o jsonpath='{.metadata.generation} {.spec.template.spec.containers[*].image}'`,
  { run: 'apply -f -', input: placement(2) },
  { run: 'apply -f -', input: placement(2) },
  { run: 'diff -f -', input: placement(2) },
  { run: 'diff -f -', input: placement(3), env: { KUBECTL_EXTERNAL_DIFF: 'diff -U0 --label a --label b' } },
  { run: 'apply -f - --dry-run=server -o yaml', input: placement(3) },
  { run: 'apply -f -', input: placement(3, rolling) },
  { run: 'apply -f -', input: placement(3) },
  'get crp applying -o yaml',
  { run: 'apply -f -', input: placement(3).replace('PickN', 'PickAll').replace('numberOfClusters: 3', '') },
  { run: 'apply -f -', input: typo },
  { run: 'apply -f - --validate=warn', input: typo },
  { run: 'apply -f - --validate=false', input: typo.replace('name: typo', 'name: typo-2') },
  'get crp typo typo-2 -o yaml',
  { run: 'create -f -', input: typoDeployment },
  { run: 'create -f - --validate=ignore', input: typoDeployment.replace('{name: typo', '{name: typo-2') },
  { run: 'apply -f - --validate=warn', input: typoDeployment },
  { run: 'apply -f -', input: typoDeployment },
  `get deploy typo ${n} -o jsonpath='{.spec.replicas}'`,
  { run: 'apply -f -', input: several },
  { run: `apply -f - --prune -l prune=me ${n}`, input: config('1') },
  `get cm -l prune=me ${n}`,
  { run: 'apply -k FILES', files: overlay },
  { run: 'apply -k FILES', files: overlay },
  { run: 'diff -k FILES', files: overlay },
  `get cm -l '!prune' ${n} -o name`,
  { run: 'delete -k FILES', files: overlay },
  { run: 'apply -f -', input: 'apiVersion: v1\nkind: Nothing\nmetadata: {name: x}\n' },
  { run: 'apply -f -', input: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: absent}\n' },
  { run: `apply -f - ${n}`, input: config('1').replace('namespace: applying', 'namespace: default') },
  { run: 'apply -f -', input: 'a: [' },
  { run: 'apply -f -', input: '' },
  {
    run: `create -f - ${n}`,
    input: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"gen-"}}',
  },
  {
    run: `create -f - ${n} -o name`,
    input:
      'apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: l1}}\n- {apiVersion: v1, kind: Secret, metadata: {name: l2}}\n',
  },
  {
    run: `create -f - ${n} -o yaml`,
    input:
      '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"edge"},"stringData":{"a":"1"},"data":{"b":"Mg=="},"immutable":true}',
  },
  `patch secret edge ${n} --type=merge -p '{"stringData":{"a":"2"}}'`,
  { run: `apply set-last-applied -f FILES/conf.yaml ${n}`, files: { 'conf.yaml': config('1') } },
]);
