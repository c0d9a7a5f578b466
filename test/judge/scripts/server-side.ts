// Server-side apply as kubectl sends it: every seed manifest and every kind, with who owns what afterwards; conflicts, force, fields that are given
// up, dry runs, and the way from client-side apply and back.
import { readFileSync } from 'node:fs';
import { parseYamlDocuments } from '../../../src/base/yaml.ts';
import { manifests } from '../../seeds/index.ts';
import { type Command, type StepLike, script } from '../script.ts';
import { builtinObjects } from './builtin-kinds.ts';
import { contentOf, samples } from './samples.ts';

const NAMESPACE = 'server-side';
const n = `-n ${NAMESPACE}`;
const OWN = '-o yaml --show-managed-fields';
/** Entries of one second stand in the order of their managers, all others in that of their times. */
const owners = (what: string): Command => ({
  run: `get ${what} ${n} ${OWN}`,
  unordered: 'who wrote in the same second is chance',
});

// ---- the seeds, under names of their own: another script has applied them as they are

interface Named {
  readonly metadata: Readonly<Record<string, unknown>>;
}

const renamed = (object: Named): Named => {
  const { name, namespace } = object.metadata;
  const place = namespace === undefined ? {} : { namespace: `ss-${namespace}` };
  return { ...object, metadata: { ...object.metadata, name: `ss-${name}`, ...place } };
};
const ofSeed = (file: string): string =>
  parseYamlDocuments(readFileSync(new URL(`../../seeds/${file}`, import.meta.url), 'utf8'))
    .map((each) => JSON.stringify(renamed(each as Named)))
    .join('\n---\n');
const namespaces = [...new Set(manifests.flatMap((manifest) => manifest.namespaces ?? []))];

const seeds: readonly Command[] = manifests.flatMap(({ file }) => {
  const input = ofSeed(file);
  return [
    { run: 'apply --server-side -f -', input },
    { run: 'apply --server-side -f -', input },
    { run: `get -f - ${OWN}`, input },
  ];
});

// ---- every kind

const builtin = builtinObjects(NAMESPACE, 'ss-')
  // `flow-control`: a real server writes a status by itself.
  .filter(({ kind }) => kind !== 'FlowSchema')
  .map((object) => JSON.stringify(object))
  .join('\n---\n');

const ofFleet = (labels: Readonly<Record<string, string>>): string =>
  samples
    .map((sample) => {
      const { kind } = sample;
      const content = contentOf(sample, { name: 'ss', namespace: NAMESPACE });
      const metadata = { name: 'ss', ...(kind.namespaced ? { namespace: NAMESPACE } : {}), labels };
      return JSON.stringify({
        apiVersion: `${kind.group}/${kind.versions[0]?.version}`,
        kind: kind.kind,
        metadata,
        ...content,
      });
    })
    .join('\n---\n');

const kinds: readonly Command[] = [builtin, ofFleet({ a: '1' })].flatMap((input) => [
  { run: 'apply --server-side -f -', input },
  { run: 'apply --server-side -f -', input },
  { run: 'apply --server-side --dry-run=server --field-manager=z-other -f -', input },
  { run: 'diff --server-side -f -', input },
  { run: `get -f - ${OWN}`, input },
]);

// ---- several managers

const map = (data: string, name = 'conf') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${NAMESPACE}}\ndata: ${data}\n`;

const web = (spec: string, name = 'web') => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}, namespace: ${NAMESPACE}}
spec: ${spec}
`;
const whole = (image: string, more = '') =>
  `{${more}selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "${image}", ports: [{containerPort: 80}], env: [{name: A, value: "1"}]}]}}}`;
const sidecar =
  '{selector: {matchLabels: {app: web}}, template: {spec: {containers: [{name: side, image: "side:1"}]}}}';

const apply = (input: string, flags = ''): Command => ({
  run: `apply --server-side ${flags}${flags === '' ? '' : ' '}-f -`,
  input,
});

const several: readonly StepLike[] = [
  apply(map('{a: "1", b: "1"}'), '--field-manager=a'),
  apply(map('{b: "1", c: "1"}'), '--field-manager=b'),
  owners('cm conf'),
  apply(map('{a: "2", b: "2"}'), '--field-manager=c'),
  apply(map('{a: "2"}'), '--field-manager=c'),
  apply(map('{a: "2"}'), '--field-manager=c --force-conflicts --dry-run=server'),
  apply(map('{a: "2"}'), '--field-manager=c --force-conflicts'),
  owners('cm conf'),
  apply(map('{b: "1"}'), '--field-manager=b'),
  owners('cm conf'),
  apply(map('{}'), '--field-manager=b'),
  owners('cm conf'),
  `label cm conf by=label ${n}`,
  `patch cm conf ${n} --type=merge -p '{"data":{"a":"3","d":"4"}}'`,
  owners('cm conf'),
  apply(map('{a: "4"}'), '--field-manager=c'),
  owners('cm conf'),
  `get cm conf ${n} -o yaml`,

  apply(web(whole('web:1', 'replicas: 2, '))),
  apply(web(sidecar), '--field-manager=sidecar'),
  owners('deploy web'),
  `scale deploy web --replicas=3 ${n}`,
  `set image deploy/web web=web:2 ${n}`,
  owners('deploy web'),
  apply(web(whole('web:3', 'replicas: 2, '))),
  apply(web(whole('web:3'))),
  apply(web(whole('web:3')), '--force-conflicts'),
  owners('deploy web'),
  `patch deploy web --subresource=status --type=merge -p '{"status":{"replicas":3,"observedGeneration":1}}' ${n}`,
  owners('deploy web'),
  { run: 'delete -f -', input: web(sidecar) },
];

// ---- from client-side apply and back

const moving: readonly StepLike[] = [
  { run: 'apply -f -', input: map('{a: "1", b: "1"}', 'moving') },
  owners('cm moving'),
  apply(map('{a: "2"}', 'moving')),
  owners('cm moving'),
  `apply view-last-applied cm/moving ${n}`,
  apply(map('{a: "3"}', 'moving'), '--field-manager=other'),
  { run: 'apply -f -', input: map('{a: "4", c: "4"}', 'moving') },
  owners('cm moving'),
  `apply view-last-applied cm/moving ${n}`,
  apply(map('{c: "5"}', 'moving')),
  owners('cm moving'),
  { run: 'apply -f -', input: web(whole('web:1', 'replicas: 2, '), 'moving') },
  apply(web(whole('web:2'), 'moving')),
  owners('deploy moving'),
  `apply view-last-applied deploy/moving ${n}`,
  { run: `create -f - ${n}`, input: map('{a: "1"}', 'created') },
  apply(map('{a: "2"}', 'created')),
  apply(map('{a: "2"}', 'created'), '--force-conflicts'),
  owners('cm created'),
  { run: 'replace -f -', input: map('{a: "2", z: "1"}', 'created') },
  owners('cm created'),
  {
    run: `edit cm created ${n}`,
    files: { editor: `#!/bin/sh\nsed -i 's/  z: "1"/  z: "2"/' "$1"\n` },
    env: { KUBE_EDITOR: 'FILES/editor' },
  },
  owners('cm created'),
  `get cm created ${n} -o yaml`,
];

// ---- what is wrong

const faults: readonly StepLike[] = [
  apply(map('{a: 1}', 'wrong')),
  apply(map('[a]', 'wrong')),
  apply(map('{a: "1"}\nother: x', 'wrong')),
  apply(map('{a: "1"}\nother: x', 'wrong'), '--validate=warn'),
  apply(map('{a: "1"}\nother: x', 'wrong'), '--validate=ignore'),
  apply(map('{a: "1"}', 'Wrong_Name')),
  apply(map('{a: "1"}', 'wrong').replace(`namespace: ${NAMESPACE}`, 'namespace: absent')),
  apply(web(whole('web:1').replace('containerPort: 80', 'containerPort: 80}, {containerPort: 80'), 'wrong')),
  apply(web(whole('web:1').replace('name: web, image', 'image'), 'wrong')),
  apply(map('{a: "1"}', 'wrong'), '--dry-run=client'),
  apply(map('{a: "1"}', 'wrong'), "--field-manager=''"),
  apply(map('{a: "1"}', 'wrong'), '--force-conflicts --dry-run=server -o name'),
  { run: 'apply --force-conflicts -f -', input: map('{a: "1"}', 'wrong') },
  { run: 'apply --server-side --force -f -', input: map('{a: "1"}', 'wrong') },
  {
    run: `patch cm conf ${n} --type=merge -p '{"metadata":{"managedFields":[{"manager":"x"}]}}'`,
  },
  { run: `patch cm conf ${n} --type=merge -p '{"metadata":{"managedFields":[]}}'` },
  `get cm conf ${n} ${OWN}`,
  apply(map('{a: "9"}'), '--field-manager=d'),
  apply(map('{a: "9"}'), '--field-manager=d --force-conflicts'),
  `get cm conf ${n} ${OWN}`,
];

export const serverSide = script('server-side', [
  `create ns ${NAMESPACE}`,
  ...namespaces.map((name) => `create ns ss-${name}`),
  ...seeds,
  ...kinds,
  ...several,
  ...moving,
  ...faults,
]);
