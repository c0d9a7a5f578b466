// AppliedWork: the member's own record of a Work. It owns every applied object, so deleting it deletes exactly those.
import { defineKind, type Infer, s, type WithSpec } from './build.ts';
import { age, text } from './columns.ts';
import { placementGroup, V1 } from './groups.ts';
import { workResourceIdentifier } from './work-resource.ts';

const spec = s.object(
  {
    workName: s.string({ doc: 'The Work on the hub.' }),
    workNamespace: s.string({ doc: 'Its namespace on the hub.' }),
  },
  { doc: 'Which Work this is about.' },
);

const status = s.object(
  {
    appliedResources: s.optional(
      s.array(
        s.object(
          { ...workResourceIdentifier, uid: s.optional(s.string({ doc: 'UID of the object on the member.' })) },
          { doc: 'An applied object.' },
        ),
        { doc: 'The applied objects.' },
      ),
    ),
  },
  { doc: 'Observed state.' },
);

export const appliedWork = defineKind({
  in: placementGroup,
  versions: V1,
  namespaced: false,
  kind: 'AppliedWork',
  plural: 'appliedworks',
  doc: 'Owns what the agent applied for one Work. Lives on the member; written by its agent.',
  spec,
  status,
  columns: [text('Work-Namespace', '.spec.workNamespace'), text('Work', '.spec.workName'), age],
});

export type AppliedWorkSpec = Infer<typeof spec>;
export type AppliedWorkStatus = Infer<typeof status>;
export type AppliedWork = WithSpec<AppliedWorkSpec, AppliedWorkStatus>;
