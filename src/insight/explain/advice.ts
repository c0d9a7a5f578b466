// What a user can do about objects that a member refused, or that do not work there. Pure, by the codes in the
// placement's status (api/apply-cause.ts). The same problem on several clusters is reported once.
import type { ApplyCauseCode } from '../../api/apply-cause.ts';
import type { Placement } from '../../api/placement.ts';
import type { ClusterPlacementState } from '../../api/placement-state.ts';
import { kubectlOn, typedName } from '../kubectl.ts';
import { NAME } from '../which-placement.ts';
import { objectName } from './explanation.ts';
import { hasPods } from './workloads.ts';

type Failed = NonNullable<ClusterPlacementState['failedPlacements']>[number];

interface Advice {
  /** Equal for problems that can be reported together. */
  readonly what: string;
  readonly object: string;
  say(clusters: readonly string[], objects: string): string;
}

/** More would not be read; `why --cluster` shows the rest. */
const MAX = 5;

/** `about`: only these clusters; absent = all. */
export function adviceFor(placement: Placement | undefined, about?: readonly string[]): readonly string[] {
  const found = new Map<string, Group>();
  for (const { clusterName = '', failedPlacements = [] } of placement?.status?.placementStatuses ?? []) {
    if (!NAME.test(clusterName) || (about !== undefined && !about.includes(clusterName))) continue;
    for (const advice of failedPlacements.flatMap((each) => adviceOn(each) ?? [])) {
      const alike = found.get(advice.what) ?? { advice, clusters: new Set(), objects: new Set() };
      alike.clusters.add(clusterName);
      alike.objects.add(advice.object);
      found.set(advice.what, alike);
    }
  }
  return [...found.values()]
    .slice(0, MAX)
    .map(({ advice, clusters, objects }) => advice.say([...clusters], listed([...objects], MAX_OBJECTS)));
}

interface Group {
  readonly advice: Advice;
  readonly clusters: Set<string>;
  readonly objects: Set<string>;
}

interface Refusal {
  readonly clusters: readonly string[];
  readonly objects: string;
  readonly failed: Failed;
}

/**
 * Deleting these loses no data and no objects of others: their controllers create everything again. In API groups of
 * Kubernetes itself.
 */
const MADE_ANEW: readonly string[] = [
  'Deployment',
  'DaemonSet',
  'ReplicaSet',
  'Job',
  'ConfigMap',
  'Service',
  'RoleBinding',
];

const OWN_GROUPS: readonly string[] = ['', 'apps', 'batch', 'rbac.authorization.k8s.io'];

const isMadeAnew = ({ group = '', kind }: Failed): boolean => OWN_GROUPS.includes(group) && MADE_ANEW.includes(kind);

/** Refusals of a member's API server. */
const REFUSALS: Readonly<Partial<Record<ApplyCauseCode, (of: Refusal) => string>>> = {
  FieldImmutable({ clusters, objects, failed }) {
    const typed = isMadeAnew(failed) && objects === objectName(failed) ? typedName(failed) : undefined;
    const command = typed === undefined ? '' : `: \`${kubectlOn(clusters[0] ?? '', failed)} delete ${typed}\``;
    const unless = typed === undefined ? ', if no data is lost,' : '';
    return `revert the change of ${objects} on the hub, rename it, or delete it on ${named(clusters)}${unless} so that it is created again${command}`;
  },
  KindNotServed: ({ clusters, objects }) =>
    `install the CustomResourceDefinition of ${objects} on ${named(clusters)}, or place it; the rest follows without further action`,
  NamespaceMissing: ({ clusters, failed }) =>
    `bring namespace "${failed.namespace ?? ''}" to ${named(clusters)}: a ClusterResourcePlacement that selects it with selectionScope NamespaceOnly does that`,
  UndoneRepeatedly: ({ clusters, objects }) =>
    `find the client that removes ${objects} on ${named(clusters)} (an operator, a clean-up, a time to live) and stop it, or remove the object from the placement`,
  PlacedTwice: ({ objects, failed }) =>
    `place ${objects} once: this placement has it ${failed.cause?.by ?? 'in two places'}; remove it from one of them`,
  AboveServerLimit: ({ clusters, objects }) =>
    `make ${objects} smaller or split it: on ${named(clusters)} it is larger than the API server stores, also by data that others have added there`,
  TooLarge: ({ objects }) => `make the annotations of ${objects} smaller: together they may take 256 KiB`,
  FieldConflict: ({ objects, failed }) =>
    `remove the fields of ${objects} that ${failed.cause?.by ?? 'another field manager'} manages from the hub, or set spec.strategy.applyStrategy.serverSideApplyConfig.force of the placement to true`,
  FoundDiff: ({ clusters, objects }) =>
    `make ${objects} on ${named(clusters)} equal to the hub (status.placementStatuses[].diffedPlacements has the fields), or set spec.strategy.applyStrategy.whenToTakeOver of the placement to Always`,
  FoundDrifts: ({ clusters, objects }) =>
    `undo the change of ${objects} on ${named(clusters)} (status.placementStatuses[].driftedPlacements has the fields), make the same change on the hub, or set spec.strategy.applyStrategy.whenToApply of the placement to Always`,
};

function adviceOn(failed: Failed): Advice | undefined {
  const { code, by } = failed.cause ?? {};
  const object = objectName(failed);
  if (failed.condition.type === 'Available') return resolveSelection(failed);
  if (code === 'OwnedByOthers') {
    const owners = by ?? 'its owner';
    return {
      what: `owned by ${owners}`,
      object,
      say: (clusters, objects) =>
        `share ${objects} with ${owners}: set spec.strategy.applyStrategy.allowCoOwnership of the placement to true; or take that owner out of metadata.ownerReferences on ${named(clusters)}`,
    };
  }
  if (code === 'NotTakenOver') return takeOver(failed);
  const say = REFUSALS[code as ApplyCauseCode];
  if (say !== undefined) {
    const within = `${code} ${failed.namespace ?? ''}`;
    return { what: within, object, say: (clusters, objects) => say({ clusters, objects, failed }) };
  }
  if (code !== 'PlacedByAnother') return undefined;
  const other = by ?? 'the other placement';
  return {
    what: `placed by ${other}`,
    object,
    say: (_clusters, objects) =>
      `take ${objects} out of the resourceSelectors of this placement, or of ${other}: only one of them may place an object`,
  };
}

/** It belongs to another owner: deleting it is suggested only if that loses nothing. */
function takeOver(failed: Failed): Advice {
  const isNamespace = (failed.group ?? '') === '' && failed.kind === 'Namespace';
  const within = isNamespace ? ', and everything in it' : '';
  const isHarmless = isMadeAnew(failed);
  return {
    what: `was there${within}${isHarmless ? ', holds nothing' : ''}`,
    object: objectName(failed),
    say(clusters, objects) {
      const or = isHarmless ? `; or delete it on ${named(clusters)} so that it is created again` : '';
      return `let the placement take over ${objects}: set its spec.strategy.applyStrategy.whenToTakeOver to Always (it is then deleted with the placement${within})${or}`;
    },
  };
}

function resolveSelection(failed: Failed): Advice | undefined {
  const { kind, namespace, name } = failed;
  const typed = typedName(failed);
  if (typed === undefined) return undefined;
  const object = objectName({ kind, name, namespace });
  return {
    what: `${object} does not work`,
    object,
    say([first = '', ...others]) {
      const kubectl = kubectlOn(first, failed);
      const pods = hasPods(kind) ? ` and \`${kubectl} get pods\`` : '';
      const also = others.length === 0 ? '' : ` (the same on ${listed(others)})`;
      return `look at ${object} on cluster "${first}": \`${kubectl} describe ${typed}\`${pods}${also}`;
    },
  };
}

const MAX_NAMES = 10;
const MAX_OBJECTS = 3;

const listed = (names: readonly string[], max = MAX_NAMES): string => {
  const more = names.length - max;
  return `${names.slice(0, max).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
};

const named = (clusters: readonly string[]): string =>
  clusters.length === 1 ? `cluster "${clusters[0]}"` : `clusters ${listed(clusters)}`;
