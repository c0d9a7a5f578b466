// Admission webhooks of a member, which only Kubernetes' own API server calls: one that changes an object and one that refuses one.
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Asked, json, type Scripted, scripted } from '../conformance/scripted-server.ts';
import { pki } from '../conformance/subjects.ts';
import { flotilla } from '../wire/fleet.ts';
import { type RealFleet, startOnPlanes } from './fleet.ts';
import { skipsPlanes } from './planes.ts';

const MEMBER = 'member-1';
const SPACE = 'hooked';
const DENIED = 'no object is called denied here';

interface Review {
  readonly request: { readonly uid: string; readonly name: string; readonly object: { readonly data?: object } };
}

/** Sets a value of ConfigMap `app` and refuses ConfigMap `denied`. */
function answer(response: ServerResponse, { body }: Asked): void {
  const { uid, name } = (JSON.parse(body) as Review).request;
  const patch = Buffer.from(JSON.stringify([{ op: 'add', path: '/data/value', value: 'webhook' }])).toString('base64');
  const verdict =
    name === 'denied'
      ? { allowed: false, status: { message: DENIED } }
      : { allowed: true, ...(name === 'app' ? { patchType: 'JSONPatch', patch } : {}) };
  json(response, {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid, ...verdict },
  });
}

const configuration = (port: number) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingWebhookConfiguration',
  metadata: { name: SPACE },
  webhooks: [
    {
      name: 'values.example.com',
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      clientConfig: {
        url: `https://127.0.0.1:${port}/`,
        caBundle: Buffer.from(pki().authority.certificate).toString('base64'),
      },
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': SPACE } },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE', 'UPDATE'] }],
    },
  ],
});

const config = (name: string, value: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: SPACE },
  data: { value },
});

const placement = {
  apiVersion: 'placement.kubernetes-fleet.io/v1',
  kind: 'ClusterResourcePlacement',
  metadata: { name: SPACE },
  spec: {
    resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: SPACE }],
    policy: { placementType: 'PickFixed', clusterNames: [MEMBER] },
  },
};

describe.skipIf(skipsPlanes)('admission webhooks of a member', () => {
  let fleet: RealFleet;
  let webhook: Scripted;
  beforeAll(async () => {
    webhook = await scripted(answer, { tls: true });
    fleet = await startOnPlanes([{ name: MEMBER, labels: {} }]);
    const input = JSON.stringify(configuration(webhook.port));
    await fleet.kubectl.ok(['--context', MEMBER, 'apply', '-f', '-'], input);
  }, 300_000);
  afterAll(async () => {
    await fleet?.kubectl.ok(['--context', MEMBER, 'delete', 'mutatingwebhookconfiguration', SPACE]);
    await fleet?.[Symbol.asyncDispose]();
    await webhook?.[Symbol.asyncDispose]();
  });

  const why = async (...args: readonly string[]) =>
    (await flotilla(fleet.home, ['why', `placement/${SPACE}`, ...args, '--kubeconfig', fleet.kubeconfig])).stdout;
  const writesOf = (name: string) =>
    webhook.asked.filter(({ body }) => (JSON.parse(body) as Review).request.name === name).length;

  test('one that refuses an object is reported in its own words; one that changes an object is named and not fought', async () => {
    await fleet.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: SPACE } });
    await fleet.apply(config('app', 'hub'), config('free', 'hub'), config('denied', 'hub'), placement);
    await fleet.waitForReason(`crp/${SPACE}`, 'ClusterResourcePlacementApplied', 'ApplyFailed');
    await fleet.on(MEMBER, ['-n', SPACE, 'wait', '--for=create', 'cm/free', '--timeout=60s']);
    expect(await why()).toContain(`admission webhook "values.example.com" denied the request: ${DENIED}`);

    await fleet.hub(['-n', SPACE, 'delete', 'cm', 'denied']);
    await fleet.waitForAvailable(`crp/${SPACE}`);
    const value = ['-n', SPACE, 'get', 'cm', 'app', '-o', 'jsonpath={.data.value}'];
    expect(await fleet.on(MEMBER, value)).toBe('webhook');
    expect(await why('--cluster', MEMBER)).toContain(
      `ConfigMap "${SPACE}/app" is applied, but the member's API server changes /data/value (an admission webhook or policy)`,
    );

    // Its own status events and changes of other objects are no reason to write it again.
    const before = writesOf('app');
    for (const each of ['second', 'third']) {
      await fleet.apply(config('free', each));
      const isThere = `--for=jsonpath={.data.value}=${each}`;
      await fleet.on(MEMBER, ['-n', SPACE, 'wait', 'cm/free', isThere, '--timeout=60s']);
    }
    expect(writesOf('app') - before).toBeLessThanOrEqual(1);
    expect(before).toBeLessThanOrEqual(6);

    await fleet.apply(config('app', 'webhook'));
    await fleet.waitForStatus(
      ['crp', SPACE],
      (status) => (status as { observedResourceIndex?: string }).observedResourceIndex === '4',
      'the revision that suits the webhook is placed',
    );
    await fleet.waitForAvailable(`crp/${SPACE}`);
    expect(await why('--cluster', MEMBER)).not.toContain('changes /data/value');
  });
});
