// How large an object may become, whatever verb makes it so: the limit is that of etcd's requests.
import {
  APPS,
  CORE,
  deploymentOf,
  get,
  inNamespace,
  JSON_PATCH,
  MERGE,
  PARTIAL,
  PLACEMENT,
  patch,
  post,
  put,
  remove,
  STRATEGIC,
} from './requests.ts';

const big = 'x'.repeat(1_700_000);
const half = 'x'.repeat(900_000);
/** Answers without the content: no recording should hold it. */
const brief = { headers: PARTIAL };

const WORKS = `${PLACEMENT}/v1/namespaces/n-{{id}}/works`;
const work = (name: string, text: string, metadata: object = {}) => ({
  apiVersion: 'placement.kubernetes-fleet.io/v1',
  kind: 'Work',
  metadata: { name, ...metadata },
  spec: { workload: { manifests: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, data: { text } }] } },
});
const container = (value: string) => ({ name: 'c', image: 'c:1', env: [{ name: 'E', value }] });
const web = (value: string) =>
  deploymentOf('web', {
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [container(value)] } },
  });
const ready = (message: string) => ({
  status: { conditions: [{ type: 'Ready', status: 'True', reason: 'A', message }] },
});
const event = (more: object) => ({
  metadata: { name: 'e' },
  involvedObject: { kind: 'Pod', namespace: 'n-{{id}}', name: 'p' },
  ...more,
});
const EVENTS = '/apis/events.k8s.io/v1/namespaces/n-{{id}}/events';
const newEvent = (more: object) => ({
  metadata: { name: 'e' },
  eventTime: '2026-01-01T00:00:00.000000Z',
  reportingController: 'a',
  reportingInstance: 'a',
  action: 'a',
  reason: 'a',
  type: 'Normal',
  regarding: { kind: 'Pod', namespace: 'n-{{id}}', name: 'p' },
  ...more,
});

export const rawSize = inNamespace('raw-size', [
  post(WORKS, work('big', big), { it: 'a custom object, created' }),
  post(WORKS, work('half', half), { ...brief, it: 'half as much', keep: { revision: 'metadata.resourceVersion' } }),
  put(`${WORKS}/half`, work('half', big, { resourceVersion: '{{revision}}' }), { it: 'updated' }),
  patch(MERGE, `${WORKS}/half`, { spec: work('half', big).spec }, { it: 'merged' }),
  patch(JSON_PATCH, `${WORKS}/half`, [{ op: 'add', path: '/spec/workload/manifests/0/data/more', value: half }], {
    it: 'patches that add up',
  }),
  get(`${WORKS}/big`),
  post(`${APPS}/deployments`, web(big), { it: 'a built-in object, created' }),
  post(`${APPS}/deployments`, web(half), { ...brief, it: 'half as much' }),
  patch(STRATEGIC, `${APPS}/deployments/web`, { spec: { template: { spec: { containers: [container(big)] } } } }),
  put(`${APPS}/deployments/web`, web(big), { it: 'updated' }),
  patch(MERGE, `${APPS}/deployments/web/status`, ready('x'.repeat(800_000)), { it: 'the status' }),
  post(
    `${APPS}/deployments?dryRun=All`,
    deploymentOf('dry', { template: { metadata: { labels: { app: 'dry' } }, spec: { containers: [container(big)] } } }),
    {
      ...brief,
      it: 'nothing is stored',
    },
  ),
  patch(MERGE, `${APPS}/deployments/web/status`, ready(big), {
    it: 'more than a message to etcd may have',
    differs: { known: 'library-words' },
  }),
  post(`${CORE}/events`, event({ related: { kind: big } }), { it: 'an Event' }),
  post(`${CORE}/events`, event({ message: 'x'.repeat(1025) }), {
    ...brief,
    it: 'core Events have no limit of their own',
  }),
  post(EVENTS, newEvent({ metadata: { name: 'e2' }, note: 'x'.repeat(1025) }), { it: 'the newer ones have' }),
  post(EVENTS, newEvent({ metadata: { name: 'e3' }, reason: 'x'.repeat(129) })),
  post(EVENTS, newEvent({ metadata: { name: 'e4' }, reportingInstance: 'x'.repeat(129) })),
  post(EVENTS, newEvent({ metadata: { name: 'e5' }, action: 'x'.repeat(129) })),
  remove(`${WORKS}/half`, undefined, brief),
]);
