// Which objects a list or watch means: label and field selectors, compiled once per request.
import type { KubeObject } from '../../api/object.ts';
import { badRequest } from '../../api/status.ts';
import { messageOf } from '../../base/errors.ts';
import { parseFieldSelector } from '../../base/field-selector.ts';
import { everything, parseSelector } from '../../base/selector.ts';
import type { ServedResource } from '../registry.ts';
import type { At, Selection } from './call.ts';

export interface Selected {
  /** No selector at all: every object matches, and counting needs no look at them. */
  readonly all: boolean;
  /** Set when only one name can match: no need to walk the rest. */
  readonly name?: string;
  matches(object: KubeObject): boolean;
}

const EVERY: Selected = { all: true, matches: () => true };

/** A name on the URL is a selector too: that is how a watch of one object is asked for. */
export function select(at: At, selection: Selection): Selected {
  const hasLabels = selection.labels !== undefined && selection.labels !== '';
  const hasFields = selection.fields !== undefined && selection.fields !== '';
  if (!hasLabels && !hasFields && at.name === undefined) return EVERY;
  const labels = hasLabels ? parsed(() => parseSelector(selection.labels as string)) : everything;
  const terms = (hasFields ? parsed(() => parseFieldSelector(selection.fields as string)) : []).map((term) => ({
    ...term,
    read: fieldReader(at.resource, term.field),
  }));
  const byName = terms.find((term) => term.field === 'metadata.name' && term.equal)?.value ?? at.name;
  return {
    all: false,
    ...(byName === undefined ? {} : { name: byName }),
    matches: (object) =>
      (at.name === undefined || object.metadata.name === at.name) &&
      (labels.empty || labels.matches(object.metadata.labels ?? {})) &&
      terms.every((term) => (term.read(object) === term.value) === term.equal),
  };
}

function fieldReader(resource: ServedResource, field: string): (object: KubeObject) => string {
  if (field === 'metadata.name') return (object) => object.metadata.name ?? '';
  if (field === 'metadata.namespace') return (object) => object.metadata.namespace ?? '';
  const read = resource.behaviour.selectableFields?.[field];
  if (!read) throw badRequest(`field label not supported: ${field}`);
  return read;
}

function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw badRequest(messageOf(error));
  }
}
