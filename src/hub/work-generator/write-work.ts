// The write that makes a Work what it should be.
// Guarantee: a Work is written only if it differs from that, whatever changed it.
import type { ApplyStrategy } from '../../api/apply-strategy.ts';
import { annotations } from '../../api/names.ts';
import { apiVersionOf, type KubeObject, type ObjectMeta } from '../../api/object.ts';
import { work } from '../../api/work.ts';
import { canonicalJson, isObject, type Json } from '../../base/json.ts';
import type { JsonOperation } from '../../base/json-patch.ts';
import { create, patch, patchByOperations, seen } from '../../runtime/actions.ts';
import type { Action } from '../../runtime/controller.ts';
import { replacing } from '../orders/order.ts';
import { type HubWork, works as workSource } from '../work-source.ts';
import { type DesiredWork, strategyOf } from './desired.ts';
import { withoutForeign, withoutLabels } from './foreign-metadata.ts';
import { changedKeeping } from './keeping.ts';
import type { Observed } from './observed.ts';
import { isOfOtherScope } from './whose-work.ts';

export function writeWork(observed: Observed, desired: DesiredWork, known: HubWork | undefined): readonly Action[] {
  const { name, namespace, content, strategy } = desired;
  const { keepsTakenOver: keeps } = observed;
  const keeping = known === undefined ? keeps && { [annotations.keepTakenOver]: 'true' } : changedKeeping(known, keeps);
  const marks = {
    labels: desired.labels,
    annotations: {
      ...desired.annotations,
      ...keeping,
      [annotations.orderedBy]: orderBy(observed.binding.metadata, observed.now),
    },
  };
  const specOf = () => ({
    workload: { manifests: desired.manifests() },
    ...(strategy === undefined ? {} : { applyStrategy: strategy }),
    ...reportedBack(observed.reportBack, known),
  });
  if (known === undefined) {
    const object: KubeObject = {
      apiVersion: apiVersionOf(work.group, work.version),
      kind: work.kind,
      metadata: { name, namespace, ...(marks as Pick<ObjectMeta, 'labels' | 'annotations'>) },
      spec: specOf(),
    };
    return [create('hub', work, object, `creates Work "${name}"`)];
  }
  const isSameContent = known.content === content;
  const way = changedStrategies(known, strategy, observed.reportBack);
  const isSameWay = Object.keys(way).length === 0;
  // The generation alone is not worth a write.
  const isMarked =
    keeping === undefined &&
    carries(known.metadata.labels, desired.labels) &&
    !isOfOtherScope(known, desired) &&
    carries(known.metadata.annotations, desired.annotations);
  const foreign = withoutForeign(known.metadata);
  const foreignLabels = withoutLabels(known.metadata.labels, desired.labels);
  const isForeignFree = Object.keys(foreign).length + Object.keys(foreignLabels).length === 0;
  if (isSameContent && isSameWay && isMarked && isForeignFree) return [];
  const of = seen(workSource, known);
  if (!isSameContent) {
    // By JSON patch: a merge patch would drop nulls from the manifests. The next reconcile removes foreign finalizers
    // and owners.
    const operations: readonly JsonOperation[] = [
      { op: 'add', path: '/metadata/labels', value: marks.labels },
      {
        op: 'add',
        path: '/metadata/annotations',
        value: withoutNulls({ ...known.metadata.annotations, ...marks.annotations }),
      },
      { op: 'add', path: '/spec', value: specOf() as unknown as Json },
    ];
    return [patchByOperations(of, operations, upToDate(name))];
  }
  const metadata = { ...marks, labels: { ...marks.labels, ...foreignLabels }, ...foreign };
  return [patch(of, { metadata, ...(isSameWay ? {} : { spec: way }) }, upToDate(name))];
}

/** A JSON patch replaces the map: an entry that goes is left out. */
const withoutNulls = (map: Readonly<Record<string, string | null>>): Record<string, string> =>
  Object.fromEntries(Object.entries(map).flatMap(([key, value]) => (value === null ? [] : [[key, value]])));

export const carries = (
  has: Readonly<Record<string, string>> | undefined,
  wanted: Readonly<Record<string, string>>,
): boolean => Object.entries(wanted).every(([name, value]) => has?.[name] === value);

/** All of the order but the manifests: what of it must change. */
const changedStrategies = (
  known: HubWork,
  strategy: DesiredWork['strategy'],
  reportBack: Observed['reportBack'],
): object => ({
  ...(known.strategy === (strategy === undefined ? '' : canonicalJson(strategy))
    ? {}
    : { applyStrategy: strategyPatch(known.strategy, strategy) }),
  ...(reportBack === 'as it is' || known.reportBack === (reportBack && canonicalJson(reportBack))
    ? {}
    : { reportBackStrategy: reportBack ?? null }),
});

/** A JSON patch replaces the spec: what stays is repeated. */
const reportedBack = (reportBack: Observed['reportBack'], known: HubWork | undefined): object => {
  const kept = known?.reportBack === undefined ? undefined : JSON.parse(known.reportBack);
  const wanted = reportBack === 'as it is' ? kept : reportBack;
  return wanted === undefined ? {} : { reportBackStrategy: wanted };
};

function strategyPatch(known: string, strategy: DesiredWork['strategy']): object | null {
  return strategy === undefined
    ? null
    : replacing(known === '' ? undefined : (JSON.parse(known) as ApplyStrategy), strategy);
}

/** The apply strategy is on the binding, and does not need the snapshot. */
export function writeApplyStrategy({ binding, reportBack, now }: Observed, known: HubWork): readonly Action[] {
  const change = changedStrategies(known, strategyOf(binding), reportBack);
  if (Object.keys(change).length === 0) return [];
  const marks = { annotations: { [annotations.orderedBy]: orderBy(binding.metadata, now) } };
  return [patch(seen(workSource, known), { metadata: marks, spec: change }, upToDate(known.metadata.name))];
}

/** Something that the member has to act on, or a request without effect. */
export const isOrder = (action: Action): boolean =>
  action.do === 'create' ||
  action.do === 'json-patch' ||
  action.do === 'delete' ||
  (action.do === 'patch' && isObject(action.merge) && (action.merge['spec'] !== undefined || isEmpty(action.merge)));

const isEmpty = (merge: object): boolean => Object.keys(merge).length === 0;

const orderBy = ({ uid, generation = 0 }: ObjectMeta, now: number): string => `${uid}/${generation}/${now}`;

const upToDate = (name: string | undefined): string => `brings Work "${name}" up to date`;
