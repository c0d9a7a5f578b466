// Why a Pod does not work, as its cluster tells. Pure; reads only what is there, for it comes from any cluster.
import type { KubeObject } from '../../api/object.ts';
import { isObject } from '../../base/json.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Every Pod passes through these. */
const ON_ITS_WAY: readonly string[] = ['ContainerCreating', 'PodInitializing'];

/** Empty = nothing is wrong with it, or nothing is told yet. */
export function troubleOf(pod: KubeObject): readonly string[] {
  if (pod.metadata.deletionTimestamp !== undefined) return [];
  const status = fieldsOf(pod.status);
  const placed = listOf(status['conditions']).find(({ type }) => type === 'PodScheduled');
  if (placed?.['status'] === 'False') return [`no node accepts it${because(placed['message'])}`];
  if (status['reason'] !== undefined) return [`${textOf(status['reason'])}${because(status['message'])}`];
  return [...listOf(status['initContainerStatuses']), ...listOf(status['containerStatuses'])].flatMap(troubleIn);
}

const REVISION = 'controller-revision-hash';

/**
 * The revision that a Pod still has although its StatefulSet has a newer one, and keeps until it is deleted: the StatefulSet waits until
 * the Pod is ready before it replaces any, so a fix of what broke the Pod never gets to it. undefined = it is not so.
 */
export function leftBehind(pod: KubeObject, set: KubeObject): string | undefined {
  const { podManagementPolicy, updateStrategy, ordinals } = fieldsOf(set.spec);
  const { type, rollingUpdate } = fieldsOf(updateStrategy);
  // Without an order it waits for none of them, unless it is to replace none at all.
  const isReplaced = podManagementPolicy === 'Parallel' && type !== 'OnDelete';
  const { name = '', labels, ownerReferences = [] } = pod.metadata;
  const isOwn = ownerReferences.some(({ uid, controller }) => controller === true && uid === set.metadata.uid);
  if (isReplaced || !isOwn || !isWaitedFor(pod)) return undefined;
  const { currentRevision, updateRevision } = fieldsOf(set.status);
  const revision = textOf(labels?.[REVISION]);
  if (revision === '' || textOf(updateRevision) === '' || revision === updateRevision) return undefined;
  // Those should stay as they are: created again, the result would be the same.
  const kept = numberOf(fieldsOf(ordinals)['start']) + numberOf(fieldsOf(rollingUpdate)['partition']);
  const isKept = revision === currentRevision && Number(/-(\d+)$/.exec(name)?.[1]) < kept;
  return isKept ? undefined : revision;
}

/** One that has ended is replaced at once. */
function isWaitedFor({ metadata, status }: KubeObject): boolean {
  const { phase, conditions } = fieldsOf(status);
  const isReady = listOf(conditions).some(({ type, status: is }) => type === 'Ready' && is === 'True');
  return metadata.deletionTimestamp === undefined && !isReady && phase !== 'Failed' && phase !== 'Succeeded';
}

/** What keeps a workload from having the Pods that it should have. */
export const refusalOf = ({ status }: KubeObject): readonly string[] =>
  listOf(fieldsOf(status)['conditions'])
    .filter(({ type, status: is }) => type === 'ReplicaFailure' && is === 'True')
    .map(({ reason, message }) => `Pods are not created: ${textOf(reason)}${because(message)}`);

function troubleIn(container: Fields): readonly string[] {
  const who = `container "${textOf(container['name'])}" (${textOf(container['image'])})`;
  const state = fieldsOf(container['state']);
  const waiting = fieldsOf(state['waiting']);
  if (waiting['reason'] !== undefined && !ON_ITS_WAY.includes(textOf(waiting['reason']))) {
    const last = endOf(fieldsOf(container['lastState'])['terminated']);
    return [
      `${who}: ${textOf(waiting['reason'])}${because(waiting['message'])}${last === '' ? '' : `; before that it ${last}`}`,
    ];
  }
  const end = endOf(state['terminated']);
  if (end !== '') return [`${who} ${end}`];
  return state['running'] !== undefined && container['ready'] === false ? [`${who} runs and is not ready`] : [];
}

/** Of one that has ended as it should there is nothing to say. */
function endOf(terminated: unknown): string {
  const { exitCode, reason, message } = fieldsOf(terminated);
  if (typeof exitCode !== 'number' || exitCode === 0) return '';
  return `ended with exit code ${exitCode}${reason === undefined ? '' : ` (${textOf(reason)})`}${because(message)}`;
}

const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});
const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isObject) : []);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

const MAX_LETTERS = 300;

/** A container may write what it likes there. */
function because(message: unknown): string {
  const text = textOf(message).trim();
  return text === '' ? '' : `: ${text.length > MAX_LETTERS ? `${text.slice(0, MAX_LETTERS)} …` : text}`;
}
