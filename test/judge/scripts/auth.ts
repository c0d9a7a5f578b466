// Who may do what: can-i, whoami, impersonation, roles at work, refusals.
import { script } from '../script.ts';

const as = '--as=amy --as-group=auditors';
const n = '-n authing';

export const auth = script('auth', [
  'create ns authing',
  'auth can-i create pods',
  "auth can-i '*' '*'",
  'auth can-i get /metrics',
  'auth can-i fly pods',
  'auth can-i get nothings',
  `auth can-i list pods ${as}`,
  `auth can-i list pods ${n} ${as} -q`,
  `auth can-i --list ${as}`,
  `auth can-i --list ${n} --as=system:serviceaccount:authing:default`,
  `auth whoami ${as} --as-uid=7 --as-user-extra=dept=eng`,
  `auth whoami ${as} -o yaml`,
  `get pods ${as}`,
  `get pods ${n} ${as}`,
  `get ns ${as}`,
  `get crp ${as}`,
  `get cm x ${n} ${as}`,
  `create cm x --from-literal=a=b ${n} ${as}`,
  `delete cm x ${n} ${as}`,
  `label ns authing a=b ${as}`,
  `create rolebinding eds --clusterrole=edit --user=amy ${n}`,
  `auth can-i create deployments ${n} ${as}`,
  `auth can-i create deployments ${as}`,
  `auth can-i create roles ${n} ${as}`,
  `auth can-i get secrets ${n} ${as}`,
  `auth can-i get pods/log ${n} ${as}`,
  `auth can-i create pods --subresource=exec ${n} ${as}`,
  `create cm x --from-literal=a=b ${n} ${as}`,
  `create role more --verb=get --resource=pods ${n} ${as}`,
  `create rolebinding adm --clusterrole=admin --user=ann ${n}`,
  `create role more --verb=get --resource=pods ${n} --as=ann`,
  `create role toomuch --verb=get --resource=nodes ${n} --as=ann`,
  `create rolebinding toomuch --clusterrole=cluster-admin --user=ann ${n} --as=ann`,
  `get pods ${n} --as=bob --as=amy`,
  `get pods ${n} ${as} --as-group=more --as=system:serviceaccount:authing:default`,
  `get cm ${n} --as=joe --token=nonsense`,
  `create sa robot ${n}`,
  `create rolebinding robots --clusterrole=view --serviceaccount=authing:robot ${n}`,
  `auth can-i list cm ${n} --as=system:serviceaccount:authing:robot`,
  `get secrets ${n} --as=system:serviceaccount:authing:robot`,
  `auth can-i list crp --as=amy`,
  `auth can-i use podsecuritypolicies`,
  'get clusterrole view edit admin cluster-admin',
  {
    run: 'auth reconcile -f -',
    input:
      'apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: rec, namespace: authing}\nrules: [{apiGroups: [""], resources: [pods], verbs: [get]}]\n',
  },
  {
    run: 'auth reconcile -f -',
    input:
      'apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: rec, namespace: authing}\nrules: [{apiGroups: [""], resources: [pods, services], verbs: [get]}]\n',
  },
  {
    run: 'create -f - -o yaml',
    input:
      'apiVersion: authorization.k8s.io/v1\nkind: SubjectAccessReview\nspec: {user: amy, resourceAttributes: {namespace: authing, verb: create, group: apps, resource: deployments}}\n',
  },
  {
    run: 'create -f - -o yaml',
    input:
      'apiVersion: authorization.k8s.io/v1\nkind: SubjectAccessReview\nspec: {user: amy, resourceAttributes: {namespace: default, verb: create, group: apps, resource: deployments}}\n',
  },
  {
    run: 'create -f - -o yaml',
    input: 'apiVersion: authorization.k8s.io/v1\nkind: SubjectAccessReview\nspec: {user: amy}\n',
  },
  {
    run: 'create -f - -o yaml',
    input: 'apiVersion: authentication.k8s.io/v1\nkind: TokenReview\nspec: {token: nonsense}\n',
  },
]);
