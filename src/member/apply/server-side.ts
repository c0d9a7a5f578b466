// Server-side apply of one manifest: which write it takes, from the live object and its field managers. Pure.
//
// Guarantee: fields of other managers are taken only with `force`. What our own client-side apply or creation wrote is moved to our applied
// configuration first, as kubectl does, so that we never conflict with ourselves and fields dropped by the manifest are removed.
import { annotations, fieldManagers } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import { canonicalJson, isObject, type Json, type JsonObject } from '../../base/json.ts';
import { dropped } from './client-side.ts';
import type { Case, Manner, ServerSideApply } from './manner.ts';
import type { Owners } from './ownership.ts';
import { isTakenOver, wasThereBefore } from './taken-over.ts';

export const serverSide: Manner = { created: ({ configuration }) => configuration, change };

function change(each: Case, live: KubeObject, owners: Owners): ServerSideApply {
  const { wanted, strategy } = each;
  const force = strategy.serverSideApplyConfig?.force ?? false;
  const removal = dropped(each, live);
  const { uid, resourceVersion, ownerReferences = [] } = live.metadata;
  const isKept = isTakenOver(live) || (!owners.isOurs && wasThereBefore(live));
  const { metadata } = wanted.configuration;
  const managers = managersOf(live);
  const moved = owners.isOurs ? moveToApply(managers) : undefined;
  const hasRecord = owners.isOurs && live.metadata.annotations?.[annotations.lastApplied] !== undefined;
  const removed = (owners.isOurs ? removal.body['metadata'] : undefined) as JsonObject | undefined;
  const marks = removed?.['annotations'] as JsonObject | undefined;
  const first = {
    ...removed,
    ...(moved === undefined ? {} : { managedFields: [...moved] }),
    ...(hasRecord ? { annotations: { ...marks, [annotations.lastApplied]: null } } : {}),
  };
  const writers = managers.filter((each) => !isStatus(each)).map((each) => `${each['manager']}`);
  // Who wrote what was there before we came is not known where the server recorded no managers. What we abandoned names us alone.
  const isKnown = owners.isOurs || !wasThereBefore(live) || (writers.length > 0 && !writers.includes(BEFORE));
  const removes = owners.isOurs && Object.keys(removal.body).length > 0;
  const type = removes ? removal.type : 'merge';
  return {
    do: 'apply',
    body: {
      ...wanted.configuration,
      metadata: {
        ...metadata,
        annotations: { ...metadata.annotations, ...(isKept ? { [annotations.takenOver]: 'true' } : {}) },
        ...(uid === undefined ? {} : { uid }),
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
      },
    } as unknown as JsonObject,
    force: force || (isKnown && writers.every((each) => OURS.includes(each))),
    takesOver: !owners.isOurs,
    ...(removes || Object.keys(first).length > 0
      ? { first: { type, body: { ...(removes ? removal.body : {}), metadata: first } } }
      : {}),
    drops: ownerReferences.map((each) => each.uid).filter((each) => !owners.wanted.some((one) => one.uid === each)),
    foreign: managers
      .filter((each) => !isStatus(each) && each['manager'] !== fieldManagers.apply)
      .map(({ manager, fieldsV1 }) => ({ name: `${manager}`, fields: canonicalJson(fieldsV1 ?? {}) })),
  };
}

/** Owns what was written while the server did not record managers. */
const BEFORE = 'before-first-apply';
const OURS: readonly string[] = [fieldManagers.apply, BEFORE];

const managersOf = ({ metadata }: KubeObject): readonly JsonObject[] =>
  ((metadata.managedFields ?? []) as readonly unknown[]).filter((each): each is JsonObject => isObject(each));

const isStatus = ({ subresource }: JsonObject): boolean => subresource !== undefined && subresource !== '';

/**
 * undefined = they are as they should be. Once we own what we applied, `before-first-apply` goes, or it would keep what the manifest drops; fields
 * that only it owned stay on the object.
 */
function moveToApply(managers: readonly JsonObject[]): readonly Json[] | undefined {
  const isOurs = (each: JsonObject) => each['manager'] === fieldManagers.apply && !isStatus(each);
  const written = managers.filter((each) => isOurs(each) && each['operation'] === 'Update');
  const isBefore = (each: JsonObject) => each['manager'] === BEFORE && !isStatus(each);
  const [newest = managers.find((each) => isOurs(each))] = written;
  if (newest === undefined || (written.length === 0 && !managers.some(isBefore))) return undefined;
  // Sets of another version name other fields: only those of the same version can be united.
  const same = managers.filter((each) => isOurs(each) && each['apiVersion'] === newest['apiVersion']);
  const fieldsV1 = same.map((each) => each['fieldsV1']).reduce(united);
  const rest = managers.filter((each) => !isOurs(each) && !isBefore(each));
  return [...rest, { ...newest, operation: 'Apply', ...(fieldsV1 === undefined ? {} : { fieldsV1 }) }];
}

/** Two sets of fields, as Kubernetes writes them. */
function united(a: Json | undefined, b: Json | undefined): Json | undefined {
  if (!isObject(a) || !isObject(b)) return b ?? a;
  const [left, right] = [a as JsonObject, b as JsonObject];
  const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])];
  return Object.fromEntries(keys.map((key) => [key, united(left[key], right[key]) as Json]));
}
