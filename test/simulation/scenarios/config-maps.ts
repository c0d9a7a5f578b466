// ConfigMaps as sources of the runtime and as targets of calls, for the small scenarios.
import type { Resource } from '../../../src/api/kind.ts';
import type { KubeObject, Labels } from '../../../src/api/object.ts';
import type { Target } from '../../../src/api/transport.ts';
import type { Source } from '../../../src/runtime/controller.ts';

export const configMaps: Resource = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};

export type Data = Readonly<Record<string, string>>;

export const dataOf = (object: KubeObject | undefined): Data => (object?.['data'] ?? {}) as Data;

export const configMapAt = (namespace: string, name: string): Target => ({ resource: configMaps, namespace, name });

export const keyOfConfigMap = (namespace: string, name: string): string => `/configmaps/${namespace}/${name}`;

/** ConfigMaps with a role label. */
export const configMapsAs = (role: string, namespace: string): Source<KubeObject> => ({
  on: 'hub',
  resource: configMaps,
  namespace,
  labels: `role=${role}`,
});

export const aConfigMap = (
  place: { readonly namespace: string; readonly name: string },
  role: string,
  data: Data,
  annotations?: Labels,
): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { ...place, labels: { role }, ...(annotations ? { annotations } : {}) },
  data,
});
