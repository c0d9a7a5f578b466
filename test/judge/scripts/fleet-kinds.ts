// Every kind of ours through its whole life, in every served version. One command does a thing to all of them, where kubectl can.
import { type Step, type StepLike, script } from '../script.ts';
import { contentOf, type Sample, samples } from './samples.ts';

const NAMESPACE = 'fleet-kinds';
const n = `-n ${NAMESPACE}`;

type Pick = (sample: Sample) => string;
const preferred: Pick = ({ kind }) => kind.versions[0]?.version as string;
const oldest: Pick = ({ kind }) => kind.versions.at(-1)?.version as string;
const full: Pick = ({ kind }) => `${kind.plural}.${kind.group}`;
const each = (pick: Pick, name = 'sample') => samples.map((sample) => `${pick(sample)}/${name}`).join(' ');

/** One object of every kind, as one file. */
const all = (name: string, version: Pick, labels?: Readonly<Record<string, string>>): string =>
  samples
    .map((sample) => {
      const { kind } = sample;
      const content = contentOf(sample, { name, namespace: NAMESPACE });
      const metadata = { name, ...(kind.namespaced ? { namespace: NAMESPACE } : {}), ...(labels ? { labels } : {}) };
      return JSON.stringify({ apiVersion: `${kind.group}/${version(sample)}`, kind: kind.kind, metadata, ...content });
    })
    .join('\n---\n');

const byVersion: readonly string[] = ['v1', 'v1beta1', 'v1alpha1'].map((version) => {
  const serving = samples.filter(({ kind }) => kind.versions.some((served) => served.version === version));
  const named = serving.map(({ kind }) => `${kind.plural}.${version}.${kind.group}/sample`);
  return `get ${named.join(' ')} ${n} -o yaml`;
});

const patches: readonly Step[] = samples.flatMap((sample) => {
  const at = `${full(sample)}/sample ${n}`;
  const change = sample.change === undefined ? [] : [`patch ${at} --type=merge -p '${JSON.stringify(sample.change)}'`];
  const status = JSON.stringify({ status: sample.status ?? {} });
  return [...change, `patch ${at} --subresource=status --type=merge -p '${status}'`].map((run) => ({ run }));
});

const withShortName = samples.filter(({ kind }) => kind.shortNames.length > 0 && !kind.shortNames.includes('rs'));

/** A real server that merely has the CRDs knows nothing of what is not built yet. */
const withoutOurWarnings = (step: StepLike): Step => ({
  ...(typeof step === 'string' ? { run: step } : step),
  without: [{ line: /^Warning: \S+ OriginalResource needs a policy /, known: 'own-warnings' }],
});

const steps: readonly StepLike[] = [
  `create ns ${NAMESPACE}`,
  { run: 'create -f -', input: all('sample', oldest) },
  { run: 'create -f -', input: all('sample', preferred) },
  ...samples.map((sample) => `get ${full(sample)} ${n} --field-selector metadata.name=sample`),
  `get ${each(full)} ${n} -o wide`,
  ...byVersion,
  { run: 'apply -f -', input: all('applied', preferred, { a: '1' }) },
  { run: 'apply -f -', input: all('applied', preferred, { a: '1' }) },
  { run: 'diff -f -', input: all('applied', preferred, { a: '1' }) },
  { run: 'apply -f -', input: all('applied', oldest, { a: '2' }) },
  { run: 'apply -f - --dry-run=server', input: all('applied', preferred, { a: '3' }) },
  ...patches,
  {
    run: `patch -f - --type=json -p '[{"op":"add","path":"/metadata/annotations","value":{"json":"patch"}}]'`,
    input: all('sample', preferred),
  },
  { run: `patch -f - --type=merge -p '{"nothing":1}'`, input: all('sample', preferred) },
  { run: `patch -f - --type=strategic -p '{"metadata":{"labels":{"a":"1"}}}'`, input: all('sample', preferred) },
  `label ${each(full)} ${n} b=1`,
  `annotate ${each(full)} ${n} b=1`,
  `get ${each(full)} ${n} -o yaml`,
  `get ${each(full)} ${n} --show-labels --no-headers`,
  `describe ${withShortName.map(({ kind }) => `${kind.shortNames[0]}/sample`).join(' ')} ${n}`,
  `describe ${each(({ kind }) => `${kind.singular}.${kind.group}`)} ${n}`,
  {
    run: `edit ${each(full)} ${n}`,
    files: {
      editor: '#!/bin/sh\nsed -i "s/^    name: sample/    labels: {edited: \\"yes\\"}\\n    name: sample/" "$1"\n',
    },
    env: { KUBE_EDITOR: 'FILES/editor' },
  },
  { run: 'replace -f -', input: all('applied', preferred, { a: '3' }) },
  `wait ${each(full)} ${n} --for=jsonpath='{.metadata.name}'=sample --timeout=20s`,
  `delete ${each(full)} ${n}`,
  `delete ${samples.map(full).join(',')} -l a=3 ${n}`,
  `get ${samples.map(full).join(',')} ${n} -l b`,
  `get ${samples.map(full).join(',')} ${n} -l a`,
];

export const fleetKinds = script('fleet-kinds', steps.map(withoutOurWarnings));
