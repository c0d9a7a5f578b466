// patch, label, annotate, set, scale, rollout, replace, edit; on built-in and custom kinds, with and without --subresource=status.
import { script } from '../script.ts';

const n = '-n changing';
const web = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: changing, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "web:1"}, {name: side, image: "side:1"}]}
`;
const placement = `
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: changing}
spec:
  resourceSelectors: [{group: "", version: v1, kind: Namespace, name: changing}]
  policy: {placementType: PickN, numberOfClusters: 2}
`;
const condition =
  '{"type":"Ready","status":"True","reason":"Fine","message":"all is fine","lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":1}';
const deploymentStatus =
  '{"status":{"replicas":2,"readyReplicas":2,"updatedReplicas":2,"availableReplicas":2,"observedGeneration":3}}';
const images = `get deploy web ${n} -o jsonpath='{.metadata.generation} {.spec.template.spec.containers[*].image}'`;
/** An editor that runs sed. */
const editor = (expression: string) => ({
  files: { editor: `#!/bin/sh\nsed -i '${expression}' "$1"\n` },
  env: { KUBE_EDITOR: 'FILES/editor' },
});

export const changing = script('changing', [
  'create ns changing',
  { run: 'create -f -', input: web },
  { run: 'create -f -', input: placement },

  `patch deploy web ${n} -p '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"side:2"}]}}}}'`,
  images,
  `patch deploy web ${n} -p '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"side:2"}]}}}}'`,
  `patch deploy web ${n} --type=strategic -p '{"spec":{"template":{"spec":{"containers":[{"name":"side","$patch":"delete"}]}}}}'`,
  images,
  `patch deploy web ${n} --type=merge -p '{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"web:2"}]}}}}'`,
  images,
  `patch deploy web ${n} --type=json -p '[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"web:3"},{"op":"test","path":"/spec/replicas","value":2}]'`,
  images,
  `patch deploy web ${n} --type=json -p '[{"op":"test","path":"/spec/replicas","value":7}]'`,
  `patch deploy web ${n} --type=json -p '[{"op":"remove","path":"/spec/nothing"}]'`,
  `patch deploy web ${n} --type=json -p '[{"op":"fly","path":"/spec"}]'`,
  `patch deploy web ${n} --type=json -p '{"op":"add"}'`,
  `patch deploy web ${n} -p '{"spec":'`,
  `patch deploy web ${n} --type=merge -p '{"spec":{"replicaz":3}}'`,
  `patch deploy web ${n} --type=merge -p '{"spec":{"replicas":"three"}}'`,
  {
    run: `patch deploy web ${n} -p '{"spec":{"replicaz":3,"a":[1,"x",null,true,{"z":1,"b":2}]}}'`,
    unordered: 'a real server finds unknown fields by walking a Go map',
  },
  `patch deploy web ${n} --type=merge -p '{"spec":{"replicas":-1}}'`,
  `patch deploy web ${n} --type=merge -p '{"spec":{"selector":{"matchLabels":{"app":"other"}}}}'`,
  `patch deploy web ${n} --type=merge -p '{"metadata":{"name":"other"}}'`,
  `patch deploy web ${n} --type=merge -p '{"metadata":{"resourceVersion":"1"}}'`,
  `patch deploy web ${n} --type=merge -p '{"metadata":{"uid":"other"}}'`,
  `patch deploy absent ${n} -p '{}'`,
  `patch deploy web ${n} --subresource=status --type=merge -p '${deploymentStatus}'`,
  `get deploy web ${n} -o jsonpath='{.metadata.generation} {.status}'`,
  `patch deploy web ${n} --type=merge -p '{"status":{"replicas":9}}'`,
  `patch deploy web ${n} --subresource=status -p '{"status":{"conditions":[{"type":"Available","status":"True"}]}}'`,
  `patch deploy web ${n} --subresource=status --type=json -p '[{"op":"replace","path":"/status/readyReplicas","value":1}]'`,
  `patch deploy web ${n} --subresource=status --type=merge -p '{"spec":{"replicas":9}}'`,
  `get deploy web ${n}`,
  `patch deploy web ${n} --subresource=scale --type=merge -p '{"spec":{"replicas":4}}'`,
  `patch cm kube-root-ca.crt ${n} --subresource=status --type=merge -p '{}'`,

  `patch crp changing --type=merge -p '{"spec":{"policy":{"numberOfClusters":4}}}'`,
  `patch crp changing --type=json -p '[{"op":"replace","path":"/spec/policy/numberOfClusters","value":5}]'`,
  `patch crp changing -p '{"spec":{"policy":{"numberOfClusters":4}}}'`,
  `patch crp changing --type=merge -p '{"spec":{"policy":{"numberOfClusters":5}}}'`,
  `patch crp changing --type=merge -p '{"spec":{"policy":{"numberOfClusters":"many"}}}'`,
  `patch crp changing --type=merge -p '{"spec":{"policy":{"placementType":"PickAll","numberOfClusters":null}}}'`,
  `patch crp changing --type=merge -p '{"spec":{"policy":{"placementType":"Other"}}}'`,
  `patch crp changing --type=merge -p '{"spec":{"nothing":1}}'`,
  `patch crp changing --type=merge -p '{"status":{"conditions":[${condition}]}}'`,
  `patch crp changing --subresource=status --type=merge -p '{"status":{"conditions":[${condition}]}}'`,
  `patch crp changing --subresource=status --type=merge -p '{"status":{"conditions":[{"type":"Ready"}]}}'`,
  `patch crp changing --subresource=status --type=json -p '[{"op":"replace","path":"/status/conditions/0/message","value":"still fine"}]'`,
  'get crp changing -o yaml',

  `label deploy web ${n} tier=front`,
  `label deploy web ${n} tier=front`,
  `label deploy web ${n} tier=back`,
  `label deploy web ${n} tier=back --overwrite`,
  `label deploy web ${n} tier-`,
  `label deploy web ${n} absent-`,
  `label deploy web ${n} 'bad key!=1'`,
  `label deploy --all ${n} all=yes`,
  { run: `label deploy web ${n} --list`, unordered: 'kubectl walks a Go map' },
  `label crp changing tier=front`,
  `label crp changing tier=front --dry-run=server -o yaml`,
  `annotate deploy web ${n} note=hello`,
  `annotate deploy web ${n} note=again --overwrite`,
  `annotate deploy web ${n} note-`,
  `annotate crp changing 'note=some words'`,
  { run: 'annotate crp changing --list', unordered: 'kubectl walks a Go map' },

  `set image deploy/web web=web:4 ${n}`,
  `set image deploy/web web=web:4 ${n}`,
  `set image deploy/web absent=web:4 ${n}`,
  `set image deploy web '*=web:5' --all ${n}`,
  `set env deploy/web MODE=fast ${n}`,
  `set env deploy/web MODE- ${n}`,
  `set env deploy/web --list ${n}`,
  `set resources deploy/web -c=web --limits=cpu=200m,memory=512Mi ${n}`,
  `set serviceaccount deploy web robot ${n}`,
  `create service clusterip svc --tcp=80 ${n}`,
  `set selector svc svc app=web ${n}`,
  `create rolebinding rb --clusterrole=view --user=a ${n}`,
  `set subject rolebinding rb --user=b ${n}`,
  `get rolebinding rb ${n} -o wide`,
  `get deploy web ${n} -o yaml`,

  `scale deploy web --replicas=5 ${n}`,
  `scale deploy web --replicas=6 --current-replicas=1 ${n}`,
  `scale deploy web --replicas=6 --current-replicas=5 ${n}`,
  `scale --replicas=0 deploy/web ${n}`,
  `scale deploy absent --replicas=1 ${n}`,
  `scale crp changing --replicas=1`,
  `scale cm kube-root-ca.crt --replicas=1 ${n}`,
  `get deploy web ${n} --subresource=scale -o yaml`,

  `rollout pause deploy/web ${n}`,
  `rollout pause deploy/web ${n}`,
  `rollout restart deploy/web ${n}`,
  `rollout resume deploy/web ${n}`,
  `rollout restart deploy/web ${n}`,
  `get deploy web ${n} -o jsonpath='{.spec.paused} {.spec.template.metadata.annotations}'`,
  `rollout history deploy/web ${n}`,
  `rollout status deploy/web ${n} --watch=false`,
  `rollout status deploy/web ${n} --timeout=1s`,
  `rollout undo deploy/web ${n}`,
  `rollout status crp/changing`,

  { run: 'replace -f -', input: web.replace('replicas: 2', 'replicas: 7') },
  `get deploy web ${n}`,
  {
    run: `replace -f - ${n}`,
    input: web.replace('name: web, namespace: changing', 'name: absent, namespace: changing'),
  },
  { run: 'replace -f -', input: web.replace('labels: {app: web}}\nspec', 'resourceVersion: "1"}\nspec') },
  { run: 'replace -f -', input: web.replace('replicas: 2', 'replicaz: 7') },
  { run: 'replace -f -', input: placement.replace('numberOfClusters: 2', 'numberOfClusters: 8') },
  {
    run: 'replace -f -',
    input: placement.replace('name: changing}\nspec', 'name: changing, resourceVersion: "1"}\nspec'),
  },
  'get crp changing -o yaml',
  { run: 'replace --force -f -', input: web },
  `get deploy web ${n} -o jsonpath='{.metadata.generation} {.spec.replicas}'`,
  { run: 'replace --force -f -', input: placement },
  'get crp changing -o yaml',

  { run: `edit deploy web ${n}`, ...editor('s/replicas: 2/replicas: 3/') },
  `get deploy web ${n} -o jsonpath='{.metadata.generation} {.spec.replicas}'`,
  { run: `edit deploy web ${n}`, ...editor('s/nothing/something/') },
  { run: 'edit crp changing', ...editor('s/numberOfClusters: 2/numberOfClusters: 6/') },
  { run: 'edit crp changing --output-patch', ...editor('s/numberOfClusters: 6/numberOfClusters: 7/') },
  "get crp changing -o jsonpath='{.metadata.generation} {.spec.policy.numberOfClusters}'",
  { run: 'edit crp changing --subresource=status', ...editor('s/^status: {}/status: {observedResourceIndex: "3"}/') },

  `patch sa default ${n} -p '{"imagePullSecrets":[{"name":"pull"}]}'`,
  `patch svc svc ${n} -p '{"spec":{"ports":[{"port":80,"name":"http"},{"port":81,"name":"more"}]}}'`,
  `get svc svc ${n} -o yaml`,
  `patch svc svc ${n} -p '{"spec":{"clusterIP":"10.250.3.3"}}'`,
  `patch svc svc ${n} -p '{"spec":{"type":"NodePort"}}'`,
  `get svc svc ${n}`,
  `patch ns changing -p '{"metadata":{"labels":{"a":"b"}}}'`,
  `taint nodes --all a=b:NoSchedule`,
  `cordon absent`,
]);
