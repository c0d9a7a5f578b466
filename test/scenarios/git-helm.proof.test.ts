// Charts of a repository, rendered by a real helm: values, targets, limits, and failures.
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import { findHelm } from '../../scripts/helm.ts';
import { configYaml, type GitFleet, gitScenario } from '../git-fleet.ts';

const MEMBERS = { c1: { env: 'dev' }, c2: { env: 'prod' }, c3: { env: 'prod', size: 'xl' } };

/** A folder with only helm, used as PATH. In CI a missing helm is a failure. */
const helm = findHelm({ mayBuild: true });
const programs = mkdtempSync(join(tmpdir(), 'git-helm-'));
if (helm !== undefined) symlinkSync(helm, join(programs, 'helm'));
afterAll(() => rmSync(programs, { recursive: true, force: true }));
const options = {
  members: MEMBERS,
  renders: { path: `${programs}:/bin` },
  skip: helm === undefined && process.env['CI'] === undefined,
};

const CHART = 'apiVersion: v2\nname: shop\nversion: 0.1.0\n';
const TEMPLATE = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
  namespace: {{ .Release.Namespace }}
data:
  value: {{ required "a value is needed" .Values.value | quote }}
  more: {{ .Values.more.deep | default "none" | quote }}
  list: {{ join "," .Values.list | quote }}
`;
const SHOP = {
  'chart/Chart.yaml': CHART,
  'chart/values.yaml': 'value: default\nmore: { deep: default, other: default }\nlist: [a, b]\n',
  'chart/templates/a.yaml': TEMPLATE,
};
const fleet = (text: string) => ({ 'fleet.yaml': `helm:\n  chart: chart\n  releaseName: a\n${text}` });

const dataOf = (it: GitFleet, name = 'a', namespace = 'default') =>
  Promise.all(
    Object.keys(MEMBERS).map(
      async (cluster) =>
        ((await it.on(cluster, 'configmaps', name, namespace)) as { data?: Record<string, string> } | undefined)?.data,
    ),
  );
const valuesOf = async (it: GitFleet) => (await dataOf(it)).map((data) => data?.['value']);

describe('a chart', () => {
  gitScenario('with its own values, then with those of fleet.yaml and of files', options, async (it) => {
    it.git.commit({ ...SHOP, ...fleet('') });
    await it.follow();
    expect((await it.status()).problems ?? []).toEqual([]);
    expect(await dataOf(it)).toEqual(Array(3).fill({ value: 'default', more: 'default', list: 'a,b' }));

    it.git.commit({
      ...fleet('  valuesFiles: [one.yaml, two.yaml]\n  values: { list: [z] }\n'),
      'one.yaml': 'value: one\nmore: { deep: one }\nlist: [y]\n',
      'two.yaml': 'value: two\n',
    });
    await it.runs(8);
    // A later file takes precedence, and fleet.yaml over files. Maps are merged, lists replaced.
    expect(await dataOf(it)).toEqual(Array(3).fill({ value: 'two', more: 'one', list: 'z' }));
    expect((await it.status()).display).toMatchObject({ readyBundleDeployments: '3/3', state: 'Ready' });
    expect(await it.revisions('shop')).toBe(2);
    // A commit that does not change the output creates no revision.
    it.git.commit({ 'chart/README.md': 'about this chart', 'chart/icon.png': 'x\0y' });
    await it.runs();
    expect(await it.revisions('shop')).toBe(2);
  });

  gitScenario('with values of the cluster, per target, in the namespace of fleet.yaml', options, async (it) => {
    const perTarget = `targetCustomizations:
- clusterName: c3
  helm: { values: { more: { deep: custom } } }
`;
    it.git.commit({
      ...SHOP,
      'fleet.yaml': `namespace: web
helm:
  chart: chart
  releaseName: a
  values:
    value: "\${ .ClusterName } \${ .ClusterLabels.env }"
    more: { deep: global.fleet.clusterLabels.env }
${perTarget}`,
    });
    await it.follow();
    await it.runs(6);
    expect((await it.status()).problems ?? []).toEqual([]);
    expect(await dataOf(it, 'a', 'web')).toEqual([
      { value: 'c1 dev', more: 'dev', list: 'a,b' },
      { value: 'c2 prod', more: 'prod', list: 'a,b' },
      { value: 'c3 prod', more: 'custom', list: 'a,b' },
    ]);
    expect(await it.revisions('shop')).toBe(1);
  });

  gitScenario('G17: that fails for one target goes on for the others', options, async (it) => {
    it.git.commit({ ...SHOP, ...fleet('') });
    await it.follow();
    const broken = "targetCustomizations:\n- clusterName: c2\n  helm: { values: { value: '' } }\n";
    it.git.commit({ ...fleet(`  values: { value: new }\n${broken}`) });
    await it.runs(8);
    expect(await valuesOf(it)).toEqual(['new', 'default', 'new']);
    const { warnings = [], display } = await it.status();
    expect(warnings).toMatchObject([{ bundle: 'shop', reason: 'RenderFailed' }]);
    // The chart author's message and its file, without the path of the copy.
    expect(warnings[0]?.message).toContain('a value is needed');
    expect(warnings[0]?.message).toContain('templates/a.yaml');
    expect(warnings[0]?.message).not.toContain(it.directory);
    expect(display?.state).toBe('ErrApplied');
    it.git.commit({ ...fleet('  values: { value: good }\n') });
    await it.runs(8);
    expect(await valuesOf(it)).toEqual(['good', 'good', 'good']);
    // A label that a cluster lacks is an error of that cluster only.
    it.git.commit({ ...fleet(`  values: { value: "\${ .ClusterLabels.size }" }\n`) });
    await it.runs(8);
    expect(await valuesOf(it)).toEqual(['good', 'good', 'xl']);
    const [warning] = (await it.status()).warnings ?? [];
    expect(warning).toMatchObject({ bundle: 'shop', reason: 'RenderFailed' });
    expect(warning?.message).toContain('the cluster has no label "size"');
  });

  gitScenario('with definitions, sub-charts, hooks and notes', options, async (it) => {
    const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: things.example.com }
spec:
  group: example.com
  names: { kind: Thing, plural: things }
  scope: Namespaced
  versions:
  - { name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }
`;
    it.git.commit({
      ...SHOP,
      ...fleet(''),
      'chart/Chart.yaml': `${CHART}dependencies:\n- { name: sub, version: 0.1.0 }\n`,
      'chart/crds/thing.yaml': crd,
      'chart/templates/_helpers.tpl': '{{- define "shop.label" -}}of-{{ .Release.Name }}{{- end -}}',
      'chart/templates/NOTES.txt': 'thank you',
      'chart/templates/job.yaml':
        'apiVersion: batch/v1\nkind: Job\nmetadata: { name: before, annotations: { helm.sh/hook: pre-install } }\n',
      'chart/charts/sub/Chart.yaml': 'apiVersion: v2\nname: sub\nversion: 0.1.0\n',
      'chart/charts/sub/templates/b.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: b }\ndata: { value: {{ include "shop.label" . }} }\n',
    });
    await it.follow();
    await it.runs(6);
    expect((await it.status()).problems ?? []).toEqual([]);
    expect((await dataOf(it, 'b')).map((data) => data?.['value'])).toEqual(['of-a', 'of-a', 'of-a']);
    expect(await it.on('c1', 'customresourcedefinitions', 'things.example.com')).toBeDefined();
    expect(await it.on('c1', 'jobs', 'before', 'default')).toBeUndefined();
    expect((await it.status()).warnings).toMatchObject([{ reason: 'HooksIgnored' }]);
  });
});

describe('a chart that cannot be rendered', () => {
  const bad: readonly (readonly [string, Readonly<Record<string, string>>, RegExp])[] = [
    ['a syntax error', { 'chart/templates/a.yaml': 'a: {{ .Values.x\n' }, /shop\/templates\/a\.yaml:1/],
    ['output that is no YAML', { 'chart/templates/a.yaml': 'a: b: c\n' }, /templates\/a\.yaml/],
    ['output that is no object', { 'chart/templates/a.yaml': 'a: b\n' }, /apiVersion, kind and metadata\.name/],
    [
      'a dependency that is not there',
      {
        'chart/Chart.yaml': `${CHART}dependencies:\n- { name: redis, version: 1.0.0, repository: "http://127.0.0.1:9" }\n`,
      },
      /redis/,
    ],
    ['a file of values that is not there', fleet('  valuesFiles: [nope.yaml]\n'), /"nope\.yaml" is not in the bundle/],
    ['a chart that is not there', { 'fleet.yaml': 'helm: { chart: other }\n' }, /"other" has no Chart\.yaml/],
    ['a Chart.yaml without a version', { 'chart/Chart.yaml': 'apiVersion: v2\nname: shop\n' }, /version/],
    [
      'values that break the schema',
      { 'chart/values.schema.json': '{"properties": {"value": {"type": "number"}}}' },
      /value/,
    ],
    [
      'a schema from the network',
      { 'chart/values.schema.json': '{"$ref": "http://127.0.0.1:9/x.json"}' },
      /leads out of the file/,
    ],
    [
      'a schema of the machine',
      { 'chart/values.schema.json': '{"$ref": "file:///etc/passwd"}' },
      /leads out of the file/,
    ],
  ];
  gitScenario('keeps what is there, and says why', options, async (it) => {
    it.git.commit({ ...SHOP, ...fleet('') });
    await it.follow();
    for (const [what, files, message] of bad) {
      it.git.commit({ ...files, 'chart/values.yaml': 'value: new\nmore: {}\nlist: []\n' });
      await it.runs(3);
      const [problem] = (await it.status()).problems ?? [];
      expect(problem, what).toMatchObject({ bundle: 'shop', reason: 'RenderFailed' });
      expect(problem?.message, what).toMatch(message);
      expect(problem?.message, what).not.toMatch(/root:|\/git-fleet-/);
      expect(await valuesOf(it), what).toEqual(['default', 'default', 'default']);
      it.git.git('revert', '--no-edit', 'HEAD');
      it.git.commit({});
      await it.runs(3);
      expect(await it.said('Accepted'), what).toBe('True/Accepted');
    }
    // Every copy is removed.
    expect(readdirSync(it.directory).filter((name) => name.startsWith('render-'))).toEqual([]);
  });

  gitScenario(
    'by time and memory: it is ended, and others are rendered',
    { ...options, renders: { ...options.renders, limits: { timeoutMs: 6000, memoryKiB: 2_000_000 } } },
    async (it) => {
      it.git.commit({
        ...SHOP,
        ...fleet(''),
        'plain/fleet.yaml': '',
        'plain/p.yaml': configYaml('p', 'x'),
      });
      await it.follow();
      const range = (count: number) => `{{ range until ${count} }}`;
      for (const [template, reason, message] of [
        [`${range(100_000)}${range(100_000)}{{ end }}{{ end }}`, 'TimedOut', /did not finish within 6 s/],
        ['{{ $x := until 2000000000 }}', 'RenderFailed', /memory/],
        [`${range(2_000_000)}# more\n{{ end }}`, 'RenderFailed', /printed more than 8388608 bytes/],
      ] as const) {
        it.git.commit({ 'chart/templates/a.yaml': template, 'plain/p.yaml': configYaml('p', 'y') });
        await it.runs(3);
        const { problems = [] } = await it.status();
        expect(problems, template).toMatchObject([{ bundle: 'shop', reason }]);
        expect(problems[0]?.message).toMatch(message);
        // One line, without the stack traces of a crash.
        expect(problems[0]?.message).not.toContain('goroutine');
        expect(await valuesOf(it)).toEqual(['default', 'default', 'default']);
      }
      expect((await dataOf(it, 'p')).map((data) => data?.['value'])).toEqual(['y', 'y', 'y']);
    },
  );

  gitScenario('without helm names the program', { ...options, renders: { path: '/nowhere' } }, async (it) => {
    it.git.commit({ ...SHOP, ...fleet('') });
    await it.follow();
    expect(await it.said('Accepted')).toBe('False/ProgramMissing');
    expect((await it.status()).problems?.[0]?.message).toContain('helm');
  });

  gitScenario('cannot see the machine: no environment, files, names or cluster', options, async (it) => {
    process.env['FLOTILLA_TEST_TAINT'] = 'taint-of-the-hub';
    try {
      it.git.commit({
        ...SHOP,
        ...fleet('  values: { value: x }\n'),
        'chart/templates/a.yaml': `apiVersion: v1
kind: ConfigMap
metadata: { name: a }
data:
  value: "seen"
  files: {{ .Files.Get "/etc/passwd" | quote }}
  up: {{ .Files.Get "../../../../../../etc/passwd" | quote }}
  name: {{ getHostByName "localhost" | quote }}
  secrets: {{ lookup "v1" "Secret" "default" "" | toJson | quote }}
`,
      });
      await it.follow();
      expect((await it.status()).problems ?? []).toEqual([]);
      expect((await dataOf(it))[0]).toEqual({ value: 'seen', files: '', up: '', name: '', secrets: '{}' });
      // Neither function exists in Helm.
      for (const call of ['env "FLOTILLA_TEST_TAINT"', 'expandenv "$FLOTILLA_TEST_TAINT"']) {
        it.git.commit({ 'chart/templates/a.yaml': `a: {{ ${call} }}\n` });
        await it.runs(3);
        const [problem] = (await it.status()).problems ?? [];
        expect(problem).toMatchObject({ reason: 'RenderFailed' });
        expect(JSON.stringify(await it.repo())).not.toContain('taint-of-the-hub');
      }
    } finally {
      delete process.env['FLOTILLA_TEST_TAINT'];
    }
  });
});
