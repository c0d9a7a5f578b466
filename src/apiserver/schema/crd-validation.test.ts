import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { crdOf } from '../../api/crd.ts';
import { hubKinds, memberKinds } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Draft } from '../registry.ts';
import type { Crd } from './crd.ts';
import { crdBehaviour, defaultCrd, markCrdTerminating, prepareCrd } from './crd-behaviour.ts';
import { validateCrd } from './crd-validation.ts';

interface Golden {
  readonly it: string;
  readonly crd: Draft;
  readonly causes: readonly string[];
}

// The response of kube-apiserver 1.34.4 to the creation of each definition.
const golden = readFileSync(new URL('./crd-validation.golden.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Golden);

const created = (crd: KubeObject | Draft): Crd => {
  const draft = structuredClone(crd) as Draft;
  defaultCrd(draft);
  prepareCrd(draft, undefined);
  return draft as Crd;
};
const says = (crd: Crd, old?: Crd): string[] =>
  [...new Set(validateCrd(crd, old).map((cause) => `${cause.field}: ${cause.message}`))].sort();

describe('a definition is judged as by kube-apiserver 1.34.4', () => {
  test.each(golden)('$it', ({ crd, causes }) => {
    expect(says(created(crd))).toEqual(causes);
  });
  test('and all of ours pass', () => {
    for (const kind of [...hubKinds, ...memberKinds]) expect(says(created(crdOf(kind))), kind.kind).toEqual([]);
  });
});

const base = golden.find(({ it }) => it === 'good')?.crd as Draft;
const changed = (change: (spec: Record<string, unknown>, draft: Draft) => void, from: Draft = base): Crd => {
  const draft = structuredClone(created(from)) as Draft;
  change(draft.spec as Record<string, unknown>, draft);
  prepareCrd(draft, created(from));
  return draft as Crd;
};
const established = (crd: Crd): Crd => ({
  ...crd,
  status: { ...crd.status, conditions: [{ type: 'Established', status: 'True' }] },
});

describe('an update', () => {
  test('may not move a definition', () => {
    const old = created(base);
    const moved = changed((spec) => {
      spec['group'] = 'other.example.com';
      spec['names'] = { plural: 'others', singular: 'case', kind: 'Case', listKind: 'CaseList' };
    });
    expect(says(moved, old)).toEqual([
      'spec.group: Invalid value: "other.example.com": field is immutable',
      'spec.names.plural: Invalid value: "others": field is immutable',
    ]);
  });
  test('may change scope and kind until it is established', () => {
    const next = changed((spec) => {
      spec['scope'] = 'Cluster';
      spec['names'] = { plural: 'cases', singular: 'case', kind: 'Other', listKind: 'OtherList' };
    });
    expect(says(next, created(base))).toEqual([]);
    expect(says(next, established(created(base)))).toEqual([
      'spec.names.kind: Invalid value: "Other": field is immutable',
      'spec.scope: Invalid value: "Cluster": field is immutable',
    ]);
  });
  test('keeps every version that was ever stored', () => {
    const next = changed((spec) => {
      const [version] = spec['versions'] as Record<string, unknown>[];
      spec['versions'] = [{ ...version, name: 'v2' }];
    });
    expect(next.status?.storedVersions).toEqual(['v1', 'v2']);
    expect(says(next, created(base))).toEqual([
      'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions',
    ]);
  });
  test('a conversion webhook is refused in clear words', () => {
    const next = changed((spec) => {
      spec['conversion'] = { strategy: 'Webhook', webhook: {} };
    });
    expect(says(next)).toEqual([
      'spec.conversion.strategy: Invalid value: "Webhook": this server calls no conversion webhooks; serve versions with compatible schemas and use None',
    ]);
  });
});

describe('the server', () => {
  test('fills in names and conversion, and starts the status', () => {
    const crd = created(base);
    expect(crd.spec.names).toEqual({ plural: 'cases', kind: 'Case', singular: 'case', listKind: 'CaseList' });
    expect(crd.spec.conversion).toEqual({ strategy: 'None' });
    expect(crd.status).toEqual({ conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] });
  });
  test('takes no status from a client', () => {
    expect(created({ ...base, status: { storedVersions: ['v9'] } }).status?.storedVersions).toEqual(['v1']);
  });
  test('holds a deletion from its first moment', () => {
    const draft = structuredClone(created(base)) as Draft;
    draft.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    markCrdTerminating(draft);
    markCrdTerminating(draft);
    expect(draft.metadata.finalizers).toEqual(['customresourcecleanup.apiextensions.k8s.io']);
    expect((draft as Crd).status?.conditions).toEqual([
      {
        type: 'Terminating',
        status: 'True',
        lastTransitionTime: '2026-01-01T00:00:00Z',
        reason: 'InstanceDeletionPending',
        message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
      },
    ]);
  });
  test('warns of formats that nobody knows', () => {
    const odd = golden.find(({ it }) => it === 'format')?.crd as Draft;
    const warnings: string[] = [];
    const context = { subresource: undefined, warn: (text: string) => warnings.push(text) };
    crdBehaviour.validate?.(created(odd), undefined, context as never);
    expect(warnings).toEqual(['unrecognized format "nope"']);
  });
});
