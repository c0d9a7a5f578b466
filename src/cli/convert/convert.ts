// `flotilla convert FILE`: the rollout strategy and the targets of a Rancher Fleet `fleet.yaml` or Bundle, as a strategy block or a whole placement.
// Guarantee: each field of the file is carried over or named. Pure.
import { UserError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import { writeYaml } from '../../base/write-yaml.ts';
import { parseYamlDocuments, YamlError } from '../../base/yaml.ts';
import { convertKinds } from './convert-kinds.ts';

export interface Converted {
  readonly yaml: string;
  /** What was left out, and what to do about it. */
  readonly left: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

const STRATEGY_FIELDS: readonly string[] = [
  'maxUnavailable',
  'maxUnavailablePartitions',
  'autoPartitionSize',
  'autoPartitionThreshold',
  'maxNew',
];
const PARTITION_FIELDS: readonly string[] = [
  'name',
  'maxUnavailable',
  'clusterName',
  'clusterSelector',
  'clusterGroup',
  'clusterGroupSelector',
];
/** Names of the namespace that the bundle is installed in, the most specific first. */
const NAMESPACE_FIELDS = ['namespace', 'targetNamespace', 'defaultNamespace'] as const;
const CARRIED: readonly string[] = ['rolloutStrategy', 'targets', 'overrideTargets', 'paused', ...NAMESPACE_FIELDS];

/** `placement`: the name of a whole placement; without it only the strategy is printed. */
export function convert(text: string, source: string, placement?: string): Converted {
  const documents = documentsIn(text, source);
  const kinds = convertKinds(documents);
  if (kinds !== undefined) return kinds;
  const fields = fieldsIn(documents, source);
  const left: string[] = [];
  for (const key of Object.keys(fields)) if (!CARRIED.includes(key)) left.push(`${key} is not carried over`);
  const strategy = strategyOf(fields, left);
  if (placement === undefined) {
    for (const key of ['targets', 'overrideTargets', ...NAMESPACE_FIELDS])
      if (fields[key] !== undefined) left.push(`${key} needs a whole placement: set --placement NAME`);
    return { yaml: writeYaml({ strategy }), left };
  }
  const key = NAMESPACE_FIELDS.find((each) => typeof fields[each] === 'string' && fields[each] !== '');
  const namespace = key === undefined ? placement : String(fields[key]);
  if (key === undefined)
    left.push(
      `no namespace is named: the placement selects Namespace "${placement}"; change resourceSelectors if that is wrong`,
    );
  const policy = policyOf(fields, left);
  const object = {
    apiVersion: 'placement.kubernetes-fleet.io/v1',
    kind: 'ClusterResourcePlacement',
    metadata: { name: placement },
    spec: {
      resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: namespace }],
      policy,
      strategy,
    },
  };
  return { yaml: writeYaml(object), left };
}

function documentsIn(text: string, source: string): readonly unknown[] {
  try {
    return parseYamlDocuments(text).filter((each) => each !== null && each !== undefined);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new UserError('ManifestInvalid', `cannot read ${source}: ${error.message}`, { cause: error });
  }
}

function fieldsIn(documents: readonly unknown[], source: string): Fields {
  const [first] = documents;
  if (documents.length !== 1 || !isObject(first)) {
    throw new UserError(
      'ManifestInvalid',
      `${source} must hold one fleet.yaml: a map with fields such as rolloutStrategy`,
    );
  }
  if (first['apiVersion'] === undefined) return first;
  if (first['kind'] === 'Bundle' && isObject(first['spec'])) return first['spec'];
  throw new UserError(
    'ManifestInvalid',
    `${source} holds a ${String(first['kind'])}: a fleet.yaml, a Bundle, or GitRepos and ClusterGroups of fleet.cattle.io are expected`,
  );
}

function strategyOf({ rolloutStrategy, paused }: Fields, left: string[]): object {
  if (rolloutStrategy !== undefined && rolloutStrategy !== null && !isObject(rolloutStrategy))
    throw new UserError('ManifestInvalid', 'rolloutStrategy must be a map');
  const given: Fields = isObject(rolloutStrategy) ? rolloutStrategy : {};
  const { partitions, ...limits } = given;
  const kept = pick(limits, STRATEGY_FIELDS, 'rolloutStrategy', left);
  const listed = listOf(partitions, 'rolloutStrategy.partitions').map((each, at) =>
    pick(each, PARTITION_FIELDS, `rolloutStrategy.partitions[${at}]`, left),
  );
  const partitioned = { ...kept, ...(listed.length === 0 ? {} : { partitions: listed }) };
  return {
    type: 'Partitioned',
    ...(Object.keys(partitioned).length === 0 ? {} : { partitioned }),
    ...(paused === true ? { paused } : {}),
  };
}

function pick(from: Fields, fields: readonly string[], at: string, left: string[]): Fields {
  const isSet = ([, value]: readonly [string, unknown]) => value !== undefined && value !== null;
  for (const [key] of Object.entries(from).filter(isSet))
    if (!fields.includes(key)) left.push(`${at}.${key} is not carried over`);
  return Object.fromEntries(Object.entries(from).filter((entry) => isSet(entry) && fields.includes(entry[0])));
}

function listOf(value: unknown, at: string): readonly Fields[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every(isObject))
    throw new UserError('ManifestInvalid', `${at} must be a list of maps`);
  return value;
}

// ---- targets

/** undefined = all clusters. */
function policyOf(fields: Fields, left: string[]): object | undefined {
  const key = fields['overrideTargets'] === undefined ? 'targets' : 'overrideTargets';
  if (key === 'overrideTargets' && fields['targets'] !== undefined)
    left.push('targets is not carried over: overrideTargets replaces it');
  const targets = listOf(fields[key], key);
  if (targets.length === 0) {
    left.push('no targets are named: the placement picks all clusters; the GitRepo may pick fewer');
    return undefined;
  }
  const names: string[] = [];
  const selectors: unknown[] = [];
  targets.forEach((target, at) => {
    const { name: _name, clusterName, clusterSelector, clusterGroup, clusterGroupSelector, ...others } = target;
    const where = `${key}[${at}]`;
    for (const other of Object.keys(others)) left.push(`${where}.${other} is not carried over`);
    if (others['doNotDeploy'] === true) return;
    const group = ['clusterGroup', 'clusterGroupSelector'].filter((each) => target[each] !== undefined);
    if (group.length > 0) {
      left.push(
        `${where} is left out: ${group.join(' and ')} cannot be a policy; write its labels as a clusterSelector`,
      );
    } else if (clusterName !== undefined && clusterSelector !== undefined) {
      left.push(`${where} is left out: clusterName and clusterSelector together cannot be a policy`);
    } else if (typeof clusterName === 'string' && clusterName !== '') names.push(clusterName);
    else if (clusterSelector !== undefined && clusterSelector !== null) selectors.push(clusterSelector);
    else left.push(`${where} is left out: it has no criterion and matches no cluster`);
  });
  if (names.length > 0 && selectors.length > 0)
    left.push(`clusters ${names.join(', ')} are left out: a policy takes names or selectors, not both`);
  if (selectors.length > 0) {
    const clusterSelectorTerms = selectors.map((labelSelector) => ({ labelSelector }));
    const required = { requiredDuringSchedulingIgnoredDuringExecution: { clusterSelectorTerms } };
    return { placementType: 'PickAll', affinity: { clusterAffinity: required } };
  }
  // No target that can be carried over must not become all clusters.
  return { placementType: 'PickFixed', clusterNames: names };
}
