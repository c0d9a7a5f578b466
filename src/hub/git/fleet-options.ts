// Options of fleet.yaml per bundle and per target: namespaces, kustomize, overlays, a Helm chart; customizations. Pure.
import type { GitTarget } from '../../api/git-repo.ts';
import { isObject, type JsonObject, setField } from '../../base/json.ts';
import { criteriaIn, DNS_LABEL, type Fields, isTextList, type Place, type Say } from './fleet-fields.ts';
import { normalPath } from './paths.ts';
import { templateProblem } from './template.ts';

/** How the objects of a bundle are rendered from its files. */
export interface RenderOptions {
  readonly defaultNamespace?: string;
  readonly namespace?: string;
  readonly kustomize?: { readonly dir?: string };
  readonly yaml?: { readonly overlays?: readonly string[] };
  readonly helm?: HelmOptions;
}

export interface HelmOptions {
  /** A directory of the bundle. */
  readonly chart?: string;
  readonly releaseName?: string;
  readonly values?: JsonObject;
  readonly valuesFiles?: readonly string[];
  /** Do not replace `${ }` in values. */
  readonly disablePreProcess?: boolean;
}

export interface Customization extends RenderOptions {
  /** The clusters that it applies to. */
  readonly target: GitTarget;
  readonly doNotDeploy?: boolean;
}

export const RENDER_FIELDS: ReadonlySet<string> = new Set([
  'defaultNamespace',
  'namespace',
  'kustomize',
  'yaml',
  'helm',
]);

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Parses one field of RENDER_FIELDS. */
export function renderFieldIn(
  options: Writable<RenderOptions>,
  key: string,
  value: unknown,
  place: Place,
  refuse: Say,
  warn: Say,
): void {
  if (key === 'defaultNamespace' || key === 'namespace') {
    if (value === '') return;
    if (typeof value === 'string' && DNS_LABEL.test(value)) options[key] = value;
    else refuse(place, 'the name of a namespace is expected');
  } else if (!isObject(value)) refuse(place, 'a map is expected');
  else if (key === 'kustomize') {
    const { dir, ...others } = value;
    for (const other of Object.keys(others)) warn([...place, other], 'this key is unknown');
    const path = pathIn(dir, [...place, 'dir'], refuse);
    if (path !== undefined) options.kustomize = { dir: path };
  } else if (key === 'yaml') {
    const { overlays, ...others } = value;
    for (const other of Object.keys(others)) warn([...place, other], 'this key is unknown');
    if (overlays === undefined || overlays === null) return;
    if (isTextList(overlays) && overlays.every((name) => OVERLAY.test(name))) options.yaml = { overlays };
    else refuse([...place, 'overlays'], 'a list of names of directories below overlays/ is expected');
  } else if (key === 'helm') options.helm = helmIn(value, place, refuse, warn);
}

const OVERLAY = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

function pathIn(value: unknown, place: Place, refuse: Say): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const path = typeof value === 'string' ? normalPath(value) : undefined;
  if (path === undefined) refuse(place, 'a directory of the bundle is expected');
  return path;
}

// ---- helm

const RELEASE = /^[a-z0-9]([-a-z0-9.]{0,51}[a-z0-9])?$/;
const HELM_REFUSED: Readonly<Record<string, string>> = {
  repo: 'charts are read from the repository only: put the chart there',
  version: 'charts are read from the repository only: put the chart there',
  valuesFrom: 'values from clusters are not supported: charts are rendered on the hub',
  templateValues: 'templateValues are not supported: use values',
};

function helmIn(fields: Fields, place: Place, refuse: Say, warn: Say): HelmOptions {
  const helm: Writable<HelmOptions> = {};
  for (const [key, value] of Object.entries(fields)) {
    if (value === null || value === undefined || value === '') continue;
    const here = [...place, key];
    if (Object.hasOwn(HELM_REFUSED, key)) refuse(here, HELM_REFUSED[key] as string);
    else if (key === 'chart') {
      if (typeof value === 'string' && /^[a-z]+:\/\//.test(value)) refuse(here, HELM_REFUSED['repo'] as string);
      else {
        const path = pathIn(value, here, refuse);
        if (path !== undefined) helm.chart = path;
      }
    } else if (key === 'releaseName') {
      if (typeof value === 'string' && RELEASE.test(value)) helm.releaseName = value;
      else refuse(here, 'at most 53 lower-case letters, digits, dashes and dots are expected');
    } else if (key === 'values') {
      if (isObject(value)) helm.values = value as JsonObject;
      else refuse(here, 'a map is expected');
    } else if (key === 'valuesFiles') {
      const paths = isTextList(value) ? value.map(normalPath) : [undefined];
      if (isTextList(paths)) helm.valuesFiles = paths;
      else refuse(here, 'a list of files of the bundle is expected');
    } else if (key === 'disablePreProcess') {
      if (typeof value === 'boolean') helm.disablePreProcess = value;
      else refuse(here, 'true or false is expected');
    } else warn(here, 'it has no effect: charts are rendered on the hub');
  }
  const problem = helm.disablePreProcess === true ? undefined : templateProblem(helm.values ?? {});
  if (problem !== undefined) refuse([...place, 'values', ...problem.place], problem.message);
  return helm;
}

// ---- targetCustomizations

const MAX_CUSTOMIZATIONS = 100;

export function customizationsIn(value: unknown, place: Place, refuse: Say, warn: Say): readonly Customization[] {
  if (!Array.isArray(value) || value.length > MAX_CUSTOMIZATIONS || !value.every(isObject)) {
    refuse(place, `a list of at most ${MAX_CUSTOMIZATIONS} maps is expected`);
    return [];
  }
  return (value as readonly Fields[]).map((fields, at): Customization => {
    const here = [...place, at];
    const { name, doNotDeploy, ...others } = fields;
    const options: Writable<RenderOptions> = {};
    const criteria: Record<string, unknown> = {};
    for (const [key, each] of Object.entries(others)) {
      if (each === null || each === undefined) continue;
      if (RENDER_FIELDS.has(key)) renderFieldIn(options, key, each, [...here, key], refuse, warn);
      else criteria[key] = each;
    }
    if (doNotDeploy !== undefined && doNotDeploy !== null && typeof doNotDeploy !== 'boolean')
      refuse([...here, 'doNotDeploy'], 'true or false is expected');
    return {
      ...options,
      target: { ...(typeof name === 'string' ? { name } : {}), ...criteriaIn(criteria, here, refuse, warn) },
      ...(doNotDeploy === true ? { doNotDeploy } : {}),
    };
  });
}

/** Spec 09 §5.2: given fields replace, values are merged, overlays are added. */
export function merged(base: RenderOptions, custom: RenderOptions): RenderOptions {
  const overlays = [...(base.yaml?.overlays ?? []), ...(custom.yaml?.overlays ?? [])];
  const helm = base.helm === undefined && custom.helm === undefined ? undefined : mergedHelm(base.helm, custom.helm);
  return {
    ...base,
    ...custom,
    ...(overlays.length === 0 ? {} : { yaml: { overlays } }),
    ...(helm === undefined ? {} : { helm }),
  };
}

const mergedHelm = (base: HelmOptions = {}, custom: HelmOptions = {}): HelmOptions => ({
  ...base,
  ...custom,
  values: deeply(base.values ?? {}, custom.values ?? {}),
  // Files of a customization come last, so that they win.
  valuesFiles: [...(base.valuesFiles ?? []), ...(custom.valuesFiles ?? [])],
  disablePreProcess: base.disablePreProcess === true || custom.disablePreProcess === true,
});

/** Maps are merged, lists replaced. */
export function deeply(base: JsonObject, custom: JsonObject): JsonObject {
  const result: Record<string, JsonObject[string]> = { ...base };
  for (const [key, value] of Object.entries(custom)) {
    const before = Object.hasOwn(base, key) ? base[key] : undefined;
    const both = isObject(before) && isObject(value);
    setField(result, key, both ? deeply(before as JsonObject, value as JsonObject) : value);
  }
  return result;
}
