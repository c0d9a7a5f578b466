// `flotilla convert FILE`: converts the rollout strategy and the targets of a Rancher Fleet `fleet.yaml` or Bundle to a
// strategy block or a whole placement. Guarantee: each field of the file is converted or reported. Pure.
import type { GitTarget } from '../../api/git-repo.ts';
import { labels } from '../../api/names.ts';
import { UserError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import { writeYaml } from '../../base/write-yaml.ts';
import { parseYamlDocuments, YamlError } from '../../base/yaml.ts';
import { dependenciesIn, driftIn } from '../../hub/git/fleet-dependencies.ts';
import { comparePatchesIn, ignoredConditionsIn } from '../../hub/git/fleet-diff.ts';
import { isTextMap } from '../../hub/git/fleet-fields.ts';
import { policyOf as targetPolicy, termsOf } from '../../hub/git/targets.ts';
import { convertKinds } from './convert-kinds.ts';

export interface Converted {
  readonly yaml: string;
  /** The fields that were left out, with the next step for each. */
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
/** Fields with the namespace that the bundle is installed in, the most specific first. */
const NAMESPACE_FIELDS = ['namespace', 'targetNamespace', 'defaultNamespace'] as const;
/** Fields that become part of the placement outside its strategy. */
const WHOLE_FIELDS: readonly string[] = ['targets', 'overrideTargets', 'dependsOn', 'labels', ...NAMESPACE_FIELDS];
const CARRIED: readonly string[] = [
  'rolloutStrategy',
  'paused',
  'keepResources',
  'correctDrift',
  'diff',
  'ignore',
  ...WHOLE_FIELDS,
];

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
    for (const key of WHOLE_FIELDS)
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
  const dependsOn = dependenciesOf(fields, left);
  const object = {
    apiVersion: 'placement.kubernetes-fleet.io/v1',
    kind: 'ClusterResourcePlacement',
    metadata: { name: placement, ...labelsOf(fields, left) },
    spec: {
      resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: namespace }],
      ...(dependsOn.length === 0 ? {} : { dependsOn }),
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
  // A Bundle is complete: without correctDrift, drift is not corrected.
  if (first['kind'] === 'Bundle' && isObject(first['spec']))
    return { ...first['spec'], correctDrift: driftOf(first['spec']['correctDrift']) };
  throw new UserError(
    'ManifestInvalid',
    `${source} holds a ${String(first['kind'])}: a fleet.yaml, a Bundle, or GitRepos and ClusterGroups of fleet.cattle.io are expected`,
  );
}

const driftOf = (given: unknown): Fields => {
  const fields = isObject(given) ? given : {};
  return { ...fields, enabled: fields['enabled'] ?? false };
};

function strategyOf(fields: Fields, left: string[]): object {
  const { rolloutStrategy, paused, keepResources } = fields;
  if (rolloutStrategy !== undefined && rolloutStrategy !== null && !isObject(rolloutStrategy))
    throw new UserError('ManifestInvalid', 'rolloutStrategy must be a map');
  const given: Fields = isObject(rolloutStrategy) ? rolloutStrategy : {};
  const { partitions, ...limits } = given;
  const kept = pick(limits, STRATEGY_FIELDS, 'rolloutStrategy', left);
  const listed = listOf(partitions, 'rolloutStrategy.partitions').map((each, at) =>
    pick(each, PARTITION_FIELDS, `rolloutStrategy.partitions[${at}]`, left),
  );
  const partitioned = { ...kept, ...(listed.length === 0 ? {} : { partitions: listed }) };
  const applyStrategy = applyStrategyOf(fields, left);
  return {
    type: 'Partitioned',
    ...(Object.keys(partitioned).length === 0 ? {} : { partitioned }),
    ...(paused === true ? { paused } : {}),
    ...(Object.keys(applyStrategy).length === 0 ? {} : { applyStrategy }),
    ...(keepResources === true ? { deleteStrategy: { propagationPolicy: 'Abandon' } } : {}),
  };
}

/** Drift is corrected unless correctDrift disables it; a fleet.yaml without it leaves it to the GitRepo. */
function applyStrategyOf({ correctDrift, diff, ignore }: Fields, left: string[]): object {
  const say = naming(left);
  const isGiven = (value: unknown): boolean => value !== undefined && value !== null;
  const comparePatches = isGiven(diff) ? comparePatchesIn(diff, ['diff'], say, say) : undefined;
  const ignoreConditions = isGiven(ignore) ? ignoredConditionsIn(ignore, ['ignore'], say, say) : undefined;
  return {
    ...(correctsDrift(correctDrift, left) ? {} : { whenToApply: 'OnRevision' }),
    ...(comparePatches === undefined ? {} : { comparePatches }),
    ...(ignoreConditions === undefined ? {} : { ignoreConditions }),
  };
}

function correctsDrift(correctDrift: unknown, left: string[]): boolean {
  if (correctDrift === undefined || correctDrift === null) return true;
  const say = naming(left);
  return driftIn(correctDrift, ['correctDrift'], say, say) !== false;
}

function dependenciesOf({ dependsOn }: Fields, left: string[]) {
  if (dependsOn === undefined || dependsOn === null) return [];
  const say = naming(left);
  return dependenciesIn(dependsOn, ['dependsOn'], say, say).filter(
    ({ name, selector }) => name !== undefined || selector !== undefined,
  );
}

function labelsOf({ labels: given }: Fields, left: string[]): Fields {
  if (given === undefined || given === null) return {};
  if (isTextMap(given)) return { labels: given };
  left.push('labels is not carried over: a map of texts is expected');
  return {};
}

/** A value that the hub's parser rejects is reported instead of converted. */
const naming =
  (left: string[]) =>
  (place: readonly (string | number)[], message: string): void => {
    const where = place.map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`));
    left.push(`${where.join('')} is not carried over: ${message}`);
  };

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
  if (targets.some(isExcluding)) return policyWithExclusions(targets, key, left);
  const names: string[] = [];
  const terms: Fields[] = [];
  targets.forEach((target, at) => {
    const { name: _name, clusterName, clusterSelector, clusterGroup, clusterGroupSelector, ...others } = target;
    const where = `${key}[${at}]`;
    for (const other of Object.keys(others)) left.push(`${where}.${other} is not carried over`);
    const [named, group] = [textOf(clusterName), textOf(clusterGroup)];
    const selector = isObject(clusterSelector) ? clusterSelector : undefined;
    if (clusterGroupSelector !== undefined && clusterGroupSelector !== null)
      left.push(`${where} is left out: clusterGroupSelector cannot be a policy; name each ClusterGroup in a target`);
    else if (named !== '' && group === '' && selector === undefined) names.push(named);
    else if (named === '' && group === '' && selector === undefined)
      left.push(`${where} is left out: it has no criterion and matches no cluster`);
    else terms.push(termOf(selector, named, group));
  });
  if (terms.length === 0 && names.length > 0) return { placementType: 'PickFixed', clusterNames: names };
  const all = [...terms, ...(names.length === 0 ? [] : [{ labelSelector: nameSelector(names) }])];
  if (all.length > MAX_TERMS)
    left.push(`${key} makes ${all.length} terms of a policy, at most ${MAX_TERMS} are possible: use fewer targets`);
  // If no target can be converted, the result must not select all clusters.
  return all.length === 0 ? pickNone() : pickByTerms(all);
}

const pickByTerms = (clusterSelectorTerms: readonly object[]): object => ({
  placementType: 'PickAll',
  affinity: { clusterAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { clusterSelectorTerms } } },
});
const pickNone = (): object => pickByTerms([{ labelSelector: NO_CLUSTER }]);

const isExcluding = ({ doNotDeploy }: Fields): boolean => doNotDeploy === true;

/** The first target that matches a cluster decides, so a target with doNotDeploy excludes clusters from those after it. */
function policyWithExclusions(targets: readonly Fields[], key: string, left: string[]): object {
  const reported = (why: string): object => {
    left.push(`${key} selects no cluster: ${why}; write the terms of the policy by hand`);
    return pickNone();
  };
  targets.forEach((target, at) => {
    for (const field of Object.keys(target))
      if (!TARGET_FIELDS.includes(field)) left.push(`${key}[${at}].${field} is not carried over`);
  });
  if (targets.some(({ clusterGroup, clusterGroupSelector }) => Boolean(clusterGroup) || Boolean(clusterGroupSelector)))
    return reported('doNotDeploy beside ClusterGroups cannot be a policy');
  const rules = targets.map((target) => ({
    terms: termsOf(target as GitTarget, []),
    doNotDeploy: isExcluding(target),
  }));
  const deployed = targets.filter((target) => !isExcluding(target));
  if (deployed.length === 0) return reported('all targets have doNotDeploy');
  const found = targetPolicy(deployed as readonly GitTarget[], [], { mode: 'first', rules });
  return 'problem' in found ? reported(found.problem.message) : found.policy;
}

const TARGET_FIELDS: readonly string[] = ['name', 'clusterName', 'clusterSelector', 'doNotDeploy'];

const MAX_TERMS = 10;
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A cluster matches if all given criteria match. */
function termOf(selector: Fields | undefined, clusterName: string, clusterGroup: string): Fields {
  const named = clusterName === '' ? undefined : nameSelector([clusterName]);
  const expressions = selector?.['matchExpressions'];
  const labelSelector =
    named === undefined
      ? selector
      : {
          ...selector,
          matchExpressions: [...(Array.isArray(expressions) ? expressions : []), ...named.matchExpressions],
        };
  return {
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(clusterGroup === '' ? {} : { clusterGroup }),
  };
}

const nameSelector = (values: readonly string[]) => ({
  matchExpressions: [{ key: labels.memberName, operator: 'In', values }],
});

/** Every cluster has a name, so this matches none. */
const NO_CLUSTER = { matchExpressions: [{ key: labels.memberName, operator: 'DoesNotExist' }] };
