// Which objects of the hub a placement or an override selects.
import { type Infer, rule, s } from './build.ts';
import { labelSelector } from './label-selector.ts';

// The maximum lengths are those of Kubernetes; they keep the CEL cost of comparing selectors bounded.
const groupVersionKind = {
  group: s.string({ doc: 'API group; empty for core.', maxLength: 253 }),
  version: s.string({ doc: 'API version.', maxLength: 63 }),
  kind: s.string({ doc: 'Kind.', maxLength: 63 }),
};

export const selectionScopes = ['NamespaceOnly', 'NamespaceWithResources', 'NamespaceWithResourceSelectors'] as const;

/** By kind, by name or by labels. */
export const resourceSelector = s.object(
  {
    ...groupVersionKind,
    name: s.optional(s.string({ doc: 'Name of the object; absent means all objects of the kind.', maxLength: 1024 })),
    labelSelector: s.optional(labelSelector('Labels of the objects.')),
    selectionScope: s.defaulted(
      s.oneOf(selectionScopes, {
        doc: 'For a Namespace: it alone, it with all it contains, or it with what the other selectors pick inside it.',
      }),
      'NamespaceWithResources',
    ),
  },
  { doc: 'Selects objects.' },
);
export type ResourceSelector = Infer<typeof resourceSelector>;

export const placementResourceSelector = s.ruled(resourceSelector, [
  rule(
    "!(has(self.name) && self.name != '' && has(self.labelSelector))",
    'a selector takes a name or a labelSelector, not both',
  ),
]);

/** Exactly one object in the namespace of the override or placement. */
export const namedResource = s.object(
  { ...groupVersionKind, name: s.string({ doc: 'Name.', maxLength: 1024 }) },
  { doc: 'Names one object.' },
);

/** No two selectors of a list select the same object. `list`: its name, for the message. */
export const selectsOnce = (list: string) =>
  rule(
    `self.${list}.all(one, self.${list}.exists_one(other, other.group == one.group && other.version == one.version && other.kind == one.kind && (has(other.name) ? other.name : '') == (has(one.name) ? one.name : '')))`,
    `${list} selects an object twice`,
    `.${list}`,
  );
