// What kubectl prints differently on a real server, in full: every row of docs/known-differences.md that kubectl can show.
import { type Step, script } from '../script.ts';
import { crd } from './deleting.ts';

const n = '-n differing';
const pod = `
apiVersion: v1
kind: Pod
metadata: {name: lone, namespace: differing}
spec: {nodeName: nowhere, containers: [{name: c, image: busybox}]}
`;
const map = (size: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf, namespace: differing}\ndata: {size: "${size}"}\n`;
const placement = `
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: differing}
spec: {resourceSelectors: [{group: "", version: v1, kind: Namespace, name: x}]}
`;
const apiService = `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.differing.example.com}
spec: {group: differing.example.com, version: v1, groupPriorityMinimum: 10, versionPriority: 10, service: {name: s, namespace: default}}
`;
const noContainers = (subresource: string): NonNullable<Step['differs']> => ({
  known: 'containers',
  text: `exit 1\nstderr: Error from server: ${subresource} is not available: this server keeps objects and runs no containers`,
});
const instead = (known: string, text: string): NonNullable<Step['differs']> => ({ known, text });

export const differences = script('differences', [
  'create ns differing',
  { run: 'create -f -', input: `${pod}---\n${map('1')}---\n${placement}---\n${apiService}` },
  {
    run: 'get componentstatuses',
    unordered: 'componentstatus',
    differs: instead(
      'componentstatus',
      'exit 1\nstderr: error: the server doesn\'t have a resource type "componentstatuses"',
    ),
  },
  { run: `logs lone ${n}`, differs: noContainers('pods/log') },
  { run: `exec lone ${n} -- date`, differs: noContainers('pods/exec') },
  { run: 'cp differing/lone:/etc/hosts FILES/hosts', differs: noContainers('pods/exec') },
  {
    run: `debug lone ${n} --image=busybox --profile=general -c dbg`,
    differs: instead(
      'pod-subresources',
      'exit 1\nstderr: error: ephemeral containers are disabled for this cluster (error from server: "the server could not find the requested resource")',
    ),
  },
  {
    run: 'get apiservice v1.differing.example.com',
    differs: instead(
      'aggregation',
      'exit 0\nNAME  SERVICE  AVAILABLE  AGE\nv1.differing.example.com  default/s  Unknown  AGE',
    ),
  },
  { run: 'apply --server-side -f -', input: map('1').replace('name: conf', 'name: fresh') },
  {
    run: 'diff --server-side -f -',
    input: map('2').replace('name: conf', 'name: fresh'),
    env: { KUBECTL_EXTERNAL_DIFF: 'diff -U0 --label a --label b' },
  },
  `get cm conf ${n} -o jsonpath='{.metadata.managedFields[*].manager}'`,
  `patch crp differing --subresource=status --type=merge -p '{"metadata":{"labels":{"x":"y"}}}'`,
  `create deployment web --image=web:1 ${n}`,
  {
    run: `patch deploy web ${n} -p '{"spec":{"replicas":"three"}}'`,
    differs: instead(
      'strategic-type-error',
      'exit 1\nstderr: The request is invalid: patch: Invalid value: "map[spec:map[replicas:three]]": json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
    ),
  },
  {
    run: 'create -f -',
    input: crd.replace('self.size != 7', 'self.size != '),
    differs: instead(
      'cel-syntax',
      'exit 1\nstderr: The CustomResourceDefinition "gadgets.deleting.example.com" is invalid: spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.size != ","Message":"seven is taken","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:14: Syntax error: Unexpected token: EOF\n | self.size !=\n | .............^',
    ),
  },
  {
    run: `create -f - ${n}`,
    input:
      'apiVersion: v1\nkind: LimitRange\nmetadata: {name: limits}\nspec: {limits: [{type: Container, default: {cpu: 100m}}]}\n',
  },
  {
    run: `run limited --image=x ${n} -o jsonpath='{.spec.containers[0].resources}'`,
    differs: instead('limit-range', 'exit 0\n{}'),
  },
  // A group whose server is missing keeps the real one from deleting namespaces.
  'delete apiservice v1.differing.example.com',
]);
