// ControllerRevisions and PodTemplates: the history that controllers keep for rollbacks.
import { forbiddenField, required } from '../../api/status.ts';
import { deepEqual } from '../../base/json.ts';
import type { Behaviour } from '../registry.ts';
import { behaviour } from './behaviour.ts';
import type { PodTemplate } from './drafts.ts';
import { nonNegative } from './field-checks.ts';
import { podTemplateCauses } from './pod-spec-validation.ts';
import { defaultTemplate, dropFromTemplate } from './workloads.ts';

export const controllerRevision: Behaviour = behaviour({
  validate(object, old) {
    const { data } = object;
    return [
      ...nonNegative('revision', object.revision as number),
      ...(data === undefined || data === null ? [required('data', 'data is mandatory')] : []),
      ...(old !== undefined && !deepEqual(data, old.data) ? [forbiddenField('data', 'field is immutable')] : []),
    ];
  },
});

export const podTemplate: Behaviour = behaviour({
  countsGeneration: true,
  returnsDeleted: true,
  default(draft) {
    draft.template ??= {};
    defaultTemplate(draft.template as PodTemplate);
  },
  drop: (draft) => dropFromTemplate(draft.template as PodTemplate),
  validate: (object) => podTemplateCauses('template', object.template as PodTemplate),
});
