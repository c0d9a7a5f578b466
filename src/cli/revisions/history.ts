// `flotilla history placement/NAME`: its revisions with time, changes, the programs that made them (if the API server
// records that), and the clusters that have each.
import type { KubeObject } from '../../api/object.ts';
import { shortDuration } from '../../base/age.ts';
import { type Clock, kubeTime } from '../../base/clock.ts';
import { plainText } from '../../insight/plain-text.ts';
import { titleOf, type WhichPlacement } from '../../insight/which-placement.ts';
import type { Connected } from '../server/connect.ts';
import { getPlacement } from '../server/get-placement.ts';
import type { Print } from '../server/target.ts';
import { align } from '../terminal/format-table.ts';
import { forPrograms } from '../terminal/output.ts';
import { changedBy, writersOf } from './changed-by.ts';
import { changeCounts, changesBetween, type ObjectChange, renderChanges } from './object-diff.ts';
import { type Revision, revisionsOf } from './revisions.ts';

export interface HistoryOptions {
  readonly full?: boolean;
  readonly output?: string;
  readonly clock: Clock;
}

type Server = Pick<Connected, 'transport' | 'catalogue' | 'namespace'>;

interface Entry extends Revision {
  /** Compared with the previous revision; undefined = that one no longer exists. */
  readonly changes: readonly ObjectChange[] | undefined;
  /** The commit, else the field managers that wrote the changes; empty = the API server does not record it. */
  readonly by: readonly string[];
}

export async function history(server: Server, which: WhichPlacement, options: HistoryOptions, print: Print) {
  await getPlacement(server, which);
  const revisions = await revisionsOf(server, which);
  const changed = revisions.map((revision, at) => {
    const before = revisions[at - 1];
    const isFirst = revision.index === 0;
    const changes =
      before === undefined && !isFirst ? undefined : changesBetween(before?.objects ?? [], revision.objects);
    const after = before === undefined ? undefined : Date.parse(before.created);
    return { ...revision, changes, span: { after, until: Date.parse(revision.created) } };
  });
  // The newest first, because only a limited number is read.
  const known = changed.filter(({ commit }) => commit === undefined);
  const writers = await writersOf(server, known.toReversed().flatMap(writtenIn));
  const entries = changed.map(
    ({ span, ...each }): Entry => ({
      ...each,
      by:
        each.commit === undefined ? changedBy(writers, writtenIn(each), span) : [`commit ${shortCommit(each.commit)}`],
    }),
  );
  const { output, clock } = options;
  print.line(forPrograms(output, () => factsOf(which, entries, options)) ?? text(which, entries, options, clock.now()));
}

const writtenIn = ({ changes = [] }: Pick<Entry, 'changes'>): readonly KubeObject[] =>
  changes.filter(({ change }) => change !== 'removed').map(({ object }) => object);

const shortCommit = (commit: string): string => commit.slice(0, 7);

const MAX_CLUSTERS = 5;

function clustersText({ clusters }: Revision, isWide: boolean): string {
  if (clusters === undefined) return 'unknown';
  if (clusters.length === 0) return '-';
  const shown = isWide ? clusters : clusters.slice(0, MAX_CLUSTERS);
  const more = clusters.length - shown.length;
  return `${clusters.length}: ${shown.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}

const byText = ({ by }: Entry): string => (by.length === 0 ? '-' : by.join(', '));

const ageOf = (created: string, now: number): string => {
  const ms = Date.parse(created);
  return Number.isNaN(ms) ? '-' : shortDuration(Math.max(0, now - ms));
};

const changesText = ({ changes, objects }: Entry): string =>
  changes === undefined ? `${objects.length} objects (the previous revision was deleted)` : changeCounts(changes);

function text(which: WhichPlacement, entries: readonly Entry[], options: HistoryOptions, now: number): string {
  if (entries.length === 0) return `${titleOf(which)} has no revision yet`;
  const newestFirst = entries.toReversed();
  if (options.full) {
    return newestFirst
      .flatMap((entry) => [
        `Revision ${entry.index}, ${entry.created} (${ageOf(entry.created, now)} ago), clusters ${clustersText(entry, true)}: ${changesText(entry)}${entry.by.length === 0 ? '' : `, by ${byText(entry)}`}`,
        ...renderChanges(entry.changes ?? []).map((line) => `  ${line}`),
      ])
      .map(plainText)
      .join('\n');
  }
  const rows = newestFirst.map((entry) => [
    String(entry.index),
    entry.created,
    ageOf(entry.created, now),
    changesText(entry),
    byText(entry),
    clustersText(entry, options.output === 'wide'),
  ]);
  return align([['REVISION', 'CREATED', 'AGE', 'CHANGES', 'BY', 'CLUSTERS'], ...rows].map((row) => row.map(plainText)));
}

function factsOf({ family, name, namespace }: WhichPlacement, entries: readonly Entry[], { full }: HistoryOptions) {
  return {
    kind: family.placement.kind,
    name,
    namespace,
    revisions: entries.map(({ index, created, objects, clusters, changes, by, commit }) => ({
      revision: index,
      created: created === '' ? created : kubeTime(Date.parse(created)),
      objects: objects.length,
      ...(commit === undefined ? (by.length === 0 ? {} : { by }) : { commit }),
      ...(clusters === undefined ? {} : { clusters }),
      ...(changes === undefined
        ? {}
        : {
            added: changes.filter(({ change }) => change === 'added').length,
            changed: changes.filter(({ change }) => change === 'changed').length,
            removed: changes.filter(({ change }) => change === 'removed').length,
            fields: changes.reduce((sum, each) => sum + each.fields.length, 0),
          }),
      ...(full && changes !== undefined ? { diff: renderChanges(changes) } : {}),
    })),
  };
}
