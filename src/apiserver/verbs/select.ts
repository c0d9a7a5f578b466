// The selection of a list or watch: label and field selectors, compiled once per request.
import type { KubeObject } from '../../api/object.ts';
import { badRequest } from '../../api/status.ts';
import { compileFields, type FieldReaders, parseFieldSelector } from '../../base/field-selector.ts';
import { everything, parseSelector } from '../../base/selector.ts';
import type { ServedResource } from '../registry.ts';
import type { At, Selection } from './call.ts';

export interface Selected {
  /** No selector: every object matches, and counting reads none of them. */
  readonly all: boolean;
  /** Set if only one name can match, so that no other object is read. */
  readonly name?: string;
  matches(object: KubeObject): boolean;
}

const EVERY: Selected = { all: true, matches: () => true };

/** A name in the URL is a selector, too: it requests a watch of one object. */
export function select(at: At, selection: Selection): Selected {
  const hasLabels = selection.labels !== undefined && selection.labels !== '';
  const hasFields = selection.fields !== undefined && selection.fields !== '';
  if (!hasLabels && !hasFields && at.name === undefined) return EVERY;
  const labels = hasLabels ? parseSelector(selection.labels as string) : everything;
  const terms = hasFields ? parseFieldSelector(selection.fields as string) : [];
  const fields = compileFields(terms, { ...COMMON_FIELDS, ...at.resource.behaviour.selectableFields });
  if (fields.unknownField !== undefined) throw badRequest(unknownFieldText(at.resource, fields.unknownField));
  const byName = terms.find((term) => term.field === 'metadata.name' && term.equal)?.value ?? at.name;
  return {
    all: false,
    ...(byName === undefined ? {} : { name: byName }),
    matches: (object) =>
      (at.name === undefined || object.metadata.name === at.name) &&
      (labels.empty || labels.matches(object.metadata.labels ?? {})) &&
      fields.matches(object),
  };
}

const COMMON_FIELDS: FieldReaders<KubeObject> = {
  'metadata.name': (object) => object.metadata.name ?? '',
  'metadata.namespace': (object) => object.metadata.namespace ?? '',
};

/** A real server has two messages: for kinds with additional field selectors, and for kinds without. */
const unknownFieldText = ({ custom, behaviour }: ServedResource, field: string): string =>
  custom || behaviour.selectableFields
    ? `field label not supported: ${field}`
    : `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`;
