// What there is: discovery, versions, health, explain.
import { hubKinds, memberKinds } from '../../../src/api/kinds.ts';
import { script } from '../script.ts';

const componentStatus = [{ line: /componentstatus/i, known: 'componentstatus' }];

export const discovery = script('discovery', [
  'api-versions',
  { run: 'api-resources', without: componentStatus },
  { run: 'api-resources -o wide', without: componentStatus },
  { run: 'api-resources --sort-by=name -o name', without: componentStatus },
  'api-resources --namespaced=false --api-group=placement.kubernetes-fleet.io -o name',
  'api-resources --categories=fleet --no-headers',
  'api-resources --categories=all',
  'api-resources --verbs=create --namespaced=false --api-group=authorization.k8s.io',
  'cluster-info',
  'get --raw /healthz',
  'get --raw /livez',
  'get --raw /readyz',
  'get --raw /nothing/here',
  'get --raw /apis/nothing.dev/v1',
  'get --raw /api/v1/nothings',
  'get --raw /apis/apps/v1/namespaces/default/deployments/absent',
  'get nothings',
  'get nothings.apps',
  'explain nothings',
  'explain deployment.spec.nothing',
  'top pods',
]);

export const explain = script('explain', [
  ...[...hubKinds, ...memberKinds].map((kind) => `explain ${kind.plural}.${kind.group} --recursive`),
  'explain crp.spec',
  'explain crp.spec.strategy',
  'explain crp.status.conditions',
  'explain cluster.spec.taints --recursive',
  'explain csus.spec.stages --api-version=placement.kubernetes-fleet.io/v1beta1',
  'explain clusterresourceoverrides.spec --api-version=placement.kubernetes-fleet.io/v1alpha1',
  'explain crp --api-version=placement.kubernetes-fleet.io/v9',
]);
