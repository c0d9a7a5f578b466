// Every Kubernetes manifest of seeds 001 to 003 with its indentation restored, one file each, and what must become of it.
// Ids are those of the checklist (V1-1 …). The commands that the seeds print stand below.

export interface SeedManifest {
  readonly id: string;
  /** Relative to this folder. Its first line names the seed and the line it came from. */
  readonly file: string;
  /**
   * `input`: the seed tells the reader to apply it. `output`: the seed shows it as written by the hub, so it must be valid but is
   * applied by nobody. `derived`: an input changed in the one way that its first line tells.
   */
  readonly role: 'input' | 'output' | 'derived';
  /** The file that must be applied before: this one updates the same object. */
  readonly after?: string;
  /** What `kubectl apply -f` and `kubectl create -f` get; a refusal is a 422 whose text contains this. */
  readonly expect: 'accepted' | { readonly refused: string };
  /**
   * What a bare POST of the document gets, if that differs. kubectl takes resourceVersion out of what it creates; a POST that
   * carries one is refused. (Seen on a real 1.34 server; server-side apply answers 409 because of the uid.)
   */
  readonly post?: { readonly code: number; readonly message: string };
  /** Namespaces that must exist. */
  readonly namespaces?: readonly string[];
}

const VERSION_SET = { code: 500, message: 'resourceVersion should not be set on objects to be created' };

export const manifests: readonly SeedManifest[] = [
  { id: 'V1-1', file: '001/v1-1.yaml', role: 'input', expect: 'accepted' },
  { id: 'V1-1b', file: '001/v1-1b.yaml', role: 'derived', after: '001/v1-1.yaml', expect: 'accepted' },
  {
    id: 'V1-1c',
    file: '001/v1-1c.yaml',
    role: 'derived',
    after: '001/v1-1.yaml',
    expect: { refused: 'placementType is immutable: create a new placement' },
  },
  { id: 'V1-2', file: '001/v1-2-west.yaml', role: 'input', expect: 'accepted' },
  { id: 'V1-2', file: '001/v1-2-east.yaml', role: 'input', after: '001/v1-2-west.yaml', expect: 'accepted' },

  { id: 'V2-0', file: '002/v2-0.yaml', role: 'derived', expect: 'accepted' },
  { id: 'V2-1', file: '002/v2-1.yaml', role: 'input', expect: 'accepted' },
  { id: 'V2-2', file: '002/v2-2.yaml', role: 'input', expect: 'accepted' },
  { id: 'V2-3', file: '002/v2-3.yaml', role: 'input', expect: 'accepted', namespaces: ['my-app-namespace'] },
  { id: 'V2-4', file: '002/v2-4.yaml', role: 'input', expect: 'accepted' },
  { id: 'V2-5', file: '002/v2-5.yaml', role: 'input', expect: 'accepted', namespaces: ['my-app-namespace'] },
  { id: 'V2-6', file: '002/v2-6.yaml', role: 'input', expect: 'accepted' },
  { id: 'V2-7', file: '002/v2-7.yaml', role: 'input', expect: 'accepted' },
  { id: 'V2-15', file: '002/v2-15.yaml', role: 'input', expect: 'accepted', namespaces: ['my-app-namespace'] },

  { id: 'V3-1', file: '003/v3-1.yaml', role: 'input', expect: 'accepted' },
  { id: 'V3-3', file: '003/v3-3.yaml', role: 'input', expect: 'accepted', namespaces: ['my-app'] },
  {
    id: 'V3-4',
    file: '003/v3-4-resource-snapshot.yaml',
    role: 'output',
    expect: 'accepted',
    post: VERSION_SET,
  },
  { id: 'V3-4', file: '003/v3-4-policy-snapshot.yaml', role: 'output', expect: 'accepted', post: VERSION_SET },
  { id: 'V3-4', file: '003/v3-4-binding.yaml', role: 'output', expect: 'accepted', post: VERSION_SET },
  { id: 'V3-5', file: '003/v3-5.yaml', role: 'output', expect: 'accepted' },
  { id: 'V3-6', file: '003/v3-6-1.yaml', role: 'input', expect: 'accepted' },
  { id: 'V3-6', file: '003/v3-6-2-west.yaml', role: 'input', expect: 'accepted' },
  { id: 'V3-6', file: '003/v3-6-2-east.yaml', role: 'input', after: '003/v3-6-2-west.yaml', expect: 'accepted' },
  { id: 'V3-7', file: '003/v3-7.yaml', role: 'input', expect: 'accepted' },
  {
    id: 'V3-8',
    file: '003/v3-8-configmap.yaml',
    role: 'input',
    expect: 'accepted',
    post: VERSION_SET,
    namespaces: ['application-1'],
  },
  {
    id: 'V3-8',
    file: '003/v3-8-configmap-without-version.yaml',
    role: 'derived',
    expect: 'accepted',
    namespaces: ['application-1'],
  },
  { id: 'V3-8', file: '003/v3-8-override.yaml', role: 'input', expect: 'accepted', post: VERSION_SET },
  { id: 'V3-8', file: '003/v3-8-override-without-version.yaml', role: 'derived', expect: 'accepted' },
  {
    id: 'V3-10',
    file: '003/v3-10.yaml',
    role: 'output',
    expect: 'accepted',
    post: VERSION_SET,
    namespaces: ['application-1'],
  },
  {
    id: 'V3-11',
    file: '003/v3-11.yaml',
    role: 'input',
    expect: 'accepted',
    post: VERSION_SET,
    namespaces: ['application-1'],
  },
  {
    id: 'V3-11',
    file: '003/v3-11-without-version.yaml',
    role: 'derived',
    expect: 'accepted',
    namespaces: ['application-1'],
  },
  { id: 'V3-12', file: '003/v3-12.yaml', role: 'output', expect: 'accepted' },
  { id: 'V3-13', file: '003/v3-13.yaml', role: 'input', expect: 'accepted' },
  { id: 'V3-14', file: '003/v3-14.yaml', role: 'input', expect: 'accepted' },
  { id: 'V3-15', file: '003/v3-15.yaml', role: 'input', expect: 'accepted' },
  { id: 'V3-17', file: '003/v3-17.yaml', role: 'input', expect: 'accepted' },
  { id: 'V3-19', file: '003/v3-19.yaml', role: 'derived', after: '003/v3-14.yaml', expect: 'accepted' },
];

export interface SeedCommand {
  readonly id: string;
  readonly seed: '002' | '003';
  readonly line: number;
  /** As printed, for a shell. */
  readonly command: string;
}

const approval = (word: string, date: string) =>
  `'{"status":{"conditions":[{"type":"Approved","status":"True","reason":"${word}","message":"${word}","lastTransitionTime":"'$(date -u ${date})'","observedGeneration":1}]}}'`;
const quotedDate = '+"%Y-%m-%dT%H:%M:%SZ"';

const merge = (line: number, id: string, target: string): SeedCommand => ({
  id,
  seed: '002',
  line,
  command: `kubectl patch ${target} --type='merge' \\\n  -p ${approval('approved', quotedDate)} \\\n  --subresource=status`,
});
const setState = (line: number, id: string, state: string): SeedCommand => ({
  id,
  seed: '002',
  line,
  command: `kubectl patch csur example-run --type='merge' -p '{"spec":{"state":"${state}"}}'`,
});

export const commands: readonly SeedCommand[] = [
  merge(256, 'V2-8', 'clusterapprovalrequests example-run-before-canary'),
  merge(261, 'V2-9', 'clusterapprovalrequests example-run-after-canary'),
  merge(266, 'V2-10', 'approvalrequests example-run-before-canary -n test-namespace'),
  setState(335, 'V2-11', 'Run'),
  setState(338, 'V2-12', 'Stop'),
  setState(341, 'V2-12', 'Run'),
  { id: 'V2-13', seed: '002', line: 384, command: 'kubectl describe clusterstagedupdaterun example-run' },
  { id: 'V2-13', seed: '002', line: 385, command: 'kubectl describe csur example-run' },
  {
    id: 'V2-16',
    seed: '002',
    line: 388,
    command: 'kubectl describe stagedupdaterun app-rollout-v1-2-3 -n my-app-namespace',
  },
  { id: 'V2-16', seed: '002', line: 389, command: 'kubectl describe sur app-rollout-v1-2-3 -n my-app-namespace' },
  { id: 'V3-10', seed: '003', line: 1110, command: 'kubectl get configmap app-config-1 -n application-1 -o yaml' },
  {
    id: 'V3-16',
    seed: '003',
    line: 1326,
    command: `kubectl patch clusterapprovalrequests example-run-canary --type='merge' -p ${approval('lgtm', '+%Y-%m-%dT%H:%M:%SZ')} --subresource=status`,
  },
  { id: 'V3-18', seed: '003', line: 1343, command: 'kubectl describe csur run example-run' },
  { id: 'V3-19', seed: '003', line: 1587, command: 'kubectl describe csur example-run' },
  { id: 'V3-19', seed: '003', line: 1663, command: 'kubectl describe crp example-placement' },
];
