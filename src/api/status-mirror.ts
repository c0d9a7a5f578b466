// Which namespace gets a copy of a placement's status, and the warnings for its author. Pure.
import type { PlacementSpec } from './placement.ts';

/** The status is also written into the namespace that the placement selects. */
export const isMirrored = ({ statusReportingScope }: PlacementSpec): boolean =>
  statusReportingScope === 'NamespaceAccessible';

/** The name in the Namespace selector; '' = it has none. */
export const mirrorNamespaceOf = ({ resourceSelectors = [] }: PlacementSpec): string =>
  resourceSelectors.find(({ group, kind }) => group === '' && kind === 'Namespace')?.name ?? '';

const FIELD = 'spec.statusReportingScope: NamespaceAccessible';

/** Differs from KubeFleet: there none of this is reported until the placement does not progress. */
export function mirrorWarnings(kind: string, spec: PlacementSpec, old?: PlacementSpec): readonly string[] {
  if (!isMirrored(spec)) return [];
  if (kind === 'ResourcePlacement') {
    return [`${FIELD} has no effect on a ResourcePlacement: its status is in its namespace already`];
  }
  const namespace = mirrorNamespaceOf(spec);
  const before = old === undefined ? '' : mirrorNamespaceOf(old);
  return [
    ...(namespace === ''
      ? [`${FIELD} needs a Namespace selector with a name: the status is not copied into any namespace`]
      : []),
    ...(before === '' || before === namespace
      ? []
      : [
          `${FIELD} does not allow another namespace: the placement keeps what it has placed from "${before}" and stops (Scheduled False, InvalidResourceSelectors) until its Namespace selector names "${before}" again`,
        ]),
  ];
}
