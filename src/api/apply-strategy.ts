// How objects are written on a member cluster. Placements specify it; bindings, Works and runs carry copies.
import { type Infer, rule, s } from './build.ts';
import { comparePatches, comparePatchRules } from './compare-patch.ts';
import { ignoredConditions } from './ignored-condition.ts';

const fields = {
  type: s.defaulted(
    s.oneOf(['ClientSideApply', 'ServerSideApply', 'ReportDiff'], {
      doc: 'Three-way merge, server-side apply, or no write at all: only report the differences.',
    }),
    'ClientSideApply',
  ),
  comparisonOption: s.defaulted(
    s.oneOf(['PartialComparison', 'FullComparison'], {
      doc: 'Compare only the fields the manifest sets, or all of them.',
    }),
    'PartialComparison',
  ),
  whenToApply: s.defaulted(
    s.oneOf(['Always', 'IfNotDrifted', 'OnRevision'], {
      doc: 'Whether an object that was changed on the member is overwritten: always, never, or only by a new revision.',
    }),
    'Always',
  ),
  whenToTakeOver: s.defaulted(
    s.oneOf(['Always', 'IfNoDiff', 'Never'], {
      doc: 'Whether an object that already exists on the member may become ours.',
    }),
    'Always',
  ),
  allowCoOwnership: s.defaulted(s.boolean({ doc: 'Whether the object may have other owners as well.' }), false),
  serverSideApplyConfig: s.optional(
    s.object(
      { force: s.defaulted(s.boolean({ doc: 'Take fields over from other field managers.' }), false) },
      { doc: 'Settings for ServerSideApply.' },
    ),
  ),
  comparePatches: s.optional(comparePatches),
  ignoreConditions: s.optional(ignoredConditions),
};
const DOC = { doc: 'How the objects are written on the member clusters.' };

export const applyStrategy = s.object(fields, DOC);
export type ApplyStrategy = Infer<typeof applyStrategy>;

/** The apply strategy of a Work. */
export const workApplyStrategy = s.object(
  {
    ...fields,
    forceSyncGeneration: s.optional(
      s.integer({ doc: 'A change of it applies all objects again, over drift.', format: 'int64', minimum: 0 }),
    ),
  },
  DOC,
);

/** The apply strategy of a placement, with validation rules. Copies have none, because they are on the hot path. */
export const writtenApplyStrategy = s.ruled(applyStrategy, [
  rule(
    "!has(self.serverSideApplyConfig) || self.type == 'ServerSideApply'",
    'serverSideApplyConfig needs type ServerSideApply',
    '.serverSideApplyConfig',
  ),
  ...comparePatchRules,
]);

export const reportBackStrategy = s.object(
  {
    type: s.defaulted(
      s.oneOf(['Disabled', 'Mirror'], { doc: 'Whether the status of placed objects is copied back to the hub.' }),
      'Disabled',
    ),
    destination: s.optional(
      s.oneOf(['OriginalResource', 'WorkAPI'], {
        doc: 'Where the status goes: onto the object on the hub, or into the Work only.',
      }),
    ),
  },
  { doc: 'How the status of placed objects comes back.' },
);
export type ReportBackStrategy = Infer<typeof reportBackStrategy>;

export const writtenReportBackStrategy = s.ruled(reportBackStrategy, [
  rule("self.type != 'Mirror' || has(self.destination)", 'type Mirror needs a destination', '.destination'),
]);
