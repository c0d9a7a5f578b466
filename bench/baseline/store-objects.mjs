// The objects that the store's benchmarks write: ConfigMaps of about 2 KB.

export const configMap = (n) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: nameOf(n),
    namespace: namespaceOf(n),
    uid: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    creationTimestamp: '2025-01-01T00:00:00Z',
    labels: { app: `app-${n % 50}`, tier: 'web', 'kubernetes.io/metadata.name': nameOf(n) },
  },
  data: Object.fromEntries(Array.from({ length: 22 }, (_, i) => [`setting-${i}`, `${n}-${'value'.repeat(12)}`])),
});

export const nameOf = (n) => `settings-${String(n).padStart(7, '0')}`;
export const namespaceOf = (n) => `team-${n % 100}`;
export const keyOf = (n) => `/configmaps/${namespaceOf(n)}/${nameOf(n)}`;
