// The label selector of Kubernetes; selectors that do not parse are rejected at admission.
import { type Infer, rule, s } from './build.ts';
import { LABEL_VALUE, LABEL_VALUE_LENGTH, QUALIFIED_NAME, QUALIFIED_NAME_LENGTH } from './patterns.ts';

const expression = s.object(
  {
    key: s.string({ doc: 'The label key.', pattern: QUALIFIED_NAME, maxLength: QUALIFIED_NAME_LENGTH }),
    operator: s.oneOf(['In', 'NotIn', 'Exists', 'DoesNotExist'], { doc: 'How the label is compared with the values.' }),
    values: s.optional(
      s.array(s.string({ doc: 'A label value.', pattern: LABEL_VALUE, maxLength: LABEL_VALUE_LENGTH }), {
        doc: 'The values for In and NotIn; none for Exists and DoesNotExist.',
      }),
    ),
  },
  {
    doc: 'One requirement on a label.',
    rules: [
      rule(
        "self.operator in ['In', 'NotIn'] ? has(self.values) && size(self.values) > 0 : !has(self.values) || size(self.values) == 0",
        'In and NotIn need values; Exists and DoesNotExist take none',
      ),
    ],
  },
);

/** The maximum on matchExpressions keeps the CEL cost of the rule bounded for the API server. */
export const labelSelector = (doc: string) =>
  s.object(
    {
      matchLabels: s.optional(
        s.map(s.string({ doc: 'The required value.', pattern: LABEL_VALUE, maxLength: LABEL_VALUE_LENGTH }), {
          doc: 'Labels that the object must have, with these values.',
        }),
      ),
      matchExpressions: s.optional(s.array(expression, { doc: 'Further requirements; all must hold.', maxItems: 100 })),
    },
    { doc, atomic: true },
  );

export type LabelSelector = Infer<ReturnType<typeof labelSelector>>;
