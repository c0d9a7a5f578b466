// delete in all its ways, finalizers, owners, namespaces, CRDs; and wait.
import { script } from '../script.ts';
import { get } from './requests.ts';

const n = '-n deleting';
const cm = (name: string, rest = '') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: deleting${rest}}\n`;
const many = (...texts: readonly string[]) => texts.join('---\n');
const pod = (name: string, node: string) =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}, namespace: deleting}\nspec: {${node}containers: [{name: c, image: "c:1"}]}\n`;

export const crd = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.deleting.example.com}
spec:
  group: deleting.example.com
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget, shortNames: [gdg], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1, maximum: 10}
              colour: {type: string, enum: [red, blue], default: red}
            x-kubernetes-validations: [{rule: "self.size != 7", message: "seven is taken"}, {rule: "self.size >= oldSelf.size", message: "never shrinks"}]
    subresources: {scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}
    additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}, {name: Colour, type: string, jsonPath: .spec.colour, priority: 1}, {name: Born, type: date, jsonPath: .metadata.creationTimestamp}]
`;
const gadget = (name: string, spec: string) =>
  `apiVersion: deleting.example.com/v1\nkind: Gadget\nmetadata: {name: ${name}, namespace: deleting}\nspec: ${spec}\n`;

export const deleting = script('deleting', [
  'create ns deleting',
  {
    run: 'create -f -',
    input: many(...['a', 'b', 'c', 'd', 'e', 'f'].map((name) => cm(name, `, labels: {is: ${name}}`))),
  },
  `delete cm a ${n}`,
  `delete cm a ${n}`,
  `delete cm a ${n} --ignore-not-found`,
  `delete cm/b cm/absent ${n}`,
  `delete cm -l is=c ${n}`,
  `delete cm d ${n} --dry-run=server`,
  `delete cm d ${n} -o name`,
  { run: 'delete -f -', input: cm('e') },
  `delete cm f ${n} --now`,
  `delete cm -l is ${n}`,
  { run: 'create -f -', input: cm('held', ', finalizers: [example.com/hold]') },
  `delete cm held ${n} --wait=false`,
  `get cm held ${n} -o yaml`,
  `delete cm held ${n} --timeout=1s`,
  `patch cm held ${n} --type=merge -p '{"metadata":{"finalizers":["example.com/hold","example.com/more"]}}'`,
  `patch cm held ${n} --type=merge -p '{"metadata":{"finalizers":null}}' --dry-run=server`,
  `patch cm held ${n} --type=merge -p '{"metadata":{"finalizers":null}}'`,
  `get cm held ${n}`,
  { run: 'create -f -', input: pod('free', '') },
  { run: 'create -f -', input: pod('bound', 'nodeName: nowhere, ') },
  `delete pod free ${n}`,
  `delete pod bound ${n} --wait=false`,
  `get pod bound ${n}`,
  `get pod bound ${n} -o jsonpath='{.metadata.deletionGracePeriodSeconds}'`,
  `delete pod bound ${n} --force --grace-period=0`,
  `get pods ${n}`,
  `delete ns default`,
  `delete ns kube-system --wait=false`,

  { run: 'create -f -', input: crd },
  'wait crd/gadgets.deleting.example.com --for=condition=Established --timeout=10s',
  'get crd gadgets.deleting.example.com -o yaml',
  'get crd gadgets.deleting.example.com',
  'describe crd gadgets.deleting.example.com',
  'explain gadget.spec',
  { run: 'create -f -', input: gadget('ok', '{size: 3}') },
  { run: 'create -f -', input: gadget('bad', '{size: 7}') },
  {
    run: 'create -f -',
    input: gadget('bad', '{size: 11, colour: green}'),
    unordered: 'a real server validates properties by walking a Go map',
  },
  {
    run: 'create -f -',
    input: gadget('bad', '{size: big}'),
    without: [{ line: /accessor error/, known: 'scale-accessor' }],
  },
  { run: 'create -f -', input: gadget('bad', '{}') },
  { run: 'create -f -', input: gadget('bad', '{size: 1, other: 2}') },
  { run: 'create -f - --validate=warn', input: gadget('warned', '{size: 1, other: 2}') },
  `get gdg ${n} -o wide`,
  `get gadgets.v1.deleting.example.com ok ${n} -o yaml`,
  `patch gadget ok ${n} --type=merge -p '{"spec":{"size":2}}'`,
  `scale gadget ok ${n} --replicas=9`,
  `get gadget ok ${n} --subresource=scale`,
  `get gadget ok ${n} --subresource=status`,
  `get all ${n}`,
  `delete gadget warned ${n}`,
  'delete crd gadgets.deleting.example.com',
  `get gadgets ${n}`,
  'get crd gadgets.deleting.example.com',

  { run: 'create -f -', input: crd },
  'wait crd/gadgets.deleting.example.com --for=condition=Established --timeout=10s',
  {
    run: 'create -f -',
    input: gadget('held', '{size: 3}').replace(', namespace', ', finalizers: [example.com/hold, plain], namespace'),
  },
  'delete crd gadgets.deleting.example.com --wait=false',
  `wait gadget/held ${n} --for=jsonpath='{.metadata.deletionTimestamp}' --timeout=20s`,
  { run: 'create -f -', input: gadget('late', '{size: 3}') },
  { run: 'apply -f -', input: gadget('late', '{size: 3}') },
  { run: 'create -f - --dry-run=server', input: gadget('late', '{size: 3}') },
  { run: 'create -f -', input: gadget('held', '{size: 3}') },
  'label crd gadgets.deleting.example.com is=going',
  'annotate crd gadgets.deleting.example.com is=going',
  "get crd gadgets.deleting.example.com -o jsonpath='{.metadata.labels} {.metadata.finalizers}'",
  `get gadgets ${n}`,
  `label gadget held ${n} is=held`,
  `scale gadget held ${n} --replicas=9`,
  `patch gadget held ${n} --type=merge -p '{"spec":{"colour":"blue"}}'`,
  `patch gadget held ${n} --type=merge -p '{"spec":{"size":99}}'`,
  { run: 'apply -f -', input: gadget('held', '{size: 10, colour: blue}') },
  `delete gadget held ${n} --wait=false`,
  'api-resources --api-group=deleting.example.com -o wide --no-headers',
  `patch gadget held ${n} --type=merge -p '{"metadata":{"finalizers":null}}'`,
  get('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.deleting.example.com', { until: 404 }),
  `get gadgets ${n}`,

  { run: 'create -f -', input: crd.replace('scope: Namespaced', 'scope: Sometimes') },
  { run: 'create -f -', input: crd.replace('{name: gadgets.deleting', '{name: other.deleting') },
  { run: 'create -f -', input: crd.replace('storage: true', 'storage: false') },
  { run: 'create -f -', input: crd.replace('self.size != 7', 'self.weight != 7') },
  { run: 'create -f -', input: crd.replace('type: integer, minimum', 'minimum') },
  { run: 'create -f -', input: crd.replace('default: red', 'default: green') },

  { run: 'create -f -', input: many(cm('w1'), cm('w2')) },
  `wait cm/w1 ${n} --for=jsonpath='{.metadata.name}'=w1 --timeout=2s`,
  `wait cm/w1 ${n} --for=jsonpath='{.data.x}' --timeout=1s`,
  `wait cm/absent ${n} --for=delete --timeout=1s`,
  `wait cm/absent ${n} --for=condition=Ready --timeout=1s`,
  `wait cm/w1 ${n} --for=create --timeout=1s`,
  `wait cm/absent ${n} --for=create --timeout=1s`,
  `wait ns/deleting --for=jsonpath='{.status.phase}'=Active --timeout=1s`,
  `wait crd/clusterresourceplacements.placement.kubernetes-fleet.io --for=condition=NamesAccepted --timeout=1s`,
  'delete cm --all -n deleting --field-selector metadata.name!=kube-root-ca.crt',
  'delete ns deleting',
  'get ns deleting',
  'get cm -n deleting',
]);
