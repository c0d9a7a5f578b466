// Client-side apply of one manifest: a three-way merge of the last applied configuration, the manifest and the live
// object, as kubectl does it. Pure.
import { threeWayDifference } from '../../api/builtin/three-way.ts';
import { typeNameOf } from '../../api/builtin/types.ts';
import { annotations } from '../../api/names.ts';
import type { KubeObject, OwnerReference } from '../../api/object.ts';
import type { Json, JsonObject } from '../../base/json.ts';
import { overlaid } from '../compare/overlay.ts';
import { asIfApplied } from './leaving.ts';
import { withListsOf } from './leaving-lists.ts';
import type { Case, Dropped, Manner, Operation } from './manner.ts';
import { type Owners, ownersOf } from './ownership.ts';
import { wasThereBefore } from './taken-over.ts';
import { lastAppliedOf, recordIn } from './wanted.ts';

export const clientSide: Manner = { created: ({ object }) => object, change: difference };

function difference({ resource, wanted, owner, ignored }: Case, live: KubeObject, owners: Owners): Operation {
  const typeName = typeNameOf(resource.group, resource.version, resource.kind);
  const changes = threeWayDifference(
    {
      last: comparable(lastAppliedOf(live)),
      wanted: comparable(wanted.object as JsonObject),
      live: asIfApplied(live, wanted, ignored, typeName),
    },
    typeName,
  );
  const body = withListsOf(changes, live as JsonObject, ignored, typeName);
  if (owners.isAsWanted && Object.keys(body).length === 0) return { do: 'nothing' };
  const type = typeName === undefined ? 'merge' : 'strategic';
  const { uid, resourceVersion } = live.metadata;
  const said = body['metadata'] as JsonObject | undefined;
  const isFirst = !owners.isOurs && wasThereBefore(live);
  const metadata = {
    ...said,
    ...(isFirst
      ? { annotations: { ...(said?.['annotations'] as JsonObject | undefined), [annotations.takenOver]: 'true' } }
      : {}),
    ...(owners.isAsWanted ? {} : { ownerReferences: ownersPatch(live, owner, owners, type) }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  return { do: 'patch', type, body: { ...body, metadata }, takesOver: !owners.isOurs };
}

/** A strategic patch merges owners by uid; a merge patch must contain the whole list. */
function ownersPatch(live: KubeObject, owner: OwnerReference, owners: Owners, type: 'strategic' | 'merge'): Json {
  if (type === 'merge') return owners.wanted as unknown as Json;
  const gone = ownersOf(live).filter((each) => !owners.wanted.some(({ uid }) => uid === each.uid));
  return [{ ...owner }, ...gone.map(({ uid }) => ({ $patch: 'delete', uid }))];
}

/** Without the fields that are not compared: type, names, owners, and fields that only the server writes. */
function comparable(object: JsonObject): JsonObject {
  const { apiVersion: _apiVersion, kind: _kind, status: _status, metadata, ...rest } = object;
  const {
    name: _name,
    namespace: _namespace,
    generateName: _generateName,
    ownerReferences: _owners,
    ...meta
  } = (metadata ?? {}) as JsonObject;
  return { ...rest, metadata: meta };
}

/** The fields of the manifest that the live object does not have, as a patch without removals. */
export function missingFields(
  { resource, wanted, ignored }: Pick<Case, 'resource' | 'wanted' | 'ignored'>,
  live: KubeObject,
): JsonObject {
  const typeName = typeNameOf(resource.group, resource.version, resource.kind);
  const sides = {
    last: {},
    wanted: comparable(wanted.configuration as JsonObject),
    live: comparable(asIfApplied(live, wanted, ignored, typeName)),
  };
  return threeWayDifference(sides, typeName);
}

/**
 * What client-side apply placed and the manifest no longer has. The server cannot compute it, because our annotation is
 * the only record, and the server may not have recorded field managers then.
 */
export function dropped({ resource, wanted }: Case, live: KubeObject): Dropped {
  const typeName = typeNameOf(resource.group, resource.version, resource.kind);
  const configuration = comparable(wanted.configuration as JsonObject);
  const body = threeWayDifference(
    {
      last: comparable(recordIn(live)),
      wanted: configuration,
      // The manifest is laid over the live object, so the difference contains only removals.
      live: overlaid(configuration, live as JsonObject, typeName),
    },
    typeName,
  );
  return { type: typeName === undefined ? 'merge' : 'strategic', body };
}
