// `flotilla diff`: prints the differences between the hub and the clusters, or between two revisions.

import { plainText } from '../../insight/plain-text.ts';
import { titleOf, type WhichPlacement } from '../../insight/which-placement.ts';
import type { Connected } from '../server/connect.ts';
import type { Print } from '../server/target.ts';
import { EXIT } from '../terminal/showing.ts';
import type { ObjectDifference } from './difference.ts';
import { type Asked, type ClusterDifference, onClusters } from './on-clusters.ts';
import { betweenRevisions } from './revisions.ts';

type Server = Pick<Connected, 'transport' | 'catalogue'>;

export interface DiffOptions extends Asked {
  readonly revisions: readonly string[];
  readonly output?: string;
}

/** Returns the exit code. */
export async function diff(server: Server, which: WhichPlacement, options: DiffOptions, print: Print): Promise<number> {
  const { revisions, output } = options;
  if (revisions.length > 0) {
    const found = await betweenRevisions(server, which, revisions);
    if (output === 'json') print.line(JSON.stringify(found, undefined, 2));
    else if (found.length === 0)
      print.line(`${titleOf(which)}: revisions ${revisions[0]} and ${revisions[1]} are equal`);
    else printAll(found, print);
    return found.length === 0 ? EXIT.complete : EXIT.waiting;
  }
  const clusters = await onClusters(server, which, options);
  if (output === 'json') print.line(JSON.stringify(clusters, undefined, 2));
  else for (const each of clusters) printCluster(each, print);
  return clusters.every(({ differences }) => differences.length === 0) ? EXIT.complete : EXIT.waiting;
}

function printCluster(
  { cluster, snapshot, from, because, compared, differences }: ClusterDifference,
  print: Print,
): void {
  const source =
    from === 'member'
      ? `${compared} ${compared === 1 ? 'object' : 'objects'} compared on the cluster`
      : `from the placement's status, as the agent reported it (${because})`;
  const count = differences.length === 0 ? 'no differences' : `${differences.length} different`;
  print.line(plainText(`cluster ${cluster}${snapshot === undefined ? '' : ` (${snapshot})`}: ${count}; ${source}`));
  printAll(differences, print);
}

function printAll(differences: readonly ObjectDifference[], print: Print): void {
  for (const { lines } of differences) for (const line of lines) print.line(plainText(line));
}
