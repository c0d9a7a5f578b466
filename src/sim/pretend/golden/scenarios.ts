// The steps of the comparison between kube-controller-manager and the `controllers` set. There is no node: only steps
// change Pods. It is data, because two programs read it.

export type Step = { readonly it: string; readonly quietMs?: number } & (
  | { readonly do: 'create'; readonly plural: string; readonly object: object }
  | { readonly do: 'patch'; readonly plural: string; readonly name: string; readonly body: object }
  | { readonly do: 'delete'; readonly plural: string; readonly name: string }
  /** Waiting Pods become ready, or finish; oldest first, `count` of them or all. */
  | {
      readonly do: 'pods';
      readonly become: 'Ready' | 'Succeeded' | 'Failed';
      readonly count?: number;
      readonly app?: string;
    }
  /** The oldest running Pod is deleted or fails. */
  | { readonly do: 'oldest'; readonly become: 'Deleted' | 'Failed' }
  | { readonly do: 'node'; readonly name: string }
  | { readonly do: 'wait' }
);

export interface Scenario {
  readonly name: string;
  readonly steps: readonly Step[];
}

const template = (app: string, image: string, spec: object = {}) => ({
  metadata: { labels: { app } },
  spec: { terminationGracePeriodSeconds: 5, containers: [{ name: 'main', image }], ...spec },
});

const deployment = (replicas: number, spec: object = {}, name = 'web') => ({
  metadata: { name },
  spec: { replicas, selector: { matchLabels: { app: name } }, template: template(name, `${name}:1`), ...spec },
});

const create = (plural: string, object: object, it = `create ${plural}`): Step => ({
  it,
  do: 'create',
  plural,
  object,
});
const patch = (it: string, plural: string, name: string, spec: object): Step => ({
  it,
  do: 'patch',
  plural,
  name,
  body: { spec },
});
const image = (plural: string, name: string, to: string): Step =>
  patch(`image ${to}`, plural, name, { template: { spec: { containers: [{ name: 'main', image: to }] } } });
const scale = (plural: string, name: string, replicas: number): Step =>
  patch(`scale to ${replicas}`, plural, name, { replicas });
const ready = (count?: number): Step => ({
  it: count === undefined ? 'all ready' : `${count} ready`,
  do: 'pods',
  become: 'Ready',
  ...(count === undefined ? {} : { count }),
});
const finish = (become: 'Succeeded' | 'Failed', count?: number, quietMs = 2500): Step => ({
  it: `${count ?? 'all'} ${become}`,
  do: 'pods',
  become,
  quietMs,
  ...(count === undefined ? {} : { count }),
});

const aJob = (name: string, spec: object = {}): Step => ({
  ...create(
    'jobs',
    {
      metadata: { name },
      spec: {
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'task:1' }] } },
        ...spec,
      },
    },
    `job ${name}`,
  ),
  quietMs: 1500,
});

const budget = (name: string, spec: object): Step =>
  create(
    'poddisruptionbudgets',
    { metadata: { name }, spec: { selector: { matchLabels: { app: name } }, ...spec } },
    `budget ${name}`,
  );

const web = 'web';

export const scenarios: readonly Scenario[] = [
  {
    name: 'rolling',
    steps: [
      create('deployments', deployment(3)),
      ready(1),
      ready(),
      image('deployments', web, 'web:2'),
      ready(),
      ready(),
      ready(),
      scale('deployments', web, 5),
      ready(),
      scale('deployments', web, 2),
      image('deployments', web, 'web:1'),
      ready(),
      ready(),
      { it: 'a Pod is deleted', do: 'oldest', become: 'Deleted' },
      ready(),
      { it: 'a Pod fails', do: 'oldest', become: 'Failed' },
      scale('deployments', web, 0),
      { it: 'delete', do: 'delete', plural: 'deployments', name: web },
    ],
  },
  {
    name: 'pausing',
    steps: [
      create('deployments', deployment(2, { revisionHistoryLimit: 1 })),
      ready(),
      patch('pause', 'deployments', web, { paused: true }),
      image('deployments', web, 'web:2'),
      scale('deployments', web, 3),
      ready(),
      patch('resume', 'deployments', web, { paused: false }),
      ready(),
      ready(),
      ready(),
      image('deployments', web, 'web:3'),
      ready(),
      ready(),
      ready(),
      patch('no history', 'deployments', web, { revisionHistoryLimit: 0 }),
    ],
  },
  {
    name: 'budget',
    steps: [
      create('deployments', deployment(10, { strategy: { rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } } })),
      ready(),
      image('deployments', web, 'web:2'),
      ready(2),
      scale('deployments', web, 15),
      image('deployments', web, 'web:3'),
      scale('deployments', web, 6),
      ready(),
      ready(),
      ready(),
      ready(),
    ],
  },
  {
    name: 'no-surge',
    steps: [
      create('deployments', deployment(4, { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: '50%' } } })),
      ready(),
      image('deployments', web, 'web:2'),
      ready(1),
      ready(1),
      ready(),
      ready(),
    ],
  },
  {
    name: 'recreate',
    steps: [
      create('deployments', deployment(2, { strategy: { type: 'Recreate' } })),
      ready(),
      image('deployments', web, 'web:2'),
      ready(),
    ],
  },
  {
    name: 'deadline',
    steps: [
      create('deployments', deployment(1, { progressDeadlineSeconds: 4, minReadySeconds: 1 })),
      { ...ready(), quietMs: 2500 },
      image('deployments', web, 'web:bad'),
      { it: 'the deadline passes', do: 'wait', quietMs: 7000 },
      image('deployments', web, 'web:3'),
      { ...ready(), quietMs: 2500 },
    ],
  },
  {
    name: 'stateful',
    steps: [
      create('statefulsets', {
        metadata: { name: 'db' },
        spec: {
          replicas: 3,
          serviceName: 'db',
          selector: { matchLabels: { app: 'db' } },
          template: template('db', 'db:1'),
          volumeClaimTemplates: [
            {
              metadata: { name: 'data' },
              spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
            },
          ],
        },
      }),
      ready(),
      ready(),
      ready(),
      image('statefulsets', 'db', 'db:2'),
      ready(),
      ready(),
      ready(),
      patch('partition 2', 'statefulsets', 'db', { updateStrategy: { rollingUpdate: { partition: 2 } } }),
      image('statefulsets', 'db', 'db:3'),
      ready(),
      scale('statefulsets', 'db', 4),
      ready(),
      scale('statefulsets', 'db', 2),
      { it: 'a Pod is deleted', do: 'oldest', become: 'Deleted' },
      ready(),
      patch('partition 0', 'statefulsets', 'db', { updateStrategy: { rollingUpdate: { partition: 0 } } }),
      ready(),
      ready(),
      image('statefulsets', 'db', 'db:1'),
      patch('on delete', 'statefulsets', 'db', { updateStrategy: { type: 'OnDelete', rollingUpdate: null } }),
      { it: 'delete', do: 'delete', plural: 'statefulsets', name: 'db' },
    ],
  },
  {
    name: 'parallel',
    steps: [
      create('statefulsets', {
        metadata: { name: 'db' },
        spec: {
          replicas: 3,
          podManagementPolicy: 'Parallel',
          serviceName: 'db',
          selector: { matchLabels: { app: 'db' } },
          template: template('db', 'db:1'),
          ordinals: { start: 1 },
        },
      }),
      ready(),
      image('statefulsets', 'db', 'db:2'),
      ready(),
      ready(),
      ready(),
      scale('statefulsets', 'db', 1),
    ],
  },
  {
    name: 'daemon',
    steps: [
      { it: 'node a', do: 'node', name: 'golden-a' },
      { it: 'node b', do: 'node', name: 'golden-b' },
      create('daemonsets', {
        metadata: { name: 'agent' },
        spec: {
          selector: { matchLabels: { app: 'agent' } },
          template: template('agent', 'agent:1', { nodeSelector: { golden: 'yes' } }),
        },
      }),
      ready(1),
      ready(),
      { it: 'node c', do: 'node', name: 'golden-c' },
      ready(),
      image('daemonsets', 'agent', 'agent:2'),
      ready(),
      ready(),
      ready(),
    ],
  },
  {
    name: 'job',
    steps: [
      aJob('one'),
      { ...ready(), quietMs: 1500 },
      finish('Succeeded'),
      aJob('many', { completions: 3, parallelism: 2 }),
      { ...ready(), quietMs: 1500 },
      finish('Succeeded', 1),
      { ...ready(), quietMs: 1500 },
      finish('Succeeded'),
      aJob('indexed', { completions: 4, parallelism: 3, completionMode: 'Indexed' }),
      finish('Succeeded'),
      finish('Succeeded'),
      aJob('failing', { backoffLimit: 1 }),
      finish('Failed', 1, 15_000),
      finish('Failed'),
      aJob('waiting', { suspend: true }),
      patch('resume', 'jobs', 'waiting', { suspend: false }),
      patch('suspend', 'jobs', 'waiting', { suspend: true }),
      { ...aJob('late', { activeDeadlineSeconds: 2 }), quietMs: 6000 },
      aJob('short-lived', { ttlSecondsAfterFinished: 1 }),
      finish('Succeeded', undefined, 5000),
    ],
  },
  {
    name: 'disruption',
    steps: [
      budget('web', { minAvailable: 2 }),
      create('deployments', deployment(3)),
      ready(2),
      ready(),
      create('deployments', deployment(3, {}, 'api')),
      budget('api', { maxUnavailable: '34%' }),
      ready(),
      scale('deployments', 'api', 1),
      create('deployments', deployment(2, {}, 'all')),
      budget('all', { minAvailable: '100%' }),
      ready(),
      budget('bare', { maxUnavailable: 1 }),
      create('pods', {
        metadata: { name: 'bare', labels: { app: 'bare' } },
        spec: { containers: [{ name: 'main', image: 'x' }] },
      }),
      ready(),
      { it: 'scale web', do: 'patch', plural: 'deployments', name: 'web', body: { spec: { replicas: 1 } } },
    ],
  },
];
