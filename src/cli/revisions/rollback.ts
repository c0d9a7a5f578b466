// `flotilla rollback placement/NAME [--to REVISION]`: restores the selected objects on the hub to a revision, as the
// caller. Guarantee: nothing is written unless a dry run of every write succeeds. The rollback is then rolled out like
// any other change, by the strategy of the placement.
import type { KubeObject } from '../../api/object.ts';
import type { Placement } from '../../api/placement.ts';
import type { StagedUpdateRun } from '../../api/staged-update-run.ts';
import { ApiError, messageOf, UserError } from '../../base/errors.ts';
import type { Json } from '../../base/json.ts';
import { createClient } from '../../client/client.ts';
import { marksOf } from '../../hub/revisions/content.ts';
import { isExternal } from '../../hub/strategies/table.ts';
import { newestFirst } from '../../insight/progress/runs-of-placement.ts';
import { titled } from '../../insight/titled.ts';
import { argumentOf, titleOf, type WhichPlacement } from '../../insight/which-placement.ts';
import { within } from '../../insight/which-run.ts';
import { noteFreezes } from '../freeze.ts';
import { selectedNow } from '../reading/selected-now.ts';
import { createRun } from '../run/run-create.ts';
import type { Connected } from '../server/connect.ts';
import { getPlacement } from '../server/get-placement.ts';
import { type Print, refer, targetOf } from '../server/target.ts';
import { identityOf, type ObjectChange, renderChanges } from './object-diff.ts';
import { type Restore, restoreOf } from './restore.ts';
import { type Revision, revisionAt, revisionsOf } from './revisions.ts';

export interface RollbackOptions {
  /** Absent = the one before the newest. */
  readonly to?: string;
  readonly prune?: boolean;
  /** For the run of a placement with strategy External; absent = that of its last run. */
  readonly strategy?: string;
  /** Epoch ms. */
  readonly now: number;
  /** Asks for confirmation; called after everything is shown. */
  confirm(question: string): Promise<boolean>;
}

type Server = Pick<Connected, 'transport' | 'catalogue' | 'namespace'>;

/** Returns whether anything was written. */
export async function rollback(
  server: Server,
  which: WhichPlacement,
  options: RollbackOptions,
  print: Print,
): Promise<boolean> {
  const placement = await getPlacement(server, which);
  if (placement.metadata.deletionTimestamp !== undefined)
    throw new UserError('Deleting', `${titleOf(which)} is being deleted: there is nothing to roll back`);
  const revisions = await revisionsOf(server, which);
  const revision = options.to === undefined ? previous(revisions, which) : revisionAt(revisions, options.to, which);
  if (isExternal(placement)) return byRun(server, which, revision, options, print);
  const { source } = placement.spec;
  // Its objects come from Git, not from the hub: writing them to the hub would create unrelated objects.
  if (source !== undefined)
    throw new UserError(
      'FromGit',
      `${titleOf(which)} comes from bundle "${source.bundle}" of GitRepo "${source.gitRepo}": revert the commit in the repository${revision.commit === undefined ? '' : ` (revision ${revision.index} is commit ${revision.commit.slice(0, 7)})`}`,
    );
  const plan = await planned(server, which, placement, revision);
  const restores = [...plan.restores, ...(options.prune ? plan.extra : [])];
  const kept = options.prune ? [] : plan.extra;
  for (const line of renderChanges(restores.map(changeOf))) print.line(line);
  for (const { object } of kept)
    print.warning(
      `${titled(targetOf(server, object))} is not in revision ${revision.index} and stays; --prune deletes it`,
    );
  if (restores.length === 0) {
    print.line(`the objects of ${titleOf(which)} on the hub are as in revision ${revision.index}: nothing to do`);
    return false;
  }
  await checkAll(server, restores);
  const count = `${restores.length} ${restores.length === 1 ? 'object' : 'objects'}`;
  if (!(await options.confirm(`Bring ${count} on the hub back to revision ${revision.index}?`)))
    throw new UserError('Declined', 'nothing was written');
  await writeAll(server, restores, print);
  print.line(`${titleOf(which)} is back at the content of revision ${revision.index}; it rolls out as a new revision`);
  await noteFreezes(server, which, options.now, print);
  print.line(`Follow: flotilla status ${argumentOf(which)} --watch`);
  return true;
}

function previous(revisions: readonly Revision[], which: WhichPlacement): Revision {
  const found = revisions.at(-2);
  if (found !== undefined) return found;
  const known = revisions.length === 0 ? 'it has none' : `it has only revision ${revisions[0]?.index}`;
  throw new UserError('NotFound', `${titleOf(which)} has no earlier revision: ${known}`);
}

const changeOf = (restore: Restore): ObjectChange => ({
  change: restore.do === 'create' ? 'added' : restore.do === 'patch' ? 'changed' : 'removed',
  object: restore.object,
  fields: restore.do === 'patch' ? restore.fields : [],
});

interface Planned {
  readonly restores: readonly Restore[];
  /** Selected now, but not part of the revision. */
  readonly extra: readonly Restore[];
}

async function planned(
  server: Server,
  { family }: WhichPlacement,
  placement: Placement,
  { objects }: Revision,
): Promise<Planned> {
  const client = createClient(server.transport, 'flotilla');
  const projected = family.placements.project?.(placement);
  if (projected === undefined) return { restores: [], extra: [] };
  const marks = marksOf(projected);
  const restores: Restore[] = [];
  for (const wanted of objects) {
    const { resource, ...at } = targetOf(server, wanted);
    const live = (await client.find(resource, at)) as KubeObject | undefined;
    if (live?.metadata.deletionTimestamp !== undefined)
      throw new UserError('Deleting', `${titled({ resource, ...at })} is being deleted: roll back after the deletion`);
    // Some servers leave apiVersion and kind out of list items.
    const restore = restoreOf(wanted, live && { ...live, apiVersion: wanted.apiVersion, kind: wanted.kind }, marks);
    if (restore !== undefined) restores.push(restore);
  }
  const { selected, notes } = await selectedNow(server, projected);
  if (notes.length > 0) throw new UserError('Unreadable', `the current selection is unknown: ${notes.join('; ')}`);
  const known = new Set(objects.map(identityOf));
  const now = selected.state === 'selected' ? selected.content.objects : [];
  const extra = now
    .filter((object) => !known.has(identityOf(object)))
    .map((object): Restore => ({ do: 'delete', object }));
  return { restores, extra };
}

// ---- writing

function send(server: Server, restore: Restore, dryRun?: true) {
  const at = targetOf(server, restore.object);
  const options = { manager: 'flotilla', ...(dryRun ? { dryRun } : {}) };
  switch (restore.do) {
    case 'create': {
      const { name: _name, ...collection } = at;
      return server.transport.call({ verb: 'create', at: collection, object: restore.object, ...options });
    }
    case 'patch': {
      const patch = { type: 'json', body: restore.operations as unknown as Json } as const;
      return server.transport.call({ verb: 'patch', at, patch, ...options });
    }
    case 'delete':
      return server.transport.call({ verb: 'delete', at, ...(dryRun ? { dryRun } : {}) });
  }
}

/** Throws a UserError that names every write that the server would refuse. */
async function checkAll(server: Server, restores: readonly Restore[]): Promise<void> {
  const made = new Set(
    restores.flatMap(({ do: verb, object }) =>
      verb === 'create' && object.kind === 'Namespace' ? [object.metadata.name ?? ''] : [],
    ),
  );
  const refusals: string[] = [];
  for (const restore of restores) {
    // Its namespace does not exist in a dry run, because it is created by an earlier write.
    if (restore.do === 'create' && made.has(restore.object.metadata.namespace ?? '')) continue;
    try {
      await send(server, restore, true);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refusals.push(`${titled(targetOf(server, restore.object))}: ${error.message}`);
    }
  }
  if (refusals.length > 0)
    throw new UserError('Refused', `the rollback would be refused, and nothing was written: ${refusals.join('; ')}`);
}

const DONE = { create: 'created', patch: 'restored', delete: 'deleted' } as const;

async function writeAll(server: Server, restores: readonly Restore[], print: Print): Promise<void> {
  for (const [at, restore] of restores.entries()) {
    try {
      await send(server, restore);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const rest = `${at} of ${restores.length} objects were written; run the command again`;
      throw new UserError('Refused', `${titled(targetOf(server, restore.object))}: ${messageOf(error)} (${rest})`, {
        cause: error,
      });
    }
    print.line(`${refer(targetOf(server, restore.object))} ${DONE[restore.do]}`);
  }
}

// ---- placements with strategy External

/** Only a run moves it, so the rollback creates a run. */
async function byRun(
  server: Server,
  which: WhichPlacement,
  revision: Revision,
  options: RollbackOptions,
  print: Print,
): Promise<boolean> {
  const { items } = await createClient(server.transport, 'flotilla').list(which.family.run, within(which.namespace));
  const own = (items as readonly StagedUpdateRun[]).filter(({ spec }) => spec.placementName === which.name);
  const strategy = options.strategy ?? newestFirst(own)[0]?.spec.stagedRolloutStrategyName;
  if (strategy === undefined)
    throw new UserError('BadFlag', `${titleOf(which)} is moved by runs and has none: name a strategy with --strategy`);
  const question = `Start a run with strategy "${strategy}" that brings revision ${revision.index} to every cluster?`;
  if (!(await options.confirm(question))) throw new UserError('Declined', 'nothing was written');
  await createRun(server, { which, strategy, revision: String(revision.index), start: true }, print);
  await noteFreezes(server, which, options.now, print);
  return true;
}
