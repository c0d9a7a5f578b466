// `get` in all its forms, over objects of built-in and custom kinds.
import { script } from '../script.ts';

const things = `
apiVersion: v1
kind: Namespace
metadata: {name: reading, labels: {suite: reading}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: beta, namespace: reading, labels: {tier: back, app: shop}}
data: {size: "20", colour: blue}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: alpha, namespace: reading, labels: {tier: front, app: shop}, annotations: {note: "first: one"}}
data: {size: "10"}
---
apiVersion: v1
kind: Secret
metadata: {name: key, namespace: reading}
stringData: {password: hunter2}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: reading}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: http, name: http}, {port: 443, protocol: TCP, name: https}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: reading, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "web:1", ports: [{containerPort: 80, name: http}]}, {name: side, image: "side:2"}]}
---
apiVersion: v1
kind: Pod
metadata: {name: lone, namespace: reading}
spec: {nodeName: nowhere, containers: [{name: c, image: busybox, command: [sh]}]}
---
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: reading-b, labels: {suite: reading}}
spec:
  resourceSelectors: [{group: "", version: v1, kind: Namespace, name: reading}]
  policy: {placementType: PickN, numberOfClusters: 2}
---
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterResourcePlacement
metadata: {name: reading-a, labels: {suite: reading}}
spec: {resourceSelectors: [{group: "", version: v1, kind: Namespace, name: reading}]}
---
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ResourcePlacement
metadata: {name: inside, namespace: reading}
spec: {resourceSelectors: [{group: "", version: v1, kind: ConfigMap, name: alpha}]}
`;

export const reading = script('reading', [
  { run: 'create -f -', input: things },
  'get cm -n reading',
  'get configmaps alpha beta -n reading -o wide',
  'get cm alpha absent -n reading',
  'get configmap/alpha secret/key -n reading',
  'get cm,secret,sa -n reading --no-headers',
  'get cm alpha -n reading -o yaml',
  'get cm alpha -n reading -o json',
  'get cm alpha -n reading -o yaml --show-managed-fields=false',
  'get cm -n reading -o name',
  'get cm -n reading -l app=shop -o yaml',
  "get cm -n reading -o jsonpath='{range .items[*]}{.metadata.name}={.data.size};{end}'",
  "get cm -n reading -l app -o jsonpath-as-json='{.items[*].metadata.name}'",
  'get cm -n reading -l app -o custom-columns=NAME:.metadata.name,SIZE:.data.size,TIER:.metadata.labels.tier',
  "get cm alpha -n reading -o go-template='{{.metadata.name}} {{len .data}}'",
  'get cm -n reading -l app --sort-by=.data.size',
  'get cm -n reading -l app --sort-by=.metadata.name',
  'get cm -n reading -l app --show-labels',
  'get cm -n reading -L tier -l app',
  'get cm -n reading --show-kind -l app',
  'get cm -n reading -l tier=front',
  "get cm -n reading -l 'tier in (front,back),app!=x'",
  "get cm -n reading -l 'tier notin (front),app'",
  "get cm -n reading -l '!app'",
  "get cm -n reading -l 'tier in (front'",
  'get cm -n reading --field-selector metadata.name=beta',
  'get cm -n reading --field-selector metadata.name!=beta -l app',
  'get cm -n reading --field-selector data.size=10',
  'get pods -n reading --field-selector status.phase=Pending,spec.nodeName=nowhere',
  'get pods -n reading --field-selector spec.nothing=1',
  'get crp --field-selector metadata.name=reading-a',
  'get crp --field-selector spec.policy=PickN',
  'get cm -n absent',
  'get cm alpha -n absent',
  'get cm -A -l app=shop',
  'get cm -n reading --chunk-size=1 -l app -o name',
  'get all -n reading',
  'get all -n reading -o wide',
  'get all -n reading -o name',
  'get deploy web -n reading -o yaml',
  'get svc web -n reading -o yaml',
  'get pod lone -n reading -o yaml',
  'get pod lone -n reading -o wide',
  'get deploy web -n reading --subresource=status',
  'get deploy web -n reading --subresource=scale',
  'get ns reading -o wide',
  'get crp -l suite=reading',
  'get crp -l suite=reading -o wide',
  'get crp reading-b -o yaml',
  'get crp reading-a -o json',
  'get clusterresourceplacements.v1beta1.placement.kubernetes-fleet.io reading-b -o yaml',
  'get clusterresourceplacement reading-b --subresource=status -o yaml',
  'get fleet -n reading -o name',
  'get rp -A',
  'get rp,crp -n reading -l suite!=x --show-kind',
  'describe cm alpha -n reading',
  'describe secret key -n reading',
  'describe svc web -n reading',
  'describe deploy web -n reading',
  'describe pod lone -n reading',
  'describe ns reading',
  'describe sa default -n reading',
  'describe crp reading-b',
  'describe rp -n reading',
  'describe cm absent -n reading',
  'describe configmaps -l tier=front -n reading',
  'events -n reading',
  'get events -n reading',
  'port-forward pod/lone -n reading 18080:80',
  'top pod -n reading',
  'get cm alpha -n reading --watch-only --request-timeout=1s',
  'get cm,sa -n reading',
]);
