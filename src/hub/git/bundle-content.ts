// The objects of one bundle with one set of options: plain YAML with overlays, kustomize or a Helm chart (spec 09 §4).
// Guarantee: no file outside the directory of the bundle is read.
import type { GitProblem } from '../../api/git-repo.ts';
import type { KubeObject, Labels } from '../../api/object.ts';
import { messageOf } from '../../base/errors.ts';
import { sha256 } from '../../base/hash.ts';
import { canonicalJson, isObject, type Json, type JsonObject } from '../../base/json.ts';
import { JsonPatchError, patched, type RawOperation } from '../../base/json-patch.ts';
import { locateYamlDocuments, YamlError } from '../../base/yaml.ts';
import type { RenderOptions } from './fleet-options.ts';
import { objectsOf, type ParsedFiles, type Placed, unreadable, yamlProblem } from './manifests.ts';
import { type BundleFiles, nameOf, relativeTo } from './paths.ts';
import { checkKustomizations, checkSchemas, KUSTOMIZATION } from './references.ts';
import { RenderError, type Renderer, type RenderFile } from './renderer.ts';
import type { GitFile } from './repository.ts';
import { filledValues, TemplateError } from './template.ts';

export interface ContentInput {
  readonly name: string;
  readonly files: BundleFiles;
  readonly options: RenderOptions;
  /** The labels of the clusters that it is for, with values if the content depends on them. */
  readonly labels: Labels;
  readonly parsed: ParsedFiles;
  readonly outputs: Outputs;
  readonly renderer?: Renderer | undefined;
  breathe(): Promise<void>;
}

/** The output of programs, by a hash of their input: a commit that does not change the input runs no program. */
export interface Outputs {
  get(key: string): string | undefined;
  set(key: string, output: string): void;
}

export interface ContentOf {
  readonly objects: readonly Placed[];
  readonly problems: readonly GitProblem[];
  readonly warnings: readonly GitProblem[];
}

export const CHART = /^Chart\.yaml$/;
const OVERLAYS = 'overlays/';

export async function contentIn(input: ContentInput): Promise<ContentOf> {
  const problems: GitProblem[] = [];
  const warnings: GitProblem[] = [];
  try {
    const objects = await objectsIn(input, problems, warnings);
    return { objects, problems, warnings };
  } catch (error) {
    if (error instanceof RenderError)
      problems.push({ ...whereOf(input), reason: error.reason, message: error.message });
    else if (error instanceof TemplateError)
      problems.push({ ...whereOf(input), reason: 'TemplateInvalid', message: error.message });
    else throw error;
    return { objects: [], problems, warnings };
  }
}

const whereOf = ({ files: { directory, options } }: ContentInput) => ({
  file: options?.path ?? (directory === '' ? '.' : directory),
});

const joinPath = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join('/');

async function objectsIn(input: ContentInput, problems: GitProblem[], warnings: GitProblem[]) {
  const { files, options } = input;
  const has = (directory: string, name: RegExp) =>
    files.files.some(({ path }) => {
      const own = relativeTo(files.directory, path);
      return name.test(nameOf(own)) && own === joinPath(directory, nameOf(own));
    });
  const chart = options.helm?.chart ?? (has('', CHART) ? '' : undefined);
  const kustomize = options.kustomize?.dir ?? (has('', KUSTOMIZATION) ? '' : undefined);
  if (chart !== undefined && kustomize !== undefined)
    throw new RenderError('RenderFailed', 'a Helm chart and kustomize in one bundle are not supported');
  if (chart !== undefined) {
    if (!has(chart, CHART)) throw new RenderError('RenderFailed', `helm.chart: "${chart}" has no Chart.yaml`);
    return helmObjects(input, chart, warnings);
  }
  if (kustomize !== undefined) {
    if (!has(kustomize, KUSTOMIZATION))
      throw new RenderError('RenderFailed', `kustomize.dir: "${kustomize}" has no kustomization.yaml`);
    return parsedOutput(input, 'kustomize', await kustomized(input, kustomize));
  }
  return plainObjects(input, problems);
}

// ---- programs

function filesFor({ files }: ContentInput): readonly RenderFile[] {
  return files.files
    .map((file) => {
      if (file.kind === 'link') throw new RenderError('RenderFailed', `${file.path}: symbolic links are not followed`);
      return { path: relativeTo(files.directory, file.path), text: file.text };
    })
    .filter((file): file is RenderFile => file.text !== undefined);
}

async function remembered({ files, outputs }: ContentInput, what: Json, run: () => Promise<string>): Promise<string> {
  const key = sha256(canonicalJson([what, files.files.map(({ path, id }) => [path, id])]));
  const known = outputs.get(key);
  if (known !== undefined) return known;
  const output = await run();
  outputs.set(key, output);
  return output;
}

const rendererOf = ({ renderer }: ContentInput, program: string): Renderer => {
  if (renderer === undefined) throw new RenderError('ProgramMissing', `the hub runs no ${program}`);
  return renderer;
};

const kustomized = (input: ContentInput, directory: string): Promise<string> => {
  checkKustomizations(input.files);
  return remembered(input, ['kustomize', directory], () =>
    rendererOf(input, 'kubectl kustomize').kustomize(filesFor(input), directory),
  );
};

const HOOK = 'helm.sh/hook';

async function helmObjects(input: ContentInput, chart: string, warnings: GitProblem[]): Promise<readonly Placed[]> {
  checkSchemas(input.files);
  const { helm = {}, namespace, defaultNamespace } = input.options;
  const given = helm.values ?? {};
  const run = {
    chart,
    releaseName: helm.releaseName ?? input.name,
    namespace: namespace ?? defaultNamespace ?? 'default',
    values: helm.disablePreProcess === true ? given : filledValues(given, input.labels),
    valuesFiles: helm.valuesFiles ?? [],
  };
  const known = new Set(input.files.files.map(({ path }) => relativeTo(input.files.directory, path)));
  const missing = run.valuesFiles.find((path) => !known.has(path));
  if (missing !== undefined)
    throw new RenderError('RenderFailed', `helm.valuesFiles: "${missing}" is not in the bundle`);
  const output = await remembered(input, ['helm', run as unknown as Json], () =>
    rendererOf(input, 'helm').helm(filesFor(input), run),
  );
  const objects = parsedOutput(input, 'helm', output);
  const isHook = ({ object }: Placed) => object.metadata.annotations?.[HOOK] !== undefined;
  const hooks = objects.filter(isHook);
  if (hooks.length > 0)
    warnings.push({
      ...whereOf(input),
      reason: 'HooksIgnored',
      message: `${hooks.length} objects are Helm hooks, which are not placed (the first is ${hooks[0]?.object.kind} "${hooks[0]?.object.metadata.name}")`,
    });
  return objects.filter((each) => !isHook(each));
}

/** The output of a program has no file of its own. */
function parsedOutput(input: ContentInput, program: string, output: string): readonly Placed[] {
  const { file } = whereOf(input);
  const id = sha256(`${program}\n${output}`);
  const text = output.trim() === '' ? '' : output;
  const parsed = objectsOf({ path: file, id, kind: 'file', size: text.length, text }, input.parsed, 'program');
  if (parsed.problem !== undefined) throw new RenderError('RenderFailed', `${program}: ${parsed.problem.message}`);
  return parsed.objects.map(({ object }) => ({ object, file }));
}

// ---- plain YAML

async function plainObjects(input: ContentInput, problems: GitProblem[]): Promise<readonly Placed[]> {
  const { files, options, parsed } = input;
  problems.push(...notPlain(files));
  const { manifests, patches } = withOverlays(input, options.yaml?.overlays ?? [], problems);
  const objects: Placed[] = [];
  for (const manifest of manifests) {
    const read = objectsOf(manifest, parsed);
    if (read.problem === undefined) objects.push(...overlaid(input, read.objects, patches.get(manifest.path) ?? []));
    else problems.push(read.problem);
    await input.breathe();
  }
  return objects;
}

/** As plain manifests, these files would place something other than intended. */
function notPlain({ files }: BundleFiles): readonly GitProblem[] {
  const programs: readonly (readonly [RegExp, string])[] = [
    [KUSTOMIZATION, 'name its directory in kustomize.dir of a fleet.yaml'],
    [CHART, 'name its directory in helm.chart of a fleet.yaml'],
  ];
  return files.flatMap(({ path }) => {
    const program = programs.find(([pattern]) => pattern.test(nameOf(path)));
    return program === undefined ? [] : [{ file: path, reason: 'NotPlain', message: program[1] }];
  });
}

const PATCH = /^(.*)_patch(\.(?:ya?ml|json))$/;

/** A file of an overlay replaces the one of the same path; `x_patch.yaml` patches `x.yaml`. */
function withOverlays({ files }: ContentInput, overlays: readonly string[], problems: GitProblem[]) {
  const own = (path: string) => relativeTo(files.directory, path);
  const manifests = new Map(
    files.manifests.filter(({ path }) => !own(path).startsWith(OVERLAYS)).map((file) => [own(file.path), file]),
  );
  const patches = new Map<string, GitFile[]>();
  for (const overlay of overlays) {
    const prefix = `${OVERLAYS}${overlay}/`;
    const within = files.manifests.filter(({ path }) => own(path).startsWith(prefix));
    if (within.length === 0)
      problems.push({ reason: 'OverlayNotFound', message: `yaml.overlays: "${prefix}" has no manifests` });
    for (const file of within) {
      const path = own(file.path).slice(prefix.length);
      const [, base, extension = ''] = PATCH.exec(path) ?? [];
      if (base === undefined) {
        manifests.set(path, file);
        continue;
      }
      const target = [`${base}${extension}`, `${base}.yaml`, `${base}.yml`, `${base}.json`].find((each) =>
        manifests.has(each),
      );
      const patched = target === undefined ? undefined : manifests.get(target);
      if (patched === undefined)
        problems.push({ file: file.path, reason: 'OverlayInvalid', message: 'there is no file that it could patch' });
      else patches.set(patched.path, [...(patches.get(patched.path) ?? []), file]);
    }
  }
  return { manifests: [...manifests.values()], patches };
}

function overlaid(input: ContentInput, objects: readonly Placed[], patches: readonly GitFile[]): readonly Placed[] {
  let all = objects;
  for (const patch of patches) {
    const fail = (message: string, line?: number): never => {
      const at = line === undefined ? patch.path : `${patch.path}:${line}`;
      throw new RenderError('RenderFailed', `${at}: ${message}`);
    };
    if (patch.text === undefined) fail(unreadable(patch).message);
    for (const { value, line } of documentsIn(patch)) {
      const [only] = all;
      const target = all.length === 1 ? only : all.find(({ object }) => isObject(value) && isFor(value, object));
      if (target === undefined) return fail('it names no object of the file that it patches', line);
      all = all.map((each) =>
        each === target
          ? { ...each, object: patchedBy(input, each.object, value as Json, (why) => fail(why, line)) }
          : each,
      );
    }
  }
  return all;
}

function documentsIn({ path, text = '' }: GitFile) {
  try {
    return locateYamlDocuments(text);
  } catch (error) {
    if (error instanceof YamlError) throw new RenderError('RenderFailed', yamlProblem(path, error));
    throw error;
  }
}

const isFor = (patch: Readonly<Record<string, unknown>>, { kind, metadata }: KubeObject): boolean =>
  patch['kind'] === kind && isObject(patch['metadata']) && patch['metadata']['name'] === metadata.name;

function patchedBy(input: ContentInput, object: KubeObject, patch: Json, fail: (why: string) => never): KubeObject {
  try {
    const outcome = Array.isArray(patch)
      ? patched(object as unknown as Json, patch as unknown as readonly RawOperation[])
      : isObject(patch)
        ? (rendererOf(input, 'patches').patched(object, patch as JsonObject) as unknown as Json)
        : fail('a map or a list of JSON patch operations is expected');
    const { kind, apiVersion, metadata } = outcome as unknown as KubeObject;
    if (kind !== object.kind || apiVersion !== object.apiVersion || metadata?.name !== object.metadata.name)
      return fail('a patch must not change apiVersion, kind or name');
    return outcome as unknown as KubeObject;
  } catch (error) {
    if (error instanceof JsonPatchError) return fail(messageOf(error));
    throw error;
  }
}
