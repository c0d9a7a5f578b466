// The behavior of CustomResourceDefinitions: defaults, fields that the server sets, and what blocks their deletion.
import type { KubeObject } from '../../api/object.ts';
import { dnsSubdomainErrors, nameErrorBy } from '../../base/names.ts';
import type { Behaviour, Draft } from '../registry.ts';
import { CLEANUP_FINALIZER, type Crd, type CrdCondition, withCondition } from './crd.ts';
import { formatWarnings, validateCrd } from './crd-validation.ts';
import { formatCheck } from './formats.ts';

interface DraftSpec {
  names?: { kind?: string; singular?: string; listKind?: string };
  versions?: readonly { readonly name?: string; readonly storage?: boolean }[];
  conversion?: { strategy?: string };
}

interface DraftStatus {
  conditions?: readonly CrdCondition[] | null;
  acceptedNames?: unknown;
  storedVersions?: string[];
}

export function defaultCrd(draft: Draft): void {
  const spec = (draft.spec ?? {}) as DraftSpec;
  const names = spec.names;
  if (names?.kind) {
    names.singular ||= names.kind.toLowerCase();
    names.listKind ||= `${names.kind}List`;
  }
  if (draft.spec !== undefined) spec.conversion ??= { strategy: 'None' };
}

/** Clients cannot write the status; a new storage version is added to the stored versions. */
export function prepareCrd(draft: Draft, old: KubeObject | undefined): void {
  if (old === undefined) {
    draft.status = { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: [] };
  }
  const storage = (draft.spec as DraftSpec | undefined)?.versions?.find((version) => version.storage)?.name;
  const status = (draft.status ?? {}) as DraftStatus;
  draft.status = status;
  status.storedVersions ??= [];
  if (storage !== undefined && !status.storedVersions.includes(storage)) status.storedVersions.push(storage);
}

/** From the start of a deletion the clean-up of instances blocks it. */
export function markCrdTerminating(draft: Draft): void {
  const finalizers = draft.metadata.finalizers ?? [];
  if (!finalizers.includes(CLEANUP_FINALIZER)) draft.metadata.finalizers = [...finalizers, CLEANUP_FINALIZER];
  const status = (draft.status ?? {}) as DraftStatus;
  status.conditions = withCondition(
    status.conditions ?? [],
    {
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    },
    draft.metadata.deletionTimestamp ?? '',
  );
  draft.status = status;
}

export const crdBehaviour: Behaviour = {
  countsGeneration: true,
  createOnUpdate: false,
  unconditionalUpdate: false,
  returnsDeleted: false,
  plainFinalizers: true,
  nameError: nameErrorBy(dnsSubdomainErrors),
  default: defaultCrd,
  prepare: prepareCrd,
  validate(object, old, context) {
    if (context.subresource === 'status') return [];
    for (const warning of formatWarnings(object as Crd, (format) => formatCheck(format) !== undefined)) {
      context.warn(warning);
    }
    return validateCrd(object, old);
  },
  markTerminating: markCrdTerminating,
};
