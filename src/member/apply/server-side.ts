// Server-side apply of one manifest: the write, computed from the live object and its field managers. Pure.
//
// Guarantee: fields of other managers are taken only with `force`. Fields of our own client-side apply or creation are
// moved to our applied configuration first, as kubectl does, so that we never conflict with ourselves and fields
// dropped by the manifest are removed.
import { typeNameOf } from '../../api/builtin/types.ts';
import { annotations, fieldManagers } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import { canonicalJson, isObject, type Json, type JsonObject } from '../../base/json.ts';
import { dropped } from './client-side.ts';
import { configurationFor } from './leaving.ts';
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
  const managers = managersOf(live);
  const configuration = configurationFor(wanted, {
    live,
    ignored: each.ignored,
    typeName: typeNameOf(each.resource.group, each.resource.version, each.resource.kind),
    force,
    others: managers
      .filter((one) => !isStatus(one) && !OURS.includes(`${one['manager']}`))
      .map((one) => one['fieldsV1']),
  });
  const metadata = configuration['metadata'] as JsonObject;
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
  // A server that recorded no field managers does not reveal who wrote an object that existed before. An abandoned
  // object has only our manager.
  const isKnown = owners.isOurs || !wasThereBefore(live) || (writers.length > 0 && !writers.includes(BEFORE));
  const removes = owners.isOurs && Object.keys(removal.body).length > 0;
  const type = removes ? removal.type : 'merge';
  return {
    do: 'apply',
    body: {
      ...configuration,
      metadata: {
        ...metadata,
        annotations: {
          ...(metadata['annotations'] as JsonObject),
          ...(isKept ? { [annotations.takenOver]: 'true' } : {}),
        },
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

/** The manager of fields that were written while the server did not record managers. */
const BEFORE = 'before-first-apply';
const OURS: readonly string[] = [fieldManagers.apply, BEFORE];

const managersOf = ({ metadata }: KubeObject): readonly JsonObject[] =>
  ((metadata.managedFields ?? []) as readonly unknown[]).filter((each): each is JsonObject => isObject(each));

const isStatus = ({ subresource }: JsonObject): boolean => subresource !== undefined && subresource !== '';

/**
 * undefined = no change is needed. Once we own the applied fields, `before-first-apply` is removed, or it would keep
 * fields that the manifest drops; fields that only it owned stay on the object.
 */
function moveToApply(managers: readonly JsonObject[]): readonly Json[] | undefined {
  const isOurs = (each: JsonObject) => each['manager'] === fieldManagers.apply && !isStatus(each);
  const written = managers.filter((each) => isOurs(each) && each['operation'] === 'Update');
  const isBefore = (each: JsonObject) => each['manager'] === BEFORE && !isStatus(each);
  const [newest = managers.find((each) => isOurs(each))] = written;
  if (newest === undefined || (written.length === 0 && !managers.some(isBefore))) return undefined;
  // A field set of another version may have other field names, so only sets of the same version are merged.
  const same = managers.filter((each) => isOurs(each) && each['apiVersion'] === newest['apiVersion']);
  const fieldsV1 = same.map((each) => each['fieldsV1']).reduce(united);
  const rest = managers.filter((each) => !isOurs(each) && !isBefore(each));
  return [...rest, { ...newest, operation: 'Apply', ...(fieldsV1 === undefined ? {} : { fieldsV1 }) }];
}

/** The union of two field sets (fieldsV1). */
function united(a: Json | undefined, b: Json | undefined): Json | undefined {
  if (!isObject(a) || !isObject(b)) return b ?? a;
  const [left, right] = [a as JsonObject, b as JsonObject];
  const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])];
  return Object.fromEntries(keys.map((key) => [key, united(left[key], right[key]) as Json]));
}
