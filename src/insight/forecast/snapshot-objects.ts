// The objects of a revision, from its snapshots.
import type { KubeObject } from '../../api/object.ts';

export const objectsIn = (snapshots: readonly KubeObject[]): readonly KubeObject[] =>
  snapshots.flatMap(
    ({ spec }) => (spec as { readonly selectedResources?: readonly KubeObject[] } | undefined)?.selectedResources ?? [],
  );
