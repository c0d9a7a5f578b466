// Folds the responses of writes into the caches.
import type { KubeObject } from '../api/object.ts';
import type { Answer } from '../api/transport.ts';
import { isObject } from '../base/json.ts';
import type { Informers } from './informers.ts';
import type { EndWrite } from './own-writes.ts';
import type { Place } from './place.ts';

export interface Folds extends Pick<Informers, 'fold' | 'foldGone' | 'foldEnded' | 'look'> {
  /** Registers a write in flight; the writer ends it after its response was folded in. */
  writes(place: Place): EndWrite;
  /** The controller is expected to read this new object in full soon. */
  made(place: Place, object: KubeObject): void;
}

/** The object in a response; a Status does not count. */
export const objectIn = ({ object }: Answer): KubeObject | undefined =>
  object === undefined || (object.kind === 'Status' && object.apiVersion === 'v1') ? undefined : object;

export function foldWritten(informers: Folds, place: Place, object: KubeObject | undefined): void {
  if (object === undefined) return;
  if (hasEnded(object)) informers.foldEnded(place, object);
  else informers.fold(place.on, place.resource, object);
}

/**
 * A server returns the object if finalizers or a grace period keep it, else a Status or the final state of the object.
 */
export function foldDeleted(informers: Folds, place: Place, uid: string, object: KubeObject | undefined): void {
  if (object?.metadata.deletionTimestamp === undefined) informers.foldGone(place, uid);
  else foldWritten(informers, place, object);
}

/**
 * Marked for deletion without finalizers: this write deleted the object. Namespaces have finalizers in their spec, and
 * Pods a grace period.
 */
function hasEnded({ metadata, spec }: KubeObject): boolean {
  if (metadata.deletionTimestamp === undefined || (metadata.finalizers ?? []).length > 0) return false;
  if ((metadata.deletionGracePeriodSeconds ?? 0) > 0) return false;
  const held = isObject(spec) ? spec['finalizers'] : undefined;
  return !(Array.isArray(held) && held.length > 0);
}
