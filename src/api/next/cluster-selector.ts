// Which clusters are wanted, and how many, in the next generation of types.
import { type Infer, rule, s } from '../build.ts';
import { LABEL_VALUE, LABEL_VALUE_LENGTH, QUALIFIED_NAME, QUALIFIED_NAME_LENGTH } from '../patterns.ts';

const valuesFit = rule(
  "self.operator in ['In', 'NotIn'] ? has(self.values) && size(self.values) > 0 : self.operator in ['Exists', 'DoesNotExist'] ? !has(self.values) || size(self.values) == 0 : has(self.values) && size(self.values) == 1",
  'In and NotIn need values, Exists and DoesNotExist take none, the comparisons take exactly one',
);

const labelExpression = s.object(
  {
    key: s.string({ doc: 'The label key.', pattern: QUALIFIED_NAME, maxLength: QUALIFIED_NAME_LENGTH }),
    operator: s.oneOf(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt', 'Ge', 'Le', 'Eq', 'Ne'], {
      doc: 'How the label is compared with the values.',
    }),
    values: s.optional(s.array(s.string({ doc: 'A value.', maxLength: LABEL_VALUE_LENGTH }), { doc: 'The values.' })),
  },
  { doc: 'One requirement on a label.', rules: [valuesFit] },
);

const propertyExpression = s.object(
  {
    name: s.string({ doc: 'The property.', maxLength: 1024 }),
    operator: s.oneOf(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt', 'Ge', 'Le', 'Eq', 'Ne'], {
      doc: 'How the property is compared with the values.',
    }),
    values: s.optional(s.array(s.string({ doc: 'A value.', maxLength: 1024 }), { doc: 'The values.' })),
  },
  { doc: 'One requirement on a property.', rules: [valuesFit] },
);

export const clusterSelectorTerm = s.object(
  {
    matchLabels: s.optional(
      s.map(s.string({ doc: 'The value wanted.', pattern: LABEL_VALUE, maxLength: LABEL_VALUE_LENGTH }), {
        doc: 'Labels that must all be there with these values.',
        maxProperties: 10,
      }),
    ),
    matchLabelExpressions: s.optional(s.array(labelExpression, { doc: 'Requirements on labels.', maxItems: 10 })),
    matchClusterPropertyExpressions: s.optional(
      s.array(propertyExpression, { doc: 'Requirements on properties.', maxItems: 10 }),
    ),
  },
  { doc: 'One way for a cluster to match.' },
);

export const clusterSelector = s.object(
  {
    terms: s.optional(
      s.array(clusterSelectorTerm, { doc: 'A cluster matches when one of the terms does.', maxItems: 5 }),
    ),
    count: s.defaulted(
      s.intOrString({
        doc: 'How many clusters are wanted, 1 to 999, or All.',
        minimum: 1,
        maximum: 999,
        pattern: '^([1-9][0-9]{0,2}|All)$',
      }),
      1,
    ),
    minCount: s.optional(
      s.integer({ doc: 'With how many clusters the policy is content.', format: 'int32', minimum: 0, maximum: 999 }),
    ),
    whenUnfulfilled: s.defaulted(
      s.oneOf(['RequestCluster', 'KeepSearching'], { doc: 'What to do while clusters are missing.' }),
      'RequestCluster',
    ),
  },
  {
    doc: 'Selects clusters.',
    rules: [
      rule(
        "!has(self.minCount) || (type(self.count) == int ? self.minCount <= self.count : self.count == 'All' || self.minCount <= int(self.count))",
        'minCount must not be larger than count',
        '.minCount',
      ),
    ],
  },
);
export type ClusterSelector = Infer<typeof clusterSelector>;
