// What the answer to a write tells the caches.
import type { KubeObject } from '../api/object.ts';
import type { Answer } from '../api/transport.ts';
import { isObject } from '../base/json.ts';
import type { Informers } from './informers.ts';
import type { EndWrite } from './own-writes.ts';
import type { Place } from './place.ts';

export interface Folds extends Pick<Informers, 'fold' | 'foldGone' | 'foldEnded' | 'look'> {
  /** A write begins; its writer reports how it ended, after its response was folded in. */
  writes(place: Place): EndWrite;
  /** What was just made will be looked at. */
  made(place: Place, object: KubeObject): void;
}

/** The object that a server answered with; a Status is none. */
export const objectIn = ({ object }: Answer): KubeObject | undefined =>
  object === undefined || (object.kind === 'Status' && object.apiVersion === 'v1') ? undefined : object;

export function foldWritten(informers: Folds, place: Place, object: KubeObject | undefined): void {
  if (object === undefined) return;
  if (hasEnded(object)) informers.foldEnded(place, object);
  else informers.fold(place.on, place.resource, object);
}

/** A server answers with the object if it stays for a while, else with a Status or with the object's last state. */
export function foldDeleted(informers: Folds, place: Place, uid: string, object: KubeObject | undefined): void {
  if (object?.metadata.deletionTimestamp === undefined) informers.foldGone(place, uid);
  else foldWritten(informers, place, object);
}

/** Marked for deletion and without finalizers: this was its last change. Namespaces have finalizers of their own, Pods a time to end. */
function hasEnded({ metadata, spec }: KubeObject): boolean {
  if (metadata.deletionTimestamp === undefined || (metadata.finalizers ?? []).length > 0) return false;
  if ((metadata.deletionGracePeriodSeconds ?? 0) > 0) return false;
  const held = isObject(spec) ? spec['finalizers'] : undefined;
  return !(Array.isArray(held) && held.length > 0);
}
