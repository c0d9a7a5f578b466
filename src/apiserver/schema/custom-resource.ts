// The resource that the server serves for a CustomResourceDefinition. Structures, tables and conversions are shared by
// all clusters with equal CRDs; only the identity of the CRD belongs to one cluster.
import type { FieldCause } from '../../api/kind.ts';
import { apiVersionOf, type KubeObject } from '../../api/object.ts';
import type { Schema } from '../../api/schema.ts';
import { forbidden, invalidValue } from '../../api/status.ts';
import { mutableCopy } from '../../base/json.ts';
import { compileFirst } from '../../base/json-path.ts';
import { dnsSubdomainErrors, nameErrorBy, qualifiedNameErrors } from '../../base/names.ts';
import { customTable } from '../builtin/tables/custom.ts';
import type { Behaviour, Draft, ScaleShape, ServedResource, ServedVersion, WriteContext } from '../registry.ts';
import { KEEPS_OWNED_METADATA } from '../status-keeps.ts';
import { type Crd, type CrdSpec, type CrdVersion, hasCondition } from './crd.ts';
import { sharedSchema } from './shared-schema.ts';
import { structureOf } from './structure.ts';
import { byPreference } from './version-order.ts';

export interface CustomResourceOptions {
  /** Our own kinds: validation beyond the schema. */
  readonly admission?: ServedResource['admission'];
}

const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const TERMINATING_VERBS = ['delete', 'deletecollection', 'get', 'list', 'watch'];
/**
 * While the CRD is being deleted its objects are mutable, because finalizers must be removed. `prepare` rejects
 * creates.
 */
const UNLISTED_VERBS = VERBS.filter((verb) => !TERMINATING_VERBS.includes(verb));

/** A CRD without a schema stores everything; only old ones have none. */
const ANYTHING: Schema = Object.freeze({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true });

export function servedResourceOf(crd: Crd, options: CustomResourceOptions = {}): ServedResource {
  const { spec } = crd;
  const { versions, stored } = servedVersions(spec);
  // The accepted names; before that, the requested ones.
  const accepted = crd.status?.acceptedNames;
  const names = accepted?.kind ? accepted : spec.names;
  const isTerminating = hasCondition(crd, 'Terminating');
  const scale = scaleOf(spec.versions);
  const hasStatus = spec.versions.some((version) => version.subresources?.status !== undefined);
  return {
    group: spec.group,
    plural: names.plural,
    singular: names.singular || names.kind.toLowerCase(),
    kind: names.kind,
    listKind: names.listKind || `${names.kind}List`,
    namespaced: spec.scope === 'Namespaced',
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    ...(isTerminating ? { verbs: TERMINATING_VERBS, unlistedVerbs: UNLISTED_VERBS } : { verbs: VERBS }),
    versions,
    stored,
    hasStatus,
    ...(scale === undefined ? {} : { scale }),
    subresources: [],
    behaviour: behaviourOf(spec, scale, isTerminating),
    ...(options.admission === undefined ? {} : { admission: options.admission }),
    custom: { crdName: crd.metadata.name ?? '', crdUid: crd.metadata.uid ?? '' },
  };
}

// ---- versions

const versionsBySpec = new WeakMap<CrdSpec, ReturnType<typeof makeVersions>>();

function servedVersions(spec: CrdSpec): ReturnType<typeof makeVersions> {
  let made = versionsBySpec.get(spec);
  if (made === undefined) {
    made = makeVersions(spec);
    versionsBySpec.set(spec, made);
  }
  return made;
}

function makeVersions(spec: CrdSpec): { readonly versions: readonly ServedVersion[]; readonly stored: ServedVersion } {
  const storage = spec.versions.find((version) => version.storage) ?? spec.versions[0];
  if (storage === undefined) throw new Error(`CustomResourceDefinition of ${spec.names.plural} has no version`);
  const storedSchema = schemaOf(storage);
  const all = spec.versions.map((version) => {
    const schema = schemaOf(version);
    const served: ServedVersion = {
      version: version.name,
      served: version.served,
      schema,
      structure: structureOf(schema),
      table: customTable(version.additionalPrinterColumns ?? []),
      ...(schema === storedSchema
        ? {}
        : {
            convert: {
              toStored: converter(storedSchema, apiVersionOf(spec.group, storage.name)),
              fromStored: converter(schema, apiVersionOf(spec.group, version.name)),
            },
          }),
      ...(version.deprecated === true
        ? {
            deprecationWarning:
              version.deprecationWarning ?? `${spec.group}/${version.name} ${spec.names.kind} is deprecated`,
          }
        : {}),
    };
    return served;
  });
  const stored = all.find(({ version }) => version === storage.name) as ServedVersion;
  const versions = all.filter(({ served }) => served).sort((a, b) => byPreference(a.version, b.version));
  return { versions, stored };
}

const schemaOf = (version: CrdVersion): Schema => sharedSchema(version.schema?.openAPIV3Schema ?? ANYTHING);

/** Conversion without a webhook changes the version only, followed by pruning and defaulting of the other version. */
const converter =
  (schema: Schema, apiVersion: string) =>
  (object: KubeObject): KubeObject => {
    const draft = mutableCopy(object) as Draft;
    draft.apiVersion = apiVersion;
    const structure = structureOf(schema);
    structure.prune(draft);
    structure.default(draft);
    return draft as KubeObject;
  };

function scaleOf(versions: readonly CrdVersion[]): ScaleShape | undefined {
  const scale = versions.find((version) => version.subresources?.scale !== undefined)?.subresources?.scale;
  if (scale === undefined) return undefined;
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
  return { specReplicasPath, statusReplicasPath, ...(labelSelectorPath ? { labelSelectorPath } : {}) };
}

// ---- behaviour

const nameError = nameErrorBy(dnsSubdomainErrors);

function behaviourOf(spec: CrdSpec, scale: ScaleShape | undefined, isTerminating: boolean): Behaviour {
  const selectable = selectableFieldsOf(spec.versions);
  return {
    countsGeneration: true,
    createOnUpdate: false,
    unconditionalUpdate: false,
    returnsDeleted: false,
    plainFinalizers: true,
    statusKeeps: KEEPS_OWNED_METADATA,
    nameError,
    ...(isTerminating
      ? {
          prepare(draft: Draft, old: KubeObject | undefined): void {
            if (old !== undefined) return;
            const why = 'create not allowed while custom resource definition is terminating';
            throw forbidden({ group: spec.group, plural: spec.names.plural }, draft.metadata.name ?? '', why);
          },
        }
      : {}),
    validate(object, old, context) {
      warnOfFinalizers(object, old, context);
      return scale === undefined ? [] : scaleCauses(object, scale);
    },
    ...(Object.keys(selectable).length === 0 ? {} : { selectableFields: selectable }),
  };
}

function selectableFieldsOf(versions: readonly CrdVersion[]): NonNullable<Behaviour['selectableFields']> {
  const fields: Record<string, (object: KubeObject) => string> = {};
  for (const { jsonPath } of versions.flatMap((version) => version.selectableFields ?? [])) {
    const read = compileFirst(jsonPath);
    fields[jsonPath.replace(/^\./, '')] = (object) => {
      const value = read(object);
      return value === undefined || value === null ? '' : String(value);
    };
  }
  return fields;
}

const MAX_REPLICAS = 2 ** 31 - 1;

function scaleCauses(object: KubeObject, scale: ScaleShape): readonly FieldCause[] {
  return [scale.specReplicasPath, scale.statusReplicasPath].flatMap((path) => {
    const replicas = compileFirst(path)(object);
    if (typeof replicas !== 'number') return [];
    if (replicas < 0) return [invalidValue(path, replicas, 'should be a non-negative integer')];
    return replicas > MAX_REPLICAS
      ? [invalidValue(path, replicas, `should be less than or equal to ${MAX_REPLICAS}`)]
      : [];
  });
}

const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

function warnOfFinalizers(object: KubeObject, old: KubeObject | undefined, context: WriteContext): void {
  const before = old?.metadata.finalizers ?? [];
  const added = (object.metadata.finalizers ?? []).filter((each) => !before.includes(each));
  for (const finalizer of added.toSorted()) {
    const say = (why: string): void => context.warn(`metadata.finalizers: ${JSON.stringify(finalizer)}: ${why}`);
    for (const error of qualifiedNameErrors(finalizer)) say(error);
    if (finalizer.includes('/') || STANDARD_FINALIZERS.has(finalizer)) continue;
    const path = finalizer.includes('.') ? ' including a path (/)' : '';
    say(`prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`);
  }
}
