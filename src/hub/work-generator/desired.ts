// The desired Works of a binding, from the resource snapshots that it references. Pure.
import { brokenRuleIn, type Enveloped, envelopeIn, envelopeText } from '../../api/enveloped.ts';
import {
  annotations,
  envelopeWorkName,
  furtherWorkName,
  labels,
  masterWorkName,
  memberNamespace,
  workBaseName,
} from '../../api/names.ts';
import type { KubeObject, Labels } from '../../api/object.ts';
import type { ResourceSnapshot } from '../../api/resource-snapshot.ts';
import type { WorkSpec } from '../../api/work.ts';
import { sha256 } from '../../base/hash.ts';
import { canonicalJson } from '../../base/json.ts';
import { FORCE_VALUE } from '../orders/orders-for.ts';
import type { HubOverrideSnapshot } from '../overrides/matching.ts';
import type { HubBinding } from '../placement-sources.ts';
import { snapshotOf, VARIANT_VALUE } from '../revisions/variants.ts';
import { type Rendered, render } from './rendered.ts';

export interface DesiredWork {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Labels;
  readonly annotations: Labels;
  manifests(): readonly KubeObject[];
  readonly content: string;
  readonly strategy: WorkStrategy | undefined;
}

type WorkStrategy = NonNullable<WorkSpec['applyStrategy']>;

/** The strategy of the binding, with the number by which all objects are applied again. */
export function strategyOf({ spec }: Pick<HubBinding, 'spec'>): WorkStrategy | undefined {
  const force = spec.overrideValues?.[FORCE_VALUE];
  const { applyStrategy } = spec;
  return force === undefined || applyStrategy === undefined
    ? applyStrategy
    : { ...applyStrategy, forceSyncGeneration: Number(force) };
}

/** Why the Works of a binding cannot be rendered: none of them is written. */
export type Failed = Extract<Rendered, { readonly ok: false }>;

/** One Work per snapshot of the group, even for an empty one, because its status is the report of the cluster. */
export function desiredWorks(
  binding: HubBinding,
  group: readonly ResourceSnapshot[],
  overrides: readonly HubOverrideSnapshot[],
): readonly DesiredWork[] | Failed {
  const rendering = { snapshots: overrides, values: binding.spec.overrideValues ?? {} };
  const desired: DesiredWork[] = [];
  for (const whole of group) {
    const snapshot = snapshotOf(whole, binding.spec.overrideValues?.[VARIANT_VALUE]);
    const { plain, envelopes } = partsOf(snapshot);
    const broken = envelopes.map(({ envelope }) => brokenRuleIn(envelope, binding.metadata.namespace)).find(isText);
    if (broken !== undefined) return { ok: false, reason: 'SyncWorkFailed', message: broken };
    for (const { envelope, objects } of [{ envelope: undefined, objects: plain }, ...envelopes]) {
      const rendered = render(objects, rendering);
      if (!rendered.ok) return envelope === undefined ? rendered : within(envelope, rendered);
      desired.push(desiredWork(binding, snapshot, rendered, envelope));
    }
  }
  return desired;
}

const isText = (value: string | undefined): value is string => value !== undefined;

const within = (envelope: Enveloped, failed: Failed): Failed => ({
  ...failed,
  message: `${envelopeText(envelope)}: ${failed.message}`,
});

interface Parts {
  /** The snapshot without its envelopes. */
  readonly plain: ResourceSnapshot;
  readonly envelopes: readonly { readonly envelope: Enveloped; readonly objects: ResourceSnapshot }[];
}

const known = new WeakMap<ResourceSnapshot, Parts>();

/** Cached per snapshot, because the results of overrides are cached by the identity of these parts. */
function partsOf(snapshot: ResourceSnapshot): Parts {
  const before = known.get(snapshot);
  if (before !== undefined) return before;
  const { selectedResources } = snapshot.spec;
  const envelopes = selectedResources.flatMap((each) => envelopeIn(each) ?? []);
  const holding = (objects: readonly KubeObject[]) => ({
    ...snapshot,
    spec: { selectedResources: objects as typeof selectedResources },
  });
  const parts = {
    plain:
      envelopes.length === 0 ? snapshot : holding(selectedResources.filter((each) => envelopeIn(each) === undefined)),
    envelopes: envelopes.map((envelope) => ({
      envelope,
      objects: holding(envelope.entries.map((each) => each.object)),
    })),
  };
  known.set(snapshot, parts);
  return parts;
}

const envelopeLabels = ({ type, name, namespace }: Enveloped): Labels => ({
  [labels.envelopeWork]: type,
  [labels.envelopeName]: name,
  ...(namespace === undefined ? {} : { [labels.envelopeNamespace]: namespace }),
});

const envelopeHash = ({ type, name, namespace = '' }: Enveloped): string =>
  sha256(`${type}/${namespace}/${name}`).slice(0, 16);

export const isFailed = (desired: readonly DesiredWork[] | Failed): desired is Failed => 'ok' in desired;

/** The annotations about the origin of a Work: a Work with the same ones is what the binding asks for. */
export const originOf = ({ spec }: HubBinding): Labels => ({
  [annotations.parentResourceSnapshotName]: spec.resourceSnapshotName,
  [annotations.parentResourceOverrideSnapshotHash]: hashOf(spec.resourceOverrideSnapshots ?? []),
  [annotations.parentClusterResourceOverrideSnapshotHash]: hashOf(spec.clusterResourceOverrideSnapshots ?? []),
});

function desiredWork(
  binding: HubBinding,
  snapshot: ResourceSnapshot,
  { content, manifests }: Extract<Rendered, { readonly ok: true }>,
  envelope: Enveloped | undefined,
): DesiredWork {
  const { metadata, spec } = binding;
  const placement = metadata.labels?.[labels.parentPlacement] ?? '';
  const base = workBaseName(placement, metadata.namespace);
  const subindex = snapshot.metadata.annotations?.[annotations.subindexOfResourceSnapshot];
  const own = subindex === undefined ? masterWorkName(base) : furtherWorkName(base, Number(subindex));
  return {
    name: envelope === undefined ? own : envelopeWorkName(own, envelopeHash(envelope)),
    namespace: memberNamespace(spec.targetCluster),
    labels: {
      [labels.parentBinding]: metadata.name ?? '',
      [labels.parentPlacement]: placement,
      [labels.parentResourceSnapshotIndex]: snapshot.metadata.labels?.[labels.resourceIndex] ?? '',
      ...(metadata.namespace === undefined ? {} : { [labels.parentPlacementNamespace]: metadata.namespace }),
      ...(envelope === undefined ? {} : envelopeLabels(envelope)),
    },
    annotations: originOf(binding),
    manifests,
    content,
    strategy: strategyOf(binding),
  };
}

/** Other tools compare this hash: no list and an empty list are both `null`. */
const NOTHING = sha256('null');

const hashOf = (list: readonly unknown[]): string => (list.length === 0 ? NOTHING : sha256(canonicalJson(list)));
