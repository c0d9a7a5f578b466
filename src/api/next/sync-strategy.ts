// How objects are kept in step on a member cluster, in the next generation of types.
import { type Infer, s } from '../build.ts';

export const syncStrategy = s.object(
  {
    applyMethod: s.defaulted(
      s.oneOf(['ClientSideApply', 'ServerSideApply'], { doc: 'Three-way merge or server-side apply.' }),
      'ClientSideApply',
    ),
    comparisonOption: s.defaulted(
      s.oneOf(['PartialComparison', 'FullComparison'], {
        doc: 'Compare only the fields the manifest sets, or all of them.',
      }),
      'PartialComparison',
    ),
    serverSideApplyOptions: s.optional(
      s.object(
        { forceConflicts: s.optional(s.boolean({ doc: 'Take fields over from other field managers.' })) },
        { doc: 'Settings for ServerSideApply.' },
      ),
    ),
    whenAlreadyExists: s.defaulted(
      s.oneOf(['ReportError', 'AlwaysTakeOver', 'TakeOverIfNoDiff'], {
        doc: 'What to do with an object that already exists on the member.',
      }),
      'ReportError',
    ),
    whenDrifted: s.defaulted(
      s.oneOf(['ApplyAnyway', 'ReportError'], { doc: 'What to do with an object that was changed on the member.' }),
      'ApplyAnyway',
    ),
    whenOwnedByOthers: s.defaulted(
      s.oneOf(['ReportError', 'ShareOwnership'], { doc: 'What to do with an object that has other owners.' }),
      'ReportError',
    ),
    whenNamespaceDoesNotExist: s.defaulted(
      s.oneOf(['CreateNamespace', 'ReportError'], { doc: 'What to do when the namespace is missing on the member.' }),
      'CreateNamespace',
    ),
    whenPlacementDeleted: s.defaulted(
      s.oneOf(['CleanUpResources', 'OrphanResources'], {
        doc: 'What happens to placed objects when the policy is deleted.',
      }),
      'CleanUpResources',
    ),
  },
  { doc: 'How objects are kept in step.' },
);
export type SyncStrategy = Infer<typeof syncStrategy>;
