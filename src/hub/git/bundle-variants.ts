// Which clusters of a bundle get the same content, and the content of each (spec 09 §5). The content of a cluster
// depends on its matching customizations and on the labels in its Helm values; it is rendered once, however many
// clusters have it.
import type { GitProblem, GitTarget } from '../../api/git-repo.ts';
import type { KubeObject, Labels } from '../../api/object.ts';
import { sha256 } from '../../base/hash.ts';
import { canonicalJson } from '../../base/json.ts';
import type { ClusterGroupFacts } from '../planners/partitioned.ts';
import { joined, keyFor, matchesTerms, rulesFor, type VariantBook, variantKey } from '../revisions/variants.ts';
import type { FleetFile } from './fleet-file.ts';
import { merged, type RenderOptions } from './fleet-options.ts';
import type { Placed } from './manifests.ts';
import { type Excluding, termsFor, termsOf } from './targets.ts';
import { labelsUsed } from './template.ts';

export interface Fleet {
  /** The labels of every member. */
  readonly clusters: readonly Labels[];
  readonly groups: readonly ClusterGroupFacts[] | undefined;
  /** The targets of the GitRepo. */
  readonly targets: readonly GitTarget[] | undefined;
}

export type RenderOne = (options: RenderOptions, labels: Labels) => Promise<OneContent>;

export interface OneContent {
  readonly objects: readonly Placed[];
  readonly problems: readonly GitProblem[];
}

export interface BundleContent {
  /** By variant; the id is empty if there are none. */
  readonly contents: ReadonlyMap<string, readonly Placed[]>;
  readonly book?: VariantBook;
  /** Problems of the whole bundle. */
  readonly problems: readonly GitProblem[];
  /** Problems for some of its clusters. */
  readonly warnings: readonly GitProblem[];
}

export const MAX_VARIANTS = 500;

export const modeOf = ({ targetCustomizationMode }: FleetFile): VariantBook['mode'] =>
  targetCustomizationMode === 'AllMatches' ? 'all' : 'first';

/** The clusters that customizations exclude from the bundle. */
export const excludingOf = (options: FleetFile, groups: Fleet['groups']): Excluding => ({
  mode: modeOf(options),
  rules: (options.targetCustomizations ?? []).map(({ target, doNotDeploy = false }) => ({
    terms: termsOf(target, groups ?? []),
    doNotDeploy,
  })),
});

export async function variantsOf(options: FleetFile, fleet: Fleet, render: RenderOne): Promise<BundleContent> {
  const { targetCustomizations = [] } = options;
  const labels = labelsOf(options);
  // Rules that only exclude clusters do not change the content: adding one creates no revision.
  if (targetCustomizations.every(({ doNotDeploy }) => doNotDeploy === true) && labels.length === 0) {
    const { objects, problems } = await render(options, {});
    return { contents: new Map([['', objects]]), problems, warnings: [] };
  }
  const excluding = excludingOf(options, fleet.groups);
  const shape = { mode: excluding.mode, rules: excluding.rules.map(({ terms }) => terms), labels: labels };
  const wanted = wantedBy(options, shape, fleet, excluding);
  if (wanted.size > MAX_VARIANTS) {
    const message = `its clusters need ${wanted.size} different contents, at most ${MAX_VARIANTS} are supported`;
    return { contents: new Map(), problems: [{ reason: 'TooManyVariants', message }], warnings: [] };
  }
  const variants: Record<string, VariantBook['variants'][string]> = {};
  const contents = new Map<string, readonly Placed[]>();
  const failed: GitProblem[] = [];
  for (const [key, { rules, values }] of [...wanted].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const custom = rules.reduce<RenderOptions>(
      (all, at) => merged(all, targetCustomizations[at] ?? {}),
      plain(options),
    );
    const { objects, problems } = await render(custom, values);
    const [first] = problems;
    if (first !== undefined) {
      variants[key] = { error: where(first).slice(0, MAX_ERROR) };
      failed.push(...problems);
      continue;
    }
    const id = sha256(canonicalJson(objects.map(({ object }) => object as never))).slice(0, 10);
    variants[key] = { id };
    contents.set(id, objects);
  }
  // If rendering fails for every cluster, the problem is in the bundle itself.
  if (contents.size === 0) return { contents, problems: failed.slice(0, MAX_PROBLEMS), warnings: [] };
  return { contents, book: { ...shape, variants }, problems: [], warnings: failed.slice(0, MAX_PROBLEMS) };
}

/** All errors share one annotation. */
const MAX_ERROR = 300;
const MAX_PROBLEMS = 20;

const where = ({ file, line, message }: GitProblem): string =>
  `${file === undefined ? '' : `${file}${line === undefined ? '' : `:${line}`}: `}${message}`;

/** The options that affect the content. */
const plain = ({ defaultNamespace, namespace, kustomize, yaml, helm }: FleetFile): RenderOptions => ({
  ...(defaultNamespace === undefined ? {} : { defaultNamespace }),
  ...(namespace === undefined ? {} : { namespace }),
  ...(kustomize === undefined ? {} : { kustomize }),
  ...(yaml === undefined ? {} : { yaml }),
  ...(helm === undefined ? {} : { helm }),
});

/** Unsupported expressions were rejected when the fleet.yaml was parsed. */
function labelsOf({ helm, targetCustomizations = [] }: FleetFile): readonly string[] {
  const all = [helm, ...targetCustomizations.map((each) => each.helm)].filter(
    (each) => each?.values !== undefined && each.disablePreProcess !== true,
  );
  return [...new Set(all.flatMap((each) => labelsUsed(each?.values ?? {})))].toSorted();
}

interface Wanted {
  readonly rules: readonly number[];
  readonly values: Labels;
}

/**
 * The variants that the clusters need. If labels do not matter, every customization is rendered, even if no cluster has
 * it yet: a cluster that joins later finds its content in the revision.
 */
function wantedBy(
  { targetCustomizations = [], overrideTargets }: FleetFile,
  shape: Pick<VariantBook, 'mode' | 'rules' | 'labels'>,
  { clusters, groups, targets }: Fleet,
  excluding: Excluding,
): ReadonlyMap<string, Wanted> {
  const wanted = new Map<string, Wanted>();
  if (shape.labels.length === 0) {
    wanted.set(variantKey([], []), { rules: [], values: {} });
    for (const [at, { doNotDeploy }] of targetCustomizations.entries())
      if (doNotDeploy !== true) wanted.set(variantKey([at], []), { rules: [at], values: {} });
  }
  const terms = allowed(overrideTargets ?? targets, groups, excluding);
  for (const labels of clusters) {
    if (!matchesTerms(terms, labels)) continue;
    const values = Object.fromEntries(
      shape.labels.flatMap((key) => (Object.hasOwn(labels, key) ? [[key, labels[key] ?? '']] : [])),
    );
    wanted.set(keyFor(shape, labels), { rules: rulesFor(shape, labels), values });
  }
  return wanted;
}

/** If there are too many terms for a policy, nothing is placed; then all clusters of the targets count. */
function allowed(targets: Fleet['targets'], groups: Fleet['groups'], excluding: Excluding) {
  try {
    return termsFor(targets, groups, excluding);
  } catch {
    return termsFor(targets, groups);
  }
}

/** All variants as the objects of one revision. */
export const objectsOfAll = (
  contents: BundleContent['contents'],
  book: VariantBook | undefined,
): readonly KubeObject[] => {
  const plainObjects = (placed: readonly Placed[]) => placed.map(({ object }) => object);
  if (book === undefined) return plainObjects(contents.get('') ?? []);
  return joined(new Map([...contents].map(([id, placed]) => [id, plainObjects(placed)])));
};
