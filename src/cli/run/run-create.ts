// `flotilla run create PLACEMENT --strategy S`: creates a staged update run, initialized or started.
import { apiVersionOf, type KubeObject } from '../../api/object.ts';
import { UserError } from '../../base/errors.ts';
import { isExternal } from '../../hub/strategies/table.ts';
import { revisionsIn } from '../../insight/progress/runs-of-placement.ts';
import { ifRead } from '../../insight/reader.ts';
import { NAME, titleOf, type WhichPlacement } from '../../insight/which-placement.ts';
import { runTarget, typed, within } from '../../insight/which-run.ts';
import { createReader } from '../reading/readable.ts';
import type { Connected } from '../server/connect.ts';
import { getPlacement } from '../server/get-placement.ts';
import { getOr404 } from '../server/not-found.ts';
import { type Print, refer } from '../server/target.ts';

export interface CreateRun {
  readonly which: WhichPlacement;
  readonly strategy: string;
  /** Absent = the selection of the placement when the run starts. */
  readonly revision?: string;
  readonly start?: boolean;
  /** Absent = the server generates a name from that of the placement. */
  readonly name?: string;
}

/** Returns the name of the run. */
export async function createRun(
  server: Pick<Connected, 'transport' | 'catalogue'>,
  { which, strategy, revision, start, name }: CreateRun,
  print: Print,
): Promise<string> {
  const { family, namespace } = which;
  for (const each of [strategy, ...(name === undefined ? [] : [name])])
    if (!NAME.test(each)) throw new UserError('BadArgument', `"${each}" cannot be a name`);
  const placement = await getPlacement(server, which);
  if (!isExternal(placement)) {
    const type = placement.spec.strategy?.type ?? 'RollingUpdate';
    throw new UserError(
      'NotExternal',
      `${titleOf(which)} has strategy ${type} and rolls out by itself; runs move placements with strategy External`,
    );
  }
  await getOr404(server, { resource: family.strategy, name: strategy, ...within(namespace) });
  if (revision !== undefined) {
    const known = revisionsIn(ifRead(await createReader(server, which).resourceSnapshots()) ?? []);
    if (!known.some((index) => String(index) === revision))
      throw new UserError('NotFound', `${titleOf(which)} has no revision "${revision}" (known: ${known.join(', ')})`);
  }
  const object: KubeObject = {
    apiVersion: apiVersionOf(family.run.group, family.run.version),
    kind: family.run.kind,
    metadata: {
      ...(name === undefined ? { generateName: `${which.name}-` } : { name }),
      ...within(namespace),
    },
    spec: {
      placementName: which.name,
      stagedRolloutStrategyName: strategy,
      state: start ? 'Run' : 'Initialize',
      resourceSnapshotIndex: revision,
    },
  } as KubeObject;
  const at = { resource: family.run, ...within(namespace) };
  const answer = await server.transport.call({ verb: 'create', at, object, manager: 'flotilla' });
  const run = { ...which, name: answer.object?.metadata.name ?? name ?? '' };
  print.line(`${refer(runTarget(run))} created${start ? ' and started' : ''}`);
  print.line(start ? `Follow: flotilla run show ${typed(run)} --watch` : `Start: flotilla run start ${typed(run)}`);
  return run.name;
}
