// Conditions of placed objects that do not count for their availability. The meaning is that of Rancher Fleet's fleet.yaml.
import { type Infer, s } from './build.ts';

export const MAX_IGNORED_CONDITIONS = 50;
export const MAX_CONDITION_FIELDS = 8;
export const MAX_CONDITION_VALUE = 256;

export const ignoredConditions = s.array(
  s.map(s.string({ doc: 'The value of the field.', maxLength: MAX_CONDITION_VALUE }), {
    doc: 'Fields of a condition, such as type and status. A condition matches if it has all of these values.',
    minProperties: 1,
    maxProperties: MAX_CONDITION_FIELDS,
  }),
  {
    doc: 'Conditions in the status of placed objects that do not count for their availability.',
    maxItems: MAX_IGNORED_CONDITIONS,
  },
);
export type IgnoredCondition = Infer<typeof ignoredConditions>[number];
