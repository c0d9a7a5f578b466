// ClusterProfile of SIG Multicluster: lets other tools find the members of the fleet. The hub mirrors each joined
// member there.
import { defineKind, type Infer, s, type WithSpec } from './build.ts';
import { conditionStatus, text } from './columns.ts';
import { conditionList } from './conditions.ts';
import { inventoryGroup } from './groups.ts';
import { frozen } from './immutable.ts';

const spec = s.object(
  {
    displayName: s.optional(s.string({ doc: 'Name for people.' })),
    clusterManager: s.object(
      { name: s.string({ doc: 'Name of the manager.', maxLength: 253 }) },
      { doc: 'Who manages the cluster. Immutable.', rules: [frozen('clusterManager', 'create a new profile')] },
    ),
  },
  { doc: 'Desired state of the profile.' },
);

// The `cluster` entry of a kubeconfig, with its field names.
const endpoint = s.object(
  {
    server: s.string({ doc: 'Address of the API server.' }),
    'tls-server-name': s.optional(s.string({ doc: 'Name to expect in its certificate.' })),
    'insecure-skip-tls-verify': s.optional(s.boolean({ doc: 'Do not check its certificate.' })),
    'certificate-authority': s.optional(s.string({ doc: 'File with the certificates to trust.' })),
    'certificate-authority-data': s.optional(s.bytes('The certificates to trust.')),
    'proxy-url': s.optional(s.string({ doc: 'URL of the proxy to use.' })),
    'disable-compression': s.optional(s.boolean({ doc: 'Request uncompressed responses.' })),
    extensions: s.optional(
      s.array(
        s.object(
          { name: s.string({ doc: 'Name of the extension.' }), extension: s.open({ doc: 'Its content.' }) },
          { doc: 'One extension.' },
        ),
        { doc: 'Other data that the manager reports.' },
      ),
    ),
  },
  { doc: 'How to reach the cluster.' },
);

const providers = (doc: string) =>
  s.array(
    s.object(
      { name: s.string({ doc: 'Name of the provider.' }), cluster: s.optional(endpoint) },
      { doc: 'One provider.' },
    ),
    { doc },
  );

const status = s.object(
  {
    conditions: s.optional(conditionList('The state of the cluster.')),
    version: s.optional(
      s.object({ kubernetes: s.optional(s.string({ doc: 'Version of Kubernetes.' })) }, { doc: 'Versions.' }),
    ),
    properties: s.optional(
      s.array(
        s.object(
          {
            name: s.string({ doc: 'Name of the property.', minLength: 1, maxLength: 253 }),
            value: s.string({ doc: 'Its value.', minLength: 1, maxLength: 1024 }),
            lastObservedTime: s.optional(s.time('When it was observed.')),
          },
          { doc: 'One property.' },
        ),
        { doc: 'Facts about the cluster.' },
      ),
    ),
    accessProviders: s.optional(providers('Ways to reach the cluster.')),
    credentialProviders: s.optional(providers('Older name of accessProviders.')),
  },
  { doc: 'Observed state.' },
);

export const clusterProfile = defineKind({
  in: inventoryGroup,
  versions: ['v1alpha1'],
  namespaced: true,
  kind: 'ClusterProfile',
  plural: 'clusterprofiles',
  doc: 'A cluster of an inventory.',
  spec,
  status,
  columns: [
    text('Manager', '.spec.clusterManager.name'),
    text('Version', '.status.version.kubernetes'),
    conditionStatus('Healthy', 'ControlPlaneHealthy'),
  ],
});

export type ClusterProfileSpec = Infer<typeof spec>;
export type ClusterProfileStatus = Infer<typeof status>;
export type ClusterProfile = WithSpec<ClusterProfileSpec, ClusterProfileStatus>;

export type ClusterProfileCondition = 'ControlPlaneHealthy';
export type ClusterProfileReason =
  | 'MemberClusterAPIServerHealthy'
  | 'MemberClusterAPIServerUnhealthy'
  | 'MemberAgentHeartbeatLost'
  | 'MemberAgentReportedNoStatus'
  | 'MemberAgentReportedNoHealthInfo';
