// `flotilla policies`: admission policies of a hub as YAML for `kubectl apply -f -`. A hub stores the workloads of
// members and runs none of them, so Pods and ReplicaSets are denied outside reserved namespaces; their Deployments stay
// as written.
//
// To opt out, do not apply it or delete the binding; to exempt namespaces, name their prefixes.

import { RESERVED_PREFIXES } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import { UserError } from '../../base/errors.ts';
import { yamlOf } from './roles.ts';

const NAME = 'deny-pods-and-replicasets-outside-reserved-namespaces';
const ADMISSION = 'admissionregistration.k8s.io/v1';
const MESSAGE = 'creating pods and replicas is disallowed in the fleet hub cluster';

export interface PoliciesOptions {
  /** Prefixes of namespaces in which Pods may be created. Absent = system namespaces. */
  readonly reservedNamespacePrefixes?: readonly string[];
}

const labels = {
  'app.kubernetes.io/managed-by': 'flotilla',
  'app.kubernetes.io/part-of': 'fleet',
  'app.kubernetes.io/component': 'admission-policy',
};

export function policyObjects(options: PoliciesOptions = {}): readonly KubeObject[] {
  const prefixes = options.reservedNamespacePrefixes ?? RESERVED_PREFIXES;
  // The prefixes become part of a CEL expression.
  const wrong = prefixes.find((prefix) => !/^[a-z0-9-]+$/.test(prefix));
  if (wrong !== undefined)
    throw new UserError(
      'BadFlag',
      `"${wrong}" is no beginning of a namespace's name: lower-case letters, digits, dashes`,
    );
  return [
    {
      apiVersion: ADMISSION,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: NAME, labels },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          resourceRules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
            { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['replicasets'] },
          ],
        },
        validations: [
          {
            expression: prefixes.map((prefix) => `request.namespace.startsWith('${prefix}')`).join(' || '),
            message: MESSAGE,
            reason: 'Forbidden',
          },
        ],
      },
    },
    {
      apiVersion: ADMISSION,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: `${NAME}-binding`, labels },
      spec: { policyName: NAME, validationActions: ['Deny'] },
    },
  ];
}

export const policies = (options?: PoliciesOptions): string => yamlOf(policyObjects(options));
