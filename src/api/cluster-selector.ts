// Terms that select or rank member clusters by labels and properties.
import { type Infer, s } from './build.ts';
import { labelSelector } from './label-selector.ts';
import { QUANTITY } from './patterns.ts';
import { PROPERTY_NAME, PROPERTY_NAME_LENGTH } from './property-name.ts';

const propertyName = (doc: string) => s.string({ doc, pattern: PROPERTY_NAME, maxLength: PROPERTY_NAME_LENGTH });

const propertyExpression = s.object(
  {
    name: propertyName('The property, such as resources.kubernetes-fleet.io/available-cpu.'),
    operator: s.oneOf(['Gt', 'Ge', 'Eq', 'Ne', 'Lt', 'Le'], { doc: 'How the property is compared with the value.' }),
    values: s.array(s.string({ doc: 'A quantity.', pattern: QUANTITY, maxLength: 64 }), {
      doc: 'Exactly one quantity.',
      minItems: 1,
      maxItems: 1,
    }),
  },
  { doc: 'One comparison of a property.' },
);
export type PropertyExpression = Infer<typeof propertyExpression>;

export const propertySelector = s.object(
  { matchExpressions: s.array(propertyExpression, { doc: 'Comparisons that must all hold.', maxItems: 100 }) },
  { doc: 'Selects clusters by their properties.' },
);

export const propertySorter = s.object(
  {
    name: propertyName('The property to rank by.'),
    sortOrder: s.oneOf(['Ascending', 'Descending'], { doc: 'Which end of the ranking is preferred.' }),
  },
  { doc: 'Ranks clusters by a property.' },
);
export type PropertySorter = Infer<typeof propertySorter>;

const term = {
  labelSelector: s.optional(labelSelector('Labels that the cluster must have.')),
  propertySelector: s.optional(propertySelector),
  propertySorter: s.optional(propertySorter),
};

export const clusterSelectorTerm = s.object(term, { doc: 'One way for a cluster to match.' });
/** A term that may name a ClusterGroup, which is a kind of Flotilla. */
export const groupSelectorTerm = s.object(
  {
    ...term,
    clusterGroup: s.optional(
      s.string({ doc: 'The name of a ClusterGroup that the cluster must be in.', maxLength: 253 }),
    ),
  },
  { doc: 'One way for a cluster to match.' },
);
export type ClusterSelectorTerm = Infer<typeof clusterSelectorTerm>;
export type GroupSelectorTerm = Infer<typeof groupSelectorTerm>;
