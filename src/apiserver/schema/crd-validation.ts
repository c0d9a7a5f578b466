// Validation of a CustomResourceDefinition, including its immutable fields.
import type { FieldCause } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Schema } from '../../api/schema.ts';
import { forbiddenField, invalidValue, required, unsupportedValue } from '../../api/status.ts';
import { deepEqual } from '../../base/json.ts';
import { dns1035LabelErrors, dnsSubdomainErrors } from '../../base/names.ts';
import { type Crd, type CrdNames, type CrdSpec, type CrdVersion, hasCondition } from './crd.ts';
import { schemaCauses, selectableFieldCauses } from './crd-schema.ts';

export function validateCrd(object: KubeObject, old: KubeObject | undefined): readonly FieldCause[] {
  const crd = object as Crd;
  const before = old as Crd | undefined;
  const spec: Partial<CrdSpec> = crd.spec ?? {};
  const causes: FieldCause[] = [];
  const name = crd.metadata.name ?? '';
  if (before === undefined && name !== `${spec.names?.plural ?? ''}.${spec.group ?? ''}`) {
    causes.push(invalidValue('metadata.name', name, 'must be spec.names.plural+"."+spec.group'));
  }
  causes.push(...specCauses(spec));
  if (before !== undefined) causes.push(...immutableCauses(crd.spec, before));
  causes.push(...storedVersionCauses(crd), ...approvalCauses(crd, before));
  if (spec.preserveUnknownFields === true && before?.spec.preserveUnknownFields !== true) {
    const why =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
    causes.push(invalidValue('spec.preserveUnknownFields', true, why));
  }
  return causes;
}

/** Unknown formats are ignored, with a warning. */
export function formatWarnings(crd: Crd, isKnown: (format: string) => boolean): readonly string[] {
  const unknown = new Set<string>();
  const walk = (schema: Schema | undefined): void => {
    if (schema === undefined) return;
    if (schema.type === 'string' && schema.format && !isKnown(schema.format)) unknown.add(schema.format);
    for (const property of Object.values(schema.properties ?? {})) walk(property);
    walk(schema.items);
    if (typeof schema.additionalProperties === 'object') walk(schema.additionalProperties);
  };
  for (const version of crd.spec?.versions ?? []) walk(version.schema?.openAPIV3Schema);
  return [...unknown].map((format) => `unrecognized format ${JSON.stringify(format)}`);
}

function specCauses(spec: Partial<CrdSpec>): readonly FieldCause[] {
  const causes: FieldCause[] = [];
  const { group = '', scope, names, versions = [] } = spec;
  const groupErrors = dnsSubdomainErrors(group);
  if (group === '') causes.push(required('spec.group'));
  else if (groupErrors.length > 0) causes.push(invalidValue('spec.group', group, groupErrors.join(',')));
  else if (!group.includes('.')) {
    causes.push(invalidValue('spec.group', group, 'should be a domain with at least one dot'));
  }
  if (!scope) causes.push(required('spec.scope'));
  else if (scope !== 'Cluster' && scope !== 'Namespaced') {
    causes.push(unsupportedValue('spec.scope', scope, ['Cluster', 'Namespaced']));
  }
  causes.push(...versionsCauses(versions), ...requiredNames(names), ...namesCauses(names, 'spec.names'));
  const strategy = spec.conversion?.strategy;
  if (strategy === 'Webhook') {
    const why = 'this server calls no conversion webhooks; serve versions with compatible schemas and use None';
    causes.push(invalidValue('spec.conversion.strategy', strategy, why));
  } else if (strategy !== undefined && strategy !== 'None') {
    causes.push(
      strategy === ''
        ? required('spec.conversion.strategy')
        : unsupportedValue('spec.conversion.strategy', strategy, ['None', 'Webhook']),
    );
  } else if (spec.conversion?.webhook !== undefined) {
    const why = 'should not be set when strategy is not set to Webhook';
    causes.push(forbiddenField('spec.conversion.webhookClientConfig', why));
  }
  return causes;
}

function versionsCauses(versions: readonly CrdVersion[]): readonly FieldCause[] {
  const causes: FieldCause[] = [];
  for (const [at, version] of versions.entries()) {
    if (version.schema?.openAPIV3Schema === undefined) {
      causes.push(required(`spec.versions[${at}].schema.openAPIV3Schema`));
    }
  }
  for (const [at, version] of versions.entries()) {
    const errors = dns1035LabelErrors(version.name ?? '');
    if (errors.length > 0) {
      causes.push(invalidValue(`spec.versions[${at}].name`, version.name ?? '', errors.join(',')));
    }
    for (const why of deprecationErrors(version)) {
      causes.push(invalidValue(`spec.versions[${at}].deprecationWarning`, version.deprecationWarning, why));
    }
  }
  // A server stores the properties that all versions share once, and error messages name that place.
  const isAlike = (get: (version: CrdVersion) => unknown): boolean =>
    versions.every((version) => get(version) !== undefined && deepEqual(get(version), get(versions[0] as CrdVersion)));
  const each = (
    get: (version: CrdVersion) => unknown,
    once: string,
    inVersion: string,
    check: (version: CrdVersion, path: string) => readonly FieldCause[],
  ): void => {
    const [first] = versions;
    if (first === undefined) return;
    if (isAlike(get)) causes.push(...check(first, once));
    else
      for (const [at, version] of versions.entries())
        causes.push(...check(version, `spec.versions[${at}].${inVersion}`));
  };
  each(
    (version) => version.schema,
    'spec.validation.openAPIV3Schema',
    'schema.openAPIV3Schema',
    ({ schema, subresources }, path) =>
      schema?.openAPIV3Schema === undefined
        ? []
        : schemaCauses(schema.openAPIV3Schema, path, subresources?.status !== undefined),
  );
  each((version) => version.subresources, 'spec.subresources', 'subresources', scaleCauses);
  each(
    (version) => version.additionalPrinterColumns,
    'spec.additionalPrinterColumns',
    'additionalPrinterColumns',
    columnCauses,
  );
  each(
    (version) => version.selectableFields,
    'spec.selectableFields',
    'selectableFields',
    ({ selectableFields, schema }, path) =>
      selectableFieldCauses(selectableFields ?? [], schema?.openAPIV3Schema, path),
  );
  if (new Set(versions.map((version) => version.name)).size < versions.length) {
    causes.push(invalidValue('spec.versions', versions.map(asServer), 'must contain unique version names'));
  }
  if (versions.filter((version) => version.storage).length !== 1) {
    const why = 'must have exactly one version marked as storage version';
    causes.push(invalidValue('spec.versions', versions.map(asServer), why));
  }
  const firstErrors = versions[0] === undefined ? [] : dns1035LabelErrors(versions[0].name ?? '');
  if (firstErrors.length > 0) causes.push(invalidValue('spec.version', versions[0]?.name, firstErrors.join(',')));
  return causes;
}

/** A version as in error messages: the server's internal record, without the properties that all versions share. */
const asServer = (version: CrdVersion): object => ({
  Name: version.name,
  Served: version.served,
  Storage: version.storage,
  Deprecated: version.deprecated ?? false,
  DeprecationWarning: version.deprecationWarning ?? null,
  Schema: null,
  Subresources: null,
  AdditionalPrinterColumns: null,
  SelectableFields: null,
});

function deprecationErrors({ deprecated, deprecationWarning: text }: CrdVersion): readonly string[] {
  if (text === undefined) return [];
  if (deprecated !== true) return ['can only be set for deprecated versions'];
  if (text === '') return ['must not be an empty string'];
  const errors = text.length > 256 ? ['must be <= 256 characters long'] : [];
  const bad = [...text].findIndex((char) => /[\p{C}]/u.test(char));
  if (bad < 0) return errors;
  return [...errors, `must only contain printable UTF-8 characters; non-printable character found at index ${bad}`];
}

function requiredNames(names: Partial<CrdNames> | undefined): readonly FieldCause[] {
  return (['plural', 'singular', 'kind', 'listKind'] as const)
    .filter((name) => !names?.[name])
    .map((name) => required(`spec.names.${name}`));
}

function namesCauses(names: Partial<CrdNames> | undefined, path: string): readonly FieldCause[] {
  const causes: FieldCause[] = [];
  const check = (value: string | undefined, at: string, isMixedCase = false): void => {
    if (!value) return;
    const errors = dns1035LabelErrors(isMixedCase ? value.toLowerCase() : value);
    if (errors.length === 0) return;
    const mixed = isMixedCase ? 'may have mixed case, but should otherwise match: ' : '';
    causes.push(invalidValue(`${path}.${at}`, value, `${mixed}${errors.join(',')}`));
  };
  check(names?.plural, 'plural');
  check(names?.singular, 'singular');
  check(names?.kind, 'kind', true);
  check(names?.listKind, 'listKind', true);
  for (const [at, name] of (names?.shortNames ?? []).entries()) check(name, `shortNames[${at}]`);
  if (names?.kind && names.kind === names.listKind) {
    causes.push(invalidValue(`${path}.listKind`, names.listKind, 'kind and listKind may not be the same'));
  }
  for (const [at, name] of (names?.categories ?? []).entries()) check(name, `categories[${at}]`);
  return causes;
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

function columnCauses({ additionalPrinterColumns = [] }: CrdVersion, path: string): readonly FieldCause[] {
  return additionalPrinterColumns.flatMap(({ name, type, format, jsonPath }, at) => {
    const where = `${path}[${at}]`;
    const causes: FieldCause[] = [];
    const types = `must be one of ${COLUMN_TYPES.join(',')}`;
    if (!name) causes.push(required(`${where}.name`));
    if (!type) causes.push(required(`${where}.type`, types));
    else if (!COLUMN_TYPES.includes(type)) causes.push(invalidValue(`${where}.type`, type, types));
    if (format && !COLUMN_FORMATS.includes(format)) {
      causes.push(invalidValue(`${where}.format`, format, `must be one of ${COLUMN_FORMATS.join(',')}`));
    }
    if (!jsonPath) causes.push(required(`${where}.JSONPath`));
    else causes.push(...simplePathCauses(jsonPath, `${where}.JSONPath`));
    return causes;
  });
}

const simplePathCauses = (path: string, where: string): readonly FieldCause[] =>
  path.startsWith('.') ? [] : [invalidValue(where, path, 'must be a simple json path starting with .')];

function scaleCauses({ subresources }: CrdVersion, path: string): readonly FieldCause[] {
  const scale = subresources?.scale;
  if (scale === undefined) return [];
  const check = (
    value: string | undefined,
    name: string,
    roots: readonly string[],
    isRequired: boolean,
  ): readonly FieldCause[] => {
    const where = `${path}.scale.${name}`;
    if (!value) return isRequired ? [required(where)] : [];
    const simple = simplePathCauses(value, where);
    if (simple.length > 0 || roots.some((root) => value.startsWith(`.${root}.`))) return simple;
    const under = roots.length === 1 ? `.${roots[0]}` : 'either .spec or .status';
    return [invalidValue(where, value, `should be a json path under ${under}`)];
  };
  return [
    ...check(scale.specReplicasPath, 'specReplicasPath', ['spec'], true),
    ...check(scale.statusReplicasPath, 'statusReplicasPath', ['status'], true),
    ...check(scale.labelSelectorPath, 'labelSelectorPath', ['spec', 'status'], false),
  ];
}

/** Names and scope determine where objects are stored. */
function immutableCauses(spec: CrdSpec, before: Crd): readonly FieldCause[] {
  const causes: FieldCause[] = [];
  const fixed = (value: unknown, old: unknown, path: string): void => {
    if (!deepEqual(value, old)) causes.push(invalidValue(path, value, 'field is immutable'));
  };
  if (hasCondition(before, 'Established')) {
    fixed(spec.scope, before.spec.scope, 'spec.scope');
    fixed(spec.names.kind, before.spec.names.kind, 'spec.names.kind');
  }
  fixed(spec.group, before.spec.group, 'spec.group');
  fixed(spec.names.plural, before.spec.names.plural, 'spec.names.plural');
  return causes;
}

function storedVersionCauses({ spec, status }: Crd): readonly FieldCause[] {
  const stored = status?.storedVersions ?? [];
  if (stored.length === 0) {
    return [invalidValue('status.storedVersions', null, 'must have at least one stored version')];
  }
  const versions = spec?.versions ?? [];
  const names = versions.map((version) => version.name);
  const missing = versions.filter((version) => version.storage && !stored.includes(version.name));
  const causes = missing.map(({ name }) =>
    invalidValue('status.storedVersions', stored, `must have the storage version ${name}`),
  );
  const gone = stored.flatMap((name, at) => {
    if (names.includes(name)) return [];
    const why = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    return [invalidValue(`status.storedVersions[${at}]`, name, why)];
  });
  return [...causes, ...gone];
}

const APPROVAL = 'api-approved.kubernetes.io';

/** Groups of the Kubernetes project require an approval annotation. */
function approvalCauses(crd: Crd, before: Crd | undefined): readonly FieldCause[] {
  const group = crd.spec?.group ?? '';
  const isProtected = ['k8s.io', 'kubernetes.io'].some((domain) => group === domain || group.endsWith(`.${domain}`));
  const approval = crd.metadata.annotations?.[APPROVAL];
  if (!isProtected || (before !== undefined && before.metadata.annotations?.[APPROVAL] === approval)) return [];
  const where = `metadata.annotations[${APPROVAL}]`;
  if (!approval) {
    const why = `protected groups must have approval annotation "${APPROVAL}", see https://github.com/kubernetes/enhancements/pull/1111`;
    return [required(where, why)];
  }
  if (approval.startsWith('unapproved') || /^https?:\/\/[^/]+/.test(approval)) return [];
  const why = `protected groups must have approval annotation "${APPROVAL}" with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111`;
  return [invalidValue(where, approval, why)];
}
