// A controller for tests with everything in it that a real one has: a finalizer, several steps, an index, a projection that forgets the
// content, the content on demand, deletions of what is too much, a status of its own, Events, holds and a wake-up.
//
// Every ConfigMap with the label `app=copy` is copied into as many Secrets as its `data.copies` says, with the text of `data.text`.

import type { Resource } from '../../src/api/kind.ts';
import type { KubeObject, ObjectMeta } from '../../src/api/object.ts';
import { create, patch, recordEvent, remove, seen } from '../../src/runtime/actions.ts';
import {
  type Action,
  type Controller,
  type Decision,
  type FullRef,
  idle,
  type Projected,
  type Source,
} from '../../src/runtime/controller.ts';

export const configMaps: Resource = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};
export const secrets: Resource = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };
const FINALIZER = 'test.example/copies';
const COPIED = 'test.example/copied';

const lean = ({
  name,
  namespace,
  uid,
  resourceVersion,
  labels,
  annotations,
  finalizers,
  deletionTimestamp,
}: ObjectMeta): ObjectMeta => ({
  ...(name === undefined ? {} : { name }),
  ...(namespace === undefined ? {} : { namespace }),
  ...(uid === undefined ? {} : { uid }),
  ...(resourceVersion === undefined ? {} : { resourceVersion }),
  ...(labels === undefined ? {} : { labels }),
  ...(annotations === undefined ? {} : { annotations }),
  ...(finalizers === undefined ? {} : { finalizers }),
  ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
});

export interface Copy extends Projected {
  readonly owner: string;
  readonly text: string;
}

export interface CopySources {
  readonly originals: Source<Projected>;
  readonly copies: Source<Copy>;
}

export const copySources = (namespace = 'default'): CopySources => ({
  originals: {
    on: 'hub',
    resource: configMaps,
    namespace,
    labels: 'app=copy',
    view: 'metadata',
    project: ({ metadata }) => ({ metadata: lean(metadata) }),
  },
  copies: {
    on: 'hub',
    resource: secrets,
    namespace,
    project: (object) => ({
      metadata: lean(object.metadata),
      owner: object.metadata.labels?.['owner'] ?? '',
      text: (object['data'] as Readonly<Record<string, string>> | undefined)?.['text'] ?? '',
    }),
    indexes: { owner: ({ owner }) => (owner === '' ? [] : [owner]) },
  },
});

export interface Observed {
  readonly sources: CopySources;
  readonly key: string;
  readonly original?: Projected;
  readonly whole?: KubeObject;
  readonly copies: readonly Copy[];
}

export function copying(sources: CopySources): Controller<Observed> {
  return {
    name: 'copying',
    eventSource: 'copying',
    watches: [
      { source: sources.originals, toKeys: ({ metadata }) => [metadata.name ?? ''] },
      { source: sources.copies, toKeys: ({ owner }) => (owner === '' ? [] : [owner]) },
    ],
    observe(view, key) {
      const original = view.get(sources.originals, key);
      const copies = view.by(sources.copies, 'owner', key);
      if (original === undefined) return copies.length === 0 ? undefined : { sources, key, copies };
      if (original.metadata.deletionTimestamp !== undefined) return { sources, key, original, copies };
      const ref: FullRef = {
        on: 'hub',
        resource: configMaps,
        group: '',
        kind: 'ConfigMap',
        namespace: 'default',
        name: key,
      };
      const whole = view.getFull(ref);
      if (whole === undefined) return { need: [ref] };
      return { sources, key, original, copies, ...(whole === null ? {} : { whole }) };
    },
    decide,
  };
}

export function decide({ sources, key, original, whole, copies }: Observed): Decision {
  if (original === undefined)
    return {
      ...idle('the original is gone'),
      steps: [copies.map((copy) => remove(seen(sources.copies, copy), 'orphan'))],
    };
  const finalizers = original.metadata.finalizers ?? [];
  const of = seen(sources.originals, original);
  if (original.metadata.deletionTimestamp !== undefined) {
    if (copies.length > 0)
      return {
        ...idle('ends'),
        steps: [copies.map((copy) => remove(seen(sources.copies, copy), 'the original ends'))],
      };
    if (!finalizers.includes(FINALIZER)) return idle('others hold it');
    const rest = finalizers.filter((each) => each !== FINALIZER);
    return { ...idle('no copy left'), steps: [[patch(of, { metadata: { finalizers: rest } }, 'lets go')]] };
  }
  if (!finalizers.includes(FINALIZER)) {
    return { ...idle('new'), steps: [[patch(of, { metadata: { finalizers: [...finalizers, FINALIZER] } }, 'holds')]] };
  }
  if (whole === undefined) return idle('it has just gone; the watch will tell');
  const data = (whole['data'] ?? {}) as Readonly<Record<string, string>>;
  const text = Buffer.from(data['text'] ?? '').toString('base64');
  const wanted = Array.from({ length: Number(data['copies'] ?? '1') }, (_, index) => `${key}-${index}`);
  const there = new Map(copies.map((copy) => [copy.metadata.name, copy]));
  const writes: Action[] = wanted.flatMap((name) => {
    const copy = there.get(name);
    if (copy === undefined) {
      const metadata = { name, namespace: 'default', labels: { owner: key } };
      return [create('hub', secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data: { text } }, 'missing')];
    }
    return copy.text === text ? [] : [patch(seen(sources.copies, copy), { data: { text } }, 'another text')];
  });
  const surplus = copies.filter(({ metadata }) => !wanted.includes(metadata.name ?? ''));
  const copied = `${wanted.length} of ${data['text'] ?? ''}`;
  const report: Action[] =
    original.metadata.annotations?.[COPIED] === copied
      ? []
      : [
          patch(of, { metadata: { annotations: { [COPIED]: copied } } }, 'reports'),
          recordEvent(sources.originals, original, {
            type: 'Normal',
            reason: 'Copied',
            message: `there are ${copied}`,
          }),
        ];
  const steps = [writes, surplus.map((copy) => remove(seen(sources.copies, copy), 'too many')), report].filter(
    (step) => step.length > 0,
  );
  return { ...idle(steps.length === 0 ? 'as wanted' : 'not yet as wanted'), steps };
}
