// The existing revisions of a placement, with their objects and the clusters that have them.
import { annotations, labels } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import type { ResourceSnapshot } from '../../api/resource-snapshot.ts';
import { byNumber, byText } from '../../base/compare.ts';
import { UserError } from '../../base/errors.ts';
import { createClient } from '../../client/client.ts';
import { partOf, resourceIndexOf } from '../../hub/placement-sources.ts';
import { ifRead } from '../../insight/reader.ts';
import { titleOf, type WhichPlacement } from '../../insight/which-placement.ts';
import { within } from '../../insight/which-run.ts';
import { indexIn } from '../reading/carried.ts';
import { createReader } from '../reading/readable.ts';
import type { Connected } from '../server/connect.ts';

export interface Revision {
  readonly index: number;
  /** As in the API. */
  readonly created: string;
  readonly objects: readonly KubeObject[];
  /** undefined = the bindings cannot be read. */
  readonly clusters: readonly string[] | undefined;
  /** For a placement with a source. */
  readonly commit?: string;
}

type Server = Pick<Connected, 'transport'>;

/** Oldest first. */
export async function revisionsOf(server: Server, which: WhichPlacement): Promise<readonly Revision[]> {
  const { family, name, namespace } = which;
  const { items } = await createClient(server.transport, 'flotilla').list(family.resourceSnapshot, {
    labels: `${labels.parentPlacement}=${name}`,
    ...within(namespace),
  });
  const bindings = ifRead(await createReader(server, which).bindings());
  // A revision may be split into several snapshots.
  const byIndex = new Map<number, ResourceSnapshot[]>();
  for (const each of items as readonly ResourceSnapshot[]) {
    const index = resourceIndexOf(each);
    if (index !== undefined) byIndex.set(index, [...(byIndex.get(index) ?? []), each]);
  }
  return [...byIndex]
    .toSorted(([a], [b]) => byNumber(a, b))
    .map(([index, group]) => {
      const parts = group.toSorted((a, b) => byNumber(partOf(a) ?? group.length, partOf(b) ?? group.length));
      const commit = parts[0]?.metadata.annotations?.[annotations.sourceCommit];
      return {
        index,
        commit,
        created: parts[0]?.metadata.creationTimestamp ?? '',
        objects: parts.flatMap(({ spec }) => spec.selectedResources as unknown as readonly KubeObject[]),
        clusters: bindings
          ?.filter(
            ({ spec, metadata }) =>
              metadata.deletionTimestamp === undefined && indexIn(spec.resourceSnapshotName, name) === String(index),
          )
          .map(({ spec }) => spec.targetCluster)
          .toSorted(byText),
      };
    });
}

/** Throws a UserError that lists the existing revisions. */
export function revisionAt(revisions: readonly Revision[], index: string, which: WhichPlacement): Revision {
  const found = revisions.find((each) => String(each.index) === index);
  if (found !== undefined) return found;
  const known = revisions.map((each) => each.index).join(', ');
  throw new UserError(
    'NotFound',
    `${titleOf(which)} has no revision "${index}" (${known === '' ? 'it has none' : `known: ${known}`}); older revisions are deleted (spec.revisionHistoryLimit)`,
  );
}
