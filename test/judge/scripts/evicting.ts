// pods/eviction and drain: budgets, dry runs, preconditions, bodies. No disruption controller runs: the script writes the budgets' status.
import type { StepLike } from '../script.ts';
import { script } from '../script.ts';
import { get, MERGE, patch, post, put } from './requests.ts';

const n = '-n evicting';
const CORE = '/api/v1/namespaces/evicting';
const pods = `${CORE}/pods`;
const budgets = '/apis/policy/v1/namespaces/evicting/poddisruptionbudgets';

const READY = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
const UNREADY = { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] };

const pod = (name: string, status: object | undefined, app = name, nodeName: string | undefined = 'evicting-node') => [
  post(pods, {
    metadata: { name, labels: { app } },
    spec: { ...(nodeName ? { nodeName } : {}), containers: [{ name: 'c', image: 'c:1' }] },
  }),
  ...(status === undefined ? [] : [patch(MERGE, `${pods}/${name}/status`, { status })]),
];
const evict = (name: string, more: object = {}, query = '') =>
  post(`${pods}/${name}/eviction${query}`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name }, ...more });
const budget = (name: string, app: string, spec: object = {}) =>
  post(budgets, { metadata: { name }, spec: { minAvailable: 1, selector: { matchLabels: { app } }, ...spec } });
const allows = (name: string, disruptionsAllowed: number, more: object = {}) =>
  patch(MERGE, `${budgets}/${name}/status`, { status: { observedGeneration: 1, disruptionsAllowed, ...more } });

const steps: readonly StepLike[] = [
  'create ns evicting',
  get(`${CORE}/serviceaccounts/default`, { until: 200 }),
  evict('absent'),

  ...pod('free', undefined, 'free', ''),
  evict('free', {}, '?dryRun=All'),
  get(`${pods}/free`),
  evict('free'),
  get(`${pods}/free`),

  // Without a budget
  ...pod('alone', READY),
  evict('alone', { deleteOptions: { dryRun: ['All'] } }),
  evict('alone', { deleteOptions: { dryRun: ['All'] } }, '?dryRun=All'),
  evict('alone', { deleteOptions: { preconditions: { uid: 'other' } } }),
  evict('alone', { deleteOptions: { preconditions: { resourceVersion: '1' } } }),
  get(`${pods}/alone`),
  evict('alone', { deleteOptions: { gracePeriodSeconds: 7 } }),
  get(`${pods}/alone`),
  evict('alone'),
  evict('alone', { deleteOptions: { gracePeriodSeconds: 0 } }),
  get(`${pods}/alone`),

  // Bodies
  ...pod('body', READY),
  evict('body', { metadata: { name: 'other' } }),
  evict('body', { metadata: {} }),
  evict('body', { metadata: { name: 'body', namespace: 'other' } }),
  { ...evict('body', { kind: 'Pod' }, '?dryRun=All'), differs: { known: 'library-words' } },
  { ...evict('body', { apiVersion: 'v1' }, '?dryRun=All'), differs: { known: 'library-words' } },
  evict('body', { apiVersion: 'policy/v1beta1' }, '?dryRun=All'),
  { ...evict('body', { apiVersion: 'policy/v2' }, '?dryRun=All'), differs: { known: 'library-words' } },
  post(`${pods}/body/eviction?dryRun=All`, { metadata: { name: 'body' } }),
  post(`${pods}/body/eviction?dryRun=All`, {}),
  evict('body', { deleteOptions: { gracePeriodSeconds: 'soon' } }, '?dryRun=All'),
  evict('body', { deleteOptions: { dryRun: ['Some'] } }),
  evict('body', { deleteOptions: { dryRun: ['Some'] } }, '?dryRun=All'),
  evict('body', { deleteOptions: { propagationPolicy: 'Sideways' } }, '?dryRun=All'),
  evict('body', { other: true }, '?dryRun=All&fieldValidation=Strict'),
  evict('body', { other: true }, '?dryRun=All&fieldValidation=Warn'),
  get(`${pods}/body/eviction`),
  put(`${pods}/body/eviction`, {}),

  // With a budget
  ...pod('one', READY, 'web'),
  ...pod('two', READY, 'web'),
  budget('web', 'web'),
  evict('one'),
  allows('web', 0, { currentHealthy: 1, desiredHealthy: 1, expectedPods: 2 }),
  evict('one'),
  evict('one', {}, '?dryRun=All'),
  get(`${pods}/one`),
  allows('web', 2, {
    currentHealthy: 2,
    conditions: [
      {
        type: 'DisruptionAllowed',
        status: 'True',
        observedGeneration: 1,
        lastTransitionTime: '2026-01-01T00:00:00Z',
        reason: 'SufficientPods',
        message: '',
      },
    ],
  }),
  evict('one', {}, '?dryRun=All'),
  get(`${budgets}/web`),
  evict('one'),
  get(`${budgets}/web`),
  evict('one'),
  get(`${budgets}/web`),
  evict('two', { deleteOptions: { gracePeriodSeconds: 0 } }),
  get(`${budgets}/web`),
  get(`${pods}/two`),

  // Pods that are not ready
  ...pod('sick', UNREADY, 'web'),
  allows('web', 0, { currentHealthy: 0, desiredHealthy: 1 }),
  evict('sick'),
  allows('web', 0, { currentHealthy: 1, desiredHealthy: 1 }),
  evict('sick', { deleteOptions: { gracePeriodSeconds: 0 } }),
  ...pod('always', UNREADY, 'always'),
  budget('always', 'always', { unhealthyPodEvictionPolicy: 'AlwaysAllow' }),
  evict('always', { deleteOptions: { gracePeriodSeconds: 0 } }),
  get(`${budgets}/always`),

  // Pods that do not run
  ...pod('done', { phase: 'Succeeded' }, 'web'),
  evict('done', { deleteOptions: { gracePeriodSeconds: 0 } }),
  ...pod('pending', undefined, 'web'),
  evict('pending', { deleteOptions: { gracePeriodSeconds: 0 } }),

  // Two budgets
  ...pod('torn', READY, 'torn'),
  budget('torn-1', 'torn'),
  budget('torn-2', 'torn'),
  evict('torn'),
  get(`${pods}/torn`),
  // A budget without a selector, and one for all
  ...pod('any', READY, 'any'),
  post(budgets, { metadata: { name: 'none' }, spec: { minAvailable: 1 } }),
  evict('any', {}, '?dryRun=All'),

  // drain
  {
    run: 'create -f -',
    input: 'apiVersion: v1\nkind: Node\nmetadata: {name: evicting-node}\n',
  },
  `delete pdb --all ${n}`,
  `delete pods --all ${n} --force --grace-period=0`,
  ...pod('drained', READY, 'drained'),
  'drain evicting-node',
  'drain evicting-node --force --dry-run=server',
  budget('drained', 'drained'),
  allows('drained', 0, { currentHealthy: 1, desiredHealthy: 1 }),
  'drain evicting-node --force --timeout=1s',
  allows('drained', 1),
  'drain evicting-node --force --grace-period=0 --timeout=20s',
  `get pods ${n}`,
  'uncordon evicting-node',
  'delete node evicting-node',
  'delete ns evicting',
];

export const evicting = script('evicting', steps);
