// The steps between a decoded draft and the store, for create, update and patch: defaults, the kind's own preparation,
// validation, and admission of our own kinds.
import { admitWith, readsOf } from '../../api/admission.ts';
import type { AdmitQuestion, Admitted } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { forbidden, invalid, notFound } from '../../api/status.ts';
import { mutableCopy } from '../../base/json.ts';
import type { Cluster } from '../cluster.ts';
import type { Draft, ServedResource, WriteContext } from '../registry.ts';
import { keyOf, prefixOf } from '../store/store.ts';
import type { At, Caller } from './call.ts';
import { validateMetadata, validateMetadataUpdate } from './metadata.ts';

export const NAMESPACES = { group: '', plural: 'namespaces' } as const;

export function writeContext(cluster: Cluster, at: At, caller: Caller, verb: 'create' | 'update'): WriteContext {
  return {
    cluster,
    user: caller.user,
    now: cluster.clock.now(),
    dryRun: caller.dryRun,
    verb,
    subresource: at.subresource,
    warn: (text) => caller.warn(text),
  };
}

/** A namespaced object needs an existing namespace that is not being deleted. */
export function checkNamespace(cluster: Cluster, at: At, name: string): void {
  if (!at.resource.namespaced) return;
  const namespace = cluster.store.get(keyOf('', 'namespaces', '', at.namespace), 'head')?.object();
  if (!namespace) throw notFound(NAMESPACES, at.namespace);
  if (namespace.metadata.deletionTimestamp === undefined) return;
  throw forbidden(
    at.resource,
    name,
    `unable to create new content in namespace ${at.namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${at.namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  );
}

/** `nulls`: 'keep' for an applied configuration, so that validation rejects a null without a default. */
export function fillDefaults(at: At, draft: Draft, nulls: 'delete' | 'keep' = 'delete'): void {
  // The behavior of a built-in kind applies the schema's defaults itself, at the right moment among its own.
  if (at.resource.custom) at.resource.stored.structure.default(draft, nulls);
  at.resource.behaviour.default?.(draft);
}

/** Validates a prepared draft and returns the object to be stored. Throws 422 with all causes. */
export function admit(at: At, draft: Draft, old: KubeObject | undefined, context: WriteContext): Draft {
  const { resource } = at;
  const object = draft as KubeObject;
  const causes = [
    ...(old === undefined ? validateMetadata(resource, object) : validateChangedMetadata(at, object, old)),
    ...(resource.custom ? resource.stored.structure.validate(object, old) : []),
    ...(resource.behaviour.validate?.(object, old, context) ?? []),
  ];
  if (causes.length > 0) throw invalid(keptAs(resource), draft.metadata.name ?? '', causes);
  return resource.admission ? admitOwn(at, draft, old, context) : draft;
}

function validateChangedMetadata(at: At, object: KubeObject, old: KubeObject) {
  return object.metadata === old.metadata
    ? []
    : [...validateMetadata(at.resource, object), ...validateMetadataUpdate(object, old)];
}

function admitOwn(at: At, draft: Draft, old: KubeObject | undefined, context: WriteContext): Draft {
  const { resource } = at;
  const admitted = admitHere(context.cluster, resource, {
    verb: context.verb,
    ...(at.subresource === 'status' || at.subresource === 'scale' ? { subresource: at.subresource } : {}),
    dryRun: context.dryRun,
    now: context.now,
    user: context.user,
    object: draft as KubeObject,
    ...(old === undefined ? {} : { old }),
  });
  if (!admitted) return draft;
  if (!admitted.ok) throw invalid(resource, draft.metadata.name ?? '', admitted.causes);
  for (const warning of admitted.warnings) context.warn(warning);
  if (admitted.object === (draft as KubeObject)) return draft;
  const causes = resource.stored.structure.validate(admitted.object, old);
  if (causes.length > 0) throw invalid(keptAs(resource), draft.metadata.name ?? '', causes);
  return mutableCopy(admitted.object) as Draft;
}

/**
 * Admission reads the head, so that of two concurrent writers the second sees the first. If the first write never
 * becomes durable, the second does not either.
 */
export function admitHere(
  { store }: Cluster,
  { admission }: ServedResource,
  question: AdmitQuestion<unknown, unknown>,
): Admitted | undefined {
  if (admission === undefined) return undefined;
  const reads = readsOf(admission, question);
  const fetched = reads.map(({ resource: { group, plural }, namespace, name }) => {
    if (name === undefined)
      return store.rangeAtHead(prefixOf(group, plural, namespace)).map((stored) => stored.object());
    const stored = store.get(keyOf(group, plural, namespace ?? '', name), 'head');
    return stored === undefined ? [] : [stored.object()];
  });
  return admitWith(admission, question, reads, fetched);
}

/** Errors name the stored kind: Events of the newer group are core Events. */
const keptAs = ({ keptAs: kept, group, kind }: ServedResource) => ({ group: (kept ?? { group }).group, kind });
