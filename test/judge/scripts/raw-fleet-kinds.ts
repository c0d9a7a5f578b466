// Every kind of ours in every served version through its life: what is filled in, dropped, kept apart as status, shown.
import type { Question } from '../script.ts';
import { get, inNamespace, JSON_PATCH, MERGE, patch, post, put, remove, TABLE } from './requests.ts';
import { contentOf, type Sample, samples } from './samples.ts';

const DRY = '?dryRun=All';
const OWN_WARNING = { line: /OriginalResource needs a policy /, known: 'own-warnings' };
const PROSE = { line: /^ +"description": /, known: 'descriptions' };

const collectionOf = ({ kind }: Sample, version: string): string =>
  `/apis/${kind.group}/${version}${kind.namespaced ? '/namespaces/n-{{id}}' : ''}/${kind.plural}`;

const objectOf = (sample: Sample, version: string, content: object): object => ({
  apiVersion: `${sample.kind.group}/${version}`,
  kind: sample.kind.kind,
  metadata: { name: 's-{{id}}' },
  ...content,
});

const steps = samples.flatMap((sample): readonly Question[] => {
  const versions = sample.kind.versions.map(({ version }) => version);
  const preferred = versions[0] as string;
  const at = collectionOf(sample, preferred);
  const one = `${at}/s-{{id}}`;
  const content = contentOf(sample, { name: 's-{{id}}', namespace: 'n-{{id}}' });
  const spec = (content['spec'] ?? {}) as object;
  const unknown = { ...content, odd: 1, spec: { ...spec, odd: { deeper: true } } };
  const every: readonly Question[] = [
    ...versions.map((version) => post(`${collectionOf(sample, version)}${DRY}`, objectOf(sample, version, content))),
    ...['Strict', 'Warn', 'Ignore'].map((word) =>
      post(`${at}${DRY}&fieldValidation=${word}`, objectOf(sample, preferred, unknown)),
    ),
    post(at, objectOf(sample, preferred, content)),
    ...versions.map((version) => get(`${collectionOf(sample, version)}/s-{{id}}`)),
    put(one, objectOf(sample, preferred, content)),
    ...(sample.change ? [patch(MERGE, one, sample.change)] : []),
    patch(JSON_PATCH, one, [{ op: 'add', path: '/metadata/labels', value: { a: 'b' } }]),
    patch(MERGE, `${one}/status`, { status: sample.status ?? {} }),
    patch(MERGE, `${one}/status`, { spec: { odd: 1 }, metadata: { labels: { c: 'd' } } }),
    get(one, { headers: TABLE }),
    remove(one),
  ];
  return every.map((step) => ({ ...step, without: [OWN_WARNING, PROSE] }));
});

export const rawFleetKinds = inNamespace('raw-fleet-kinds', steps);
