// Converts GitRepos and ClusterGroups of `fleet.cattle.io` to ours. Guarantee: each field is converted or reported.
// Pure.
import { SYSTEM_NAMESPACE } from '../../api/names.ts';
import { isObject } from '../../base/json.ts';
import { writeYaml } from '../../base/write-yaml.ts';
import type { Converted } from './convert.ts';

type Fields = Readonly<Record<string, unknown>>;

const GROUP = 'fleet.cattle.io/';
const OURS = 'flotilla.dev/v1alpha1';

const GIT_REPO_FIELDS: readonly string[] = [
  'repo',
  'branch',
  'revision',
  'paths',
  'targetNamespace',
  'clientSecretName',
  'caBundle',
  'insecureSkipTLSVerify',
  'pollingInterval',
  'disablePolling',
  'paused',
  'forceSyncGeneration',
  'keepResources',
];
const TARGET_FIELDS: readonly string[] = [
  'name',
  'clusterName',
  'clusterSelector',
  'clusterGroup',
  'clusterGroupSelector',
];

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** undefined = these are not GitRepos and ClusterGroups of Rancher Fleet. */
export function convertKinds(documents: readonly unknown[]): Converted | undefined {
  const isOurs = (each: unknown): each is Fields =>
    isObject(each) &&
    String(each['apiVersion']).startsWith(GROUP) &&
    (each['kind'] === 'GitRepo' || each['kind'] === 'ClusterGroup');
  if (documents.length === 0 || !documents.every(isOurs)) return undefined;
  const left: string[] = [];
  const objects = documents.map((each) => (each['kind'] === 'GitRepo' ? gitRepoOf(each, left) : groupOf(each, left)));
  return { yaml: objects.map((each) => writeYaml(each)).join('---\n'), left };
}

const specOf = ({ spec }: Fields): Fields => (isObject(spec) ? spec : {});

function metadataOf({ metadata }: Fields, namespace?: string): Fields {
  const { name, labels, annotations } = isObject(metadata) ? metadata : {};
  return {
    name,
    namespace,
    labels,
    annotations,
  };
}

const nameIn = ({ kind, metadata }: Fields): string =>
  `${String(kind)} "${isObject(metadata) ? String(metadata['name']) : '?'}"`;

function kept(fields: Fields, known: readonly string[], where: string, left: string[]): Fields {
  for (const [key, value] of Object.entries(fields))
    if (isSet(value) && !known.includes(key)) left.push(`${where}.${key} is not carried over`);
  return Object.fromEntries(Object.entries(fields).filter(([key, value]) => isSet(value) && known.includes(key)));
}

function gitRepoOf(object: Fields, left: string[]): object {
  const about = nameIn(object);
  const { targets, correctDrift, ...rest } = specOf(object);
  const spec = kept(rest, GIT_REPO_FIELDS, `${about}: spec`, left);
  // Without a branch or revision, Fleet follows master; here that would be the default branch.
  const branch = isSet(spec['branch']) || isSet(spec['revision']) ? {} : { branch: 'master' };
  const listed = (Array.isArray(targets) ? targets.filter(isObject) : []).map((target, at) =>
    kept(target, TARGET_FIELDS, `${about}: spec.targets[${at}]`, left),
  );
  const drift = isObject(correctDrift) ? kept(correctDrift, ['enabled'], `${about}: spec.correctDrift`, left) : {};
  // Fleet corrects drift only if it is enabled; here it is corrected unless disabled.
  const isCorrected = drift['enabled'] === true;
  const { metadata } = object;
  const from = isObject(metadata) && isSet(metadata['namespace']) ? String(metadata['namespace']) : undefined;
  if (isSet(spec['clientSecretName']) && from !== undefined && from !== SYSTEM_NAMESPACE)
    left.push(
      `${about}: copy Secret "${String(spec['clientSecretName'])}" from namespace "${from}" to "${SYSTEM_NAMESPACE}"`,
    );
  return {
    apiVersion: OURS,
    kind: 'GitRepo',
    metadata: metadataOf(object, SYSTEM_NAMESPACE),
    spec: {
      ...spec,
      ...branch,
      correctDrift: { enabled: isCorrected },
      ...(listed.length === 0 ? {} : { targets: listed }),
    },
  };
}

function groupOf(object: Fields, left: string[]): object {
  const spec = kept(specOf(object), ['selector'], `${nameIn(object)}: spec`, left);
  return { apiVersion: OURS, kind: 'ClusterGroup', metadata: metadataOf(object), spec };
}
