// ClusterResourceOverride and ResourceOverride: how placed objects differ between clusters.
import { defineKind, type Infer, rule, s, type Typed, type WithSpec } from './build.ts';
import { clusterSelectorTerm } from './cluster-selector.ts';
import { age, text, wide } from './columns.ts';
import { placementGroup, V1_AND_ALPHA } from './groups.ts';
import type { Column, Kind } from './kind.ts';
import { overrideAdmission } from './override-admission.ts';
import { namedResource, resourceSelector, selectsOnce } from './resource-selector.ts';

const patch = s.object(
  {
    op: s.oneOf(['add', 'remove', 'replace'], { doc: 'What to do at the path, as in RFC 6902.' }),
    path: s.string({
      doc: 'JSON pointer. Everything but apiVersion, kind, status and metadata may be changed; of metadata, labels and annotations.',
      maxLength: 2048,
    }),
    value: s.optional(
      s.any({
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what users write
        doc: 'The value for add and replace; ${MEMBER-CLUSTER-NAME} and ${MEMBER-CLUSTER-LABEL-KEY-<key>} in its texts are filled in per cluster.',
      }),
    ),
  },
  {
    doc: 'One change.',
    rules: [
      rule("self.path.startsWith('/')", 'path must start with /', '.path'),
      rule("!self.path.matches('/ *(/|$)')", 'path must not have an empty segment', '.path'),
      rule(
        "!self.path.matches('^/(kind|apiVersion)(/|$)')",
        'cannot override typeMeta fields: path must not lead to kind or apiVersion',
        '.path',
      ),
      rule("!self.path.matches('^/status(/|$)')", 'cannot override status fields', '.path'),
      rule(
        "!self.path.matches('^/metadata(/|$)') || self.path.matches('^/metadata/(annotations|labels)(/|$)')",
        'of metadata, only annotations and labels can be overridden',
        '.path',
      ),
      // `value` is untyped, so CEL can read it only through dyn().
      rule("self.op != 'remove' || [dyn(self)].all(patch, !has(patch.value))", 'op remove takes no value', '.op'),
    ],
  },
);

const overrideRule = s.object(
  {
    clusterSelector: s.optional(
      s.object(
        {
          // The empty default makes `clusterSelector: {}` match every cluster, as users expect.
          clusterSelectorTerms: s.defaulted(
            s.array(
              s.ruled(clusterSelectorTerm, [
                rule(
                  'has(self.labelSelector) && !has(self.propertySelector) && !has(self.propertySorter)',
                  'a term of an override needs a labelSelector, and only labelSelector is supported',
                ),
              ]),
              { doc: 'A cluster matches when one of the terms does; no terms match every cluster.', maxItems: 10 },
            ),
            [],
          ),
        },
        { doc: 'The clusters to override; absent means none.' },
      ),
    ),
    overrideType: s.defaulted(
      s.oneOf(['JSONPatch', 'Delete'], { doc: 'Change the objects, or leave them out on these clusters.' }),
      'JSONPatch',
    ),
    jsonPatchOverrides: s.optional(
      s.array(patch, { doc: 'The changes of JSONPatch, in order.', minItems: 1, maxItems: 20 }),
    ),
  },
  {
    doc: 'The rules: what to change on which clusters.',
    rules: [
      rule(
        "self.overrideType != 'JSONPatch' || has(self.jsonPatchOverrides)",
        'overrideType JSONPatch needs jsonPatchOverrides',
        '.jsonPatchOverrides',
      ),
      rule(
        "self.overrideType != 'Delete' || !has(self.jsonPatchOverrides)",
        'overrideType Delete takes no jsonPatchOverrides',
        '.jsonPatchOverrides',
      ),
    ],
  },
);

const shared = {
  placement: s.optional(
    s.object(
      {
        name: s.string({ doc: 'Name of the placement.', maxLength: 253 }),
        scope: s.defaulted(
          s.oneOf(['Cluster', 'Namespaced'], {
            doc: 'ClusterResourcePlacement, or ResourcePlacement in the same namespace.',
          }),
          'Cluster',
        ),
      },
      { doc: 'The one placement it applies to; absent means all. Cannot change.' },
    ),
  ),
  policy: s.object(
    {
      overrideRules: s.array(overrideRule, { doc: 'Applied in order; later rules win.', minItems: 1, maxItems: 20 }),
    },
    { doc: 'What to override.' },
  ),
};

// Differs from KubeFleet: its v1alpha1 allows the placement to change. All versions here have the same rules.
const placementIsFrozen = rule(
  'has(self.placement) == has(oldSelf.placement) && (!has(self.placement) || self.placement == oldSelf.placement)',
  'placement is immutable: create a new override',
  '.placement',
);

export const clusterOverrideSpec = s.object(
  {
    ...shared,
    clusterResourceSelectors: s.array(
      s.ruled(s.doc('Names one cluster-scoped object.', resourceSelector), [
        rule('!has(self.labelSelector)', 'overrides select by name: labelSelector is not supported', '.labelSelector'),
        rule("has(self.name) && self.name != ''", 'overrides select by name: name is required', '.name'),
      ]),
      {
        doc: 'The objects to override; a Namespace means all it contains as well.',
        minItems: 1,
        maxItems: 20,
      },
    ),
  },
  {
    doc: 'Desired state.',
    rules: [
      placementIsFrozen,
      selectsOnce('clusterResourceSelectors'),
      rule(
        "!has(self.placement) || self.placement.scope != 'Namespaced'",
        'a ClusterResourceOverride cannot name a ResourcePlacement: use a ResourceOverride',
        '.placement.scope',
      ),
    ],
  },
);

export const namespacedOverrideSpec = s.object(
  {
    ...shared,
    resourceSelectors: s.array(namedResource, {
      doc: 'The objects of this namespace to override.',
      minItems: 1,
      maxItems: 20,
    }),
  },
  { doc: 'Desired state.', rules: [placementIsFrozen, selectsOnce('resourceSelectors')] },
);

const columns = (list: string): readonly Column[] => [
  text('Placement', '.spec.placement.name'),
  wide(text('Scope', '.spec.placement.scope')),
  wide(text('First-Kind', `.spec.${list}[0].kind`)),
  wide(text('First-Name', `.spec.${list}[0].name`)),
  age,
];

/**
 * The scopes differ in one field: cluster-scoped and namespaced objects are selected by fields with different names.
 */
const define = <Spec>(definition: {
  readonly namespaced: boolean;
  readonly kind: string;
  readonly plural: string;
  readonly doc: string;
  readonly spec: Typed<Spec>;
  readonly selectors: 'clusterResourceSelectors' | 'resourceSelectors';
}): Kind<Spec, unknown> => {
  const kind = defineKind({
    in: placementGroup,
    versions: V1_AND_ALPHA,
    ...definition,
    columns: columns(definition.selectors),
  });
  return Object.freeze({ ...kind, ...overrideAdmission(kind, definition.selectors) });
};

export const override = {
  cluster: define({
    namespaced: false,
    kind: 'ClusterResourceOverride',
    plural: 'clusterresourceoverrides',
    doc: 'Changes cluster-scoped objects, and all objects of a namespace, on some clusters before they are placed.',
    spec: clusterOverrideSpec,
    selectors: 'clusterResourceSelectors',
  }),
  namespaced: define({
    namespaced: true,
    kind: 'ResourceOverride',
    plural: 'resourceoverrides',
    doc: 'Changes objects of its namespace on some clusters before they are placed.',
    spec: namespacedOverrideSpec,
    selectors: 'resourceSelectors',
  }),
};

export type ClusterResourceOverrideSpec = Infer<typeof clusterOverrideSpec>;
export type ResourceOverrideSpec = Infer<typeof namespacedOverrideSpec>;
export type ClusterResourceOverride = WithSpec<ClusterResourceOverrideSpec>;
export type ResourceOverride = WithSpec<ResourceOverrideSpec>;
export type OverrideRule = Infer<typeof overrideRule>;
export type JsonPatchOverride = Infer<typeof patch>;
