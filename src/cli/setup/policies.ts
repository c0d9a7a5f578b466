// `flotilla policies`: what a hub refuses, as YAML for `kubectl apply -f -`. A hub holds what members shall run and runs none of it, so Pods and
// ReplicaSets are refused outside of the reserved namespaces; the Deployments that would make them stay as they are written.
//
// To opt out: do not apply it, or delete the binding; to keep some namespaces out of it, name their prefixes.

import { RESERVED_PREFIXES } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import { UserError } from '../../base/errors.ts';
import { yamlOf } from './roles.ts';

const NAME = 'deny-pods-and-replicasets-outside-reserved-namespaces';
const ADMISSION = 'admissionregistration.k8s.io/v1';
const MESSAGE = 'creating pods and replicas is disallowed in the fleet hub cluster';

export interface PoliciesOptions {
  /** Of namespaces in which Pods may be made. Absent = those of the system. */
  readonly reservedNamespacePrefixes?: readonly string[];
}

const labels = {
  'app.kubernetes.io/managed-by': 'flotilla',
  'app.kubernetes.io/part-of': 'fleet',
  'app.kubernetes.io/component': 'admission-policy',
};

export function policyObjects(options: PoliciesOptions = {}): readonly KubeObject[] {
  const prefixes = options.reservedNamespacePrefixes ?? RESERVED_PREFIXES;
  // They become text of an expression.
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
