// fleet.yaml, the options of a bundle (spec 09 §2). Pure. Guarantee: each field is either used or reported with its
// line: as a problem if ignoring it would place something else, otherwise as a warning.
import type { ComparePatch } from '../../api/compare-patch.ts';
import type { GitProblem, GitTarget } from '../../api/git-repo.ts';
import type { IgnoredCondition } from '../../api/ignored-condition.ts';
import type { PartitionedStrategy } from '../../api/partitioned-strategy.ts';
import type { PlacementDependency } from '../../api/placement.ts';
import { isObject } from '../../base/json.ts';
import { type LocatedDocument, locateYamlDocuments, YamlError } from '../../base/yaml.ts';
import { dependenciesIn, driftIn } from './fleet-dependencies.ts';
import { comparePatchesIn, ignoredConditionsIn } from './fleet-diff.ts';
import { criteriaIn, type Fields, isTextMap, type Place, type Say, targetsIn } from './fleet-fields.ts';
import {
  type Customization,
  customizationsIn,
  RENDER_FIELDS,
  type RenderOptions,
  renderFieldIn,
} from './fleet-options.ts';

export interface FleetFile extends RenderOptions {
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly rolloutStrategy?: PartitionedStrategy;
  readonly paused?: boolean;
  readonly keepResources?: boolean;
  /** Default true. */
  readonly createNamespace?: boolean;
  readonly dependsOn?: readonly PlacementDependency[];
  /** false = drift stays until the next revision. */
  readonly correctDrift?: boolean;
  /** What may differ on the clusters. */
  readonly comparePatches?: readonly ComparePatch[];
  /** Conditions that do not count for availability. */
  readonly ignoreConditions?: readonly IgnoredCondition[];
  /** Another number applies everything again. */
  readonly forceSyncGeneration?: number;
  readonly overrideTargets?: readonly GitTarget[];
  readonly targetCustomizations?: readonly Customization[];
  /** Default FirstMatch. */
  readonly targetCustomizationMode?: 'FirstMatch' | 'AllMatches';
}

export interface ReadFleetFile {
  readonly options: FleetFile;
  readonly problems: readonly GitProblem[];
  readonly warnings: readonly GitProblem[];
}

/** Used as the name of a placement and of its derived objects. */
const BUNDLE_NAME = /^[a-z0-9]([-a-z0-9]{0,51}[a-z0-9])?$/;
const LIMIT = /^(\+?0*[1-9][0-9]{0,8}|[+-]?([0-9]{1,9}(\.[0-9]{0,9})?|\.[0-9]{1,9})%)$/;

/** If these were ignored, clusters would get something else, or too early. */
const REFUSED: Readonly<Record<string, string>> = {
  serviceAccount: 'serviceAccount is not supported: agents cannot impersonate',
};
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  'targets',
  'namespaceLabels',
  'namespaceAnnotations',
  'deleteNamespace',
  'deleteCRDResources',
  'downstreamResources',
  'imageScans',
]);

export function readFleetFile(file: string, text: string): ReadFleetFile {
  const problems: GitProblem[] = [];
  const warnings: GitProblem[] = [];
  let documents: readonly LocatedDocument[];
  try {
    documents = locateYamlDocuments(text);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return {
      options: {},
      problems: [{ file, ...lineIn(error.line), reason: 'FileInvalid', message: error.detail }],
      warnings,
    };
  }
  const [document, second] = documents;
  if (document === undefined) return { options: {}, problems, warnings };
  if (second !== undefined || !isObject(document.value)) {
    const message = 'one map with fields such as rolloutStrategy is expected';
    const { line } = second ?? document;
    return { options: {}, problems: [{ file, line, reason: 'FileInvalid', message }], warnings };
  }
  const at = (place: Place) => lineIn(document.lineOf(place));
  const refuse = (place: Place, message: string) =>
    problems.push({ file, ...at(place), reason: 'FieldInvalid', message: `${textOf(place)}: ${message}` });
  const warn = (place: Place, message: string) =>
    warnings.push({ file, ...at(place), reason: 'FieldIgnored', message: `${textOf(place)}: ${message}` });
  const options = optionsIn(document.value, refuse, warn);
  return { options, problems, warnings };
}

const lineIn = (line: number | undefined) => (line === undefined ? {} : { line });

const textOf = (place: Place): string =>
  place.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : text === '' ? step : `${text}.${step}`),
    '',
  );

function optionsIn(fields: Fields, refuse: Say, warn: Say): FleetFile {
  const options: { -readonly [Key in keyof FleetFile]: FleetFile[Key] } = {};
  for (const [key, value] of Object.entries(fields)) {
    if (value === null || value === undefined) continue;
    const place = [key];
    if (Object.hasOwn(REFUSED, key)) {
      if (!isEmpty(value)) refuse(place, REFUSED[key] as string);
    } else if (WITHOUT_EFFECT.has(key)) warn(place, 'it has no effect');
    else if (key === 'name') {
      if (typeof value === 'string' && BUNDLE_NAME.test(value)) options.name = value;
      else refuse(place, 'at most 53 lower-case letters, digits and dashes are expected');
    } else if (key === 'labels') {
      if (isTextMap(value)) options.labels = value;
      else refuse(place, 'a map of texts is expected');
    } else if (RENDER_FIELDS.has(key)) renderFieldIn(options, key, value, place, refuse, warn);
    else if (key === 'targetCustomizations') {
      options.targetCustomizations = customizationsIn(value, place, refuse, warn);
    } else if (key === 'targetCustomizationMode') {
      if (value === 'FirstMatch' || value === 'AllMatches') options.targetCustomizationMode = value;
      else refuse(place, 'FirstMatch or AllMatches is expected');
    } else if (key === 'paused' || key === 'keepResources' || key === 'createNamespace') {
      if (typeof value === 'boolean') options[key] = value;
      else refuse(place, 'true or false is expected');
    } else if (key === 'correctDrift') {
      const isEnabled = driftIn(value, place, refuse, warn);
      if (isEnabled !== undefined) options.correctDrift = isEnabled;
    } else if (key === 'diff') {
      const patches = comparePatchesIn(value, place, refuse, warn);
      if (patches !== undefined) options.comparePatches = patches;
    } else if (key === 'ignore') {
      const conditions = ignoredConditionsIn(value, place, refuse, warn);
      if (conditions !== undefined) options.ignoreConditions = conditions;
    } else if (key === 'forceSyncGeneration') {
      if (Number.isSafeInteger(value) && (value as number) >= 0) options.forceSyncGeneration = value as number;
      else refuse(place, 'a whole number is expected');
    } else if (key === 'dependsOn') {
      options.dependsOn = dependenciesIn(value, place, refuse, warn);
    } else if (key === 'rolloutStrategy') {
      const strategy = strategyIn(value, refuse, warn);
      if (strategy !== undefined) options.rolloutStrategy = strategy;
    } else if (key === 'overrideTargets') {
      const targets = targetsIn(value, place, refuse, warn);
      if (targets !== undefined) options.overrideTargets = targets;
    } else warn(place, 'this key is unknown');
  }
  return options;
}

const isEmpty = (value: unknown): boolean =>
  (Array.isArray(value) && value.length === 0) || (isObject(value) && Object.keys(value).length === 0) || value === '';

// ---- rolloutStrategy (spec 08 §1)

const LIMITS = ['maxUnavailable', 'maxUnavailablePartitions', 'autoPartitionSize'] as const;
const COUNTS = ['autoPartitionThreshold', 'maxNew'] as const;

function strategyIn(value: unknown, refuse: Say, warn: Say): PartitionedStrategy | undefined {
  const root = 'rolloutStrategy';
  if (!isObject(value)) {
    refuse([root], 'a map is expected');
    return undefined;
  }
  const kept: Record<string, unknown> = {};
  for (const [key, each] of Object.entries(value)) {
    if (each === null || each === undefined) continue;
    const place = [root, key];
    if ((LIMITS as readonly string[]).includes(key)) {
      if (isLimit(each)) kept[key] = each;
      else refuse(place, 'a number or a percentage is expected');
    } else if ((COUNTS as readonly string[]).includes(key)) {
      if (Number.isSafeInteger(each) && (key !== 'maxNew' || (each as number) >= 0)) kept[key] = each;
      else refuse(place, 'a whole number is expected');
    } else if (key === 'partitions') kept[key] = partitionsIn(each, place, refuse, warn);
    else warn(place, 'this key is unknown');
  }
  return kept as PartitionedStrategy;
}

const isLimit = (value: unknown): boolean =>
  typeof value === 'number' ? Number.isSafeInteger(value) : typeof value === 'string' && LIMIT.test(value);

const MAX_PARTITIONS = 200;

function partitionsIn(value: unknown, place: Place, refuse: Say, warn: Say): readonly Fields[] {
  if (!Array.isArray(value) || value.length > MAX_PARTITIONS) {
    refuse(place, `a list of at most ${MAX_PARTITIONS} partitions is expected`);
    return [];
  }
  return value.map((item: unknown, at): Fields => {
    const here = [...place, at];
    if (!isObject(item)) {
      refuse(here, 'a map is expected');
      return {};
    }
    const { name, maxUnavailable, ...criteria } = item;
    if (name !== undefined && name !== null && typeof name !== 'string')
      refuse([...here, 'name'], 'a text is expected');
    if (maxUnavailable !== undefined && maxUnavailable !== null && !isLimit(maxUnavailable))
      refuse([...here, 'maxUnavailable'], 'a number or a percentage is expected');
    return {
      ...(typeof name === 'string' ? { name } : {}),
      ...(maxUnavailable === undefined || maxUnavailable === null ? {} : { maxUnavailable }),
      ...criteriaIn(criteria, here, refuse, warn),
    };
  });
}
