// Why a Pod does not work, as its cluster reports it. Pure; it trusts no field, because the objects come from any
// cluster.
import type { KubeObject } from '../../api/object.ts';
import { isObject } from '../../base/json.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Waiting reasons that every Pod passes through. */
const ON_ITS_WAY: readonly string[] = ['ContainerCreating', 'PodInitializing'];

/** Empty = no problem, or nothing is reported yet. */
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
 * The outdated revision of a Pod whose StatefulSet has a newer one. The StatefulSet waits until the Pod is ready before
 * it replaces any, so a fix never reaches a broken Pod until the Pod is deleted. undefined = not the case.
 */
export function leftBehind(pod: KubeObject, set: KubeObject): string | undefined {
  const { podManagementPolicy, updateStrategy, ordinals } = fieldsOf(set.spec);
  const { type, rollingUpdate } = fieldsOf(updateStrategy);
  // With Parallel it does not wait for Pods, unless it uses OnDelete.
  const isReplaced = podManagementPolicy === 'Parallel' && type !== 'OnDelete';
  const { name = '', labels, ownerReferences = [] } = pod.metadata;
  const isOwn = ownerReferences.some(({ uid, controller }) => controller === true && uid === set.metadata.uid);
  if (isReplaced || !isOwn || !isWaitedFor(pod)) return undefined;
  const { currentRevision, updateRevision } = fieldsOf(set.status);
  const revision = textOf(labels?.[REVISION]);
  if (revision === '' || textOf(updateRevision) === '' || revision === updateRevision) return undefined;
  // Pods below the partition keep their revision: if they were deleted, they would be created with the same one.
  const kept = numberOf(fieldsOf(ordinals)['start']) + numberOf(fieldsOf(rollingUpdate)['partition']);
  const isKept = revision === currentRevision && Number(/-(\d+)$/.exec(name)?.[1]) < kept;
  return isKept ? undefined : revision;
}

/** A finished Pod is replaced at once. */
function isWaitedFor({ metadata, status }: KubeObject): boolean {
  const { phase, conditions } = fieldsOf(status);
  const isReady = listOf(conditions).some(({ type, status: is }) => type === 'Ready' && is === 'True');
  return metadata.deletionTimestamp === undefined && !isReady && phase !== 'Failed' && phase !== 'Succeeded';
}

/** Why the Pods of a workload are not created. */
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

/** A container that exited with 0 is no problem. */
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

/** A container may write anything into this message. */
function because(message: unknown): string {
  const text = textOf(message).trim();
  return text === '' ? '' : `: ${text.length > MAX_LETTERS ? `${text.slice(0, MAX_LETTERS)} …` : text}`;
}
