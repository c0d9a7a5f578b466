// Compares with a real Kubernetes 1.34.4 (scripts/capture-builtin.ts): this server must store the same objects and
// return the same errors.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { FieldCause } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { ApiError } from '../../base/errors.ts';
import { mutableCopy } from '../../base/json.ts';
import { objectIn } from '../represent.ts';
import { create } from '../verbs/create.ts';
import { update } from '../verbs/update.ts';
import { placeOf, someone, type TestCluster, testCluster } from './cluster.testing.ts';
import { SYSTEM_PRIORITIES } from './priority-class.ts';

const NAMESPACE = 'flotilla-capture';

const read = <T>(name: string): T =>
  JSON.parse(readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8')) as T;

/** A cluster with the objects that the captured ones reference. */
async function cluster(): Promise<TestCluster> {
  const made = testCluster();
  const put = (object: KubeObject) => create(made, placeOf(made, object, NAMESPACE), object, someone);
  await put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  await put({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } });
  for (const { name, value } of SYSTEM_PRIORITIES) {
    await put({ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value });
  }
  return made;
}

/** Removes values that differ between any two servers: uids and times, generated suffixes, allocated addresses. */
function normalised(object: KubeObject): unknown {
  const copy = mutableCopy(object) as unknown as Record<string, Record<string, unknown>>;
  for (const field of ['uid', 'creationTimestamp', 'resourceVersion']) delete copy['metadata']?.[field];
  const text = JSON.stringify(copy)
    .replaceAll(/kube-api-access-[a-z0-9]{5}/g, 'kube-api-access-xxxxx')
    .replaceAll(/"(?:lastPhaseTransitionTime|lastTransitionTime)":"[^"]*"/g, '"time":"t"')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'uid')
    .replaceAll(/"10\.(?:0|96|9[6-9]|10\d|11[01])\.\d+\.\d+"/g, '"cluster-ip"')
    .replaceAll(/"(nodePort|healthCheckNodePort)":3\d{4}/g, '"$1":"port"');
  return JSON.parse(text);
}

interface Pair {
  readonly input: KubeObject;
  readonly stored: KubeObject;
}

describe('what a real server stores', () => {
  const pairs = read<Pair[]>('defaults.json');
  test('covers enough kinds to mean something', () => {
    expect(pairs.length).toBeGreaterThan(60);
  });
  test.each(pairs.map((pair) => ({ name: `${pair.input.kind} ${pair.input.metadata.name}`, ...pair })))(
    '$name',
    async ({ input, stored }) => {
      const made = await cluster();
      const at = placeOf(made, input, NAMESPACE);
      const written = await create(made, at, input, someone);
      const shown = objectIn(at.resource, at.version, written.stored);
      expect(normalised(shown)).toEqual(normalised(stored));
      // Writing an object back unchanged must not create a revision.
      const head = made.store.head;
      if (at.resource.verbs.includes('update')) await update(made, at, mutableCopy(shown), someone);
      expect(made.store.head).toBe(head);
    },
  );
});

interface Change {
  readonly from: KubeObject;
  readonly patch: unknown;
  readonly stored: KubeObject;
}

describe('what a real server makes of a change', () => {
  test.each(
    read<Change[]>('changes.json').map((each) => ({
      name: `${each.from.kind} ${JSON.stringify(each.patch)}`,
      ...each,
    })),
  )('$name', async ({ from, patch, stored }) => {
    const made = await cluster();
    const at = placeOf(made, from, NAMESPACE);
    const before = objectIn(at.resource, at.version, (await create(made, at, from, someone)).stored);
    const written = await update(made, at, mutableCopy(merge(before, patch)), someone);
    const { status: _, ...shown } = objectIn(at.resource, at.version, written.stored);
    expect(normalised(shown)).toEqual(normalised(stored));
  });
});

interface Refusal {
  readonly create?: KubeObject;
  readonly update?: KubeObject;
  readonly patch?: unknown;
  readonly status: {
    readonly code: number;
    readonly reason: string;
    readonly message: string;
    readonly causes?: FieldCause[];
  };
}

function merge(into: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> = { ...(into as Record<string, unknown> | undefined) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merge(result[key], value);
  }
  return result;
}

/** Known differences: a real server prints some values as Go structs, and the change of a Pod as a diff of them. */
const worded = (text: string): string =>
  text
    .replaceAll(/(Invalid value|Unsupported value|Duplicate value): \{.*?\}(?=: [a-z`m]|: supported|$)/gs, '$1: {…}')
    .replace(/\n@@ [\s\S]*$/, '')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'uid')
    .replaceAll('10.0.0.0/16', 'range')
    .replaceAll('10.96.0.0/12', 'range')
    .replaceAll(/(redacted>": ).*/g, '$1…');

const causesOf = (causes: readonly Partial<FieldCause>[] | undefined): readonly string[] =>
  (causes ?? []).map(({ reason, field, message = '' }) => `${field} ${reason} ${worded(message)}`).sort();

describe('what a real server refuses', () => {
  test.each(
    read<Refusal[]>('refusals.json').map((each) => {
      const input = (each.create ?? each.update) as KubeObject;
      return { name: `${input.kind} ${input.metadata.name}`, input, ...each };
    }),
  )('$name', async ({ input, update: isUpdate, patch, status }) => {
    const made = await cluster();
    const at = placeOf(made, input, NAMESPACE);
    let error: unknown;
    try {
      const written = await create(made, at, input, someone);
      if (isUpdate)
        await update(made, at, mutableCopy(merge(objectIn(at.resource, at.version, written.stored), patch)), someone);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(ApiError);
    const { code, reason, message, details } = error as ApiError;
    expect({ code, reason, causes: causesOf(details?.causes) }).toEqual({
      code: status.code,
      reason: status.reason,
      causes: causesOf(status.causes),
    });
    if (status.causes === undefined) expect(message).toBe(status.message);
  });
});
