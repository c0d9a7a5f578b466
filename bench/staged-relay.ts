// What a staged run is measured against: the waves of baseline/staged-waves.mjs on API servers of their own, those of the members that take part,
// in as many processes as the fleet has.
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BINDINGS, wiresFrom } from './deliver-fleet.ts';
import { legsOf } from './deliver-legs.ts';
import { listen, send } from './deliver-wire.ts';
import { start } from './processes.ts';
import type { StagedFleet } from './staged-fleet.ts';

/** The writes of one round trip; the first is the user's and only begins it. */
export const ROUND_TRIP = [
  ['h', 'binding'],
  ['h', 'binding status: RolloutStarted'],
  ['h', 'Work'],
  ['m', "the member's ConfigMap"],
  ['r', 'Work status: what became of it'],
  ['h', 'binding status: Available'],
] as const;
/** As in `flotilla up`: more get a process of their own. */
const MAX_IN_ONE_PROCESS = 50;
const MERGE = 'application/merge-patch+json';

export interface Waves extends Disposable {
  /** From the beginning of the first to the end of the last, in ms. */
  run(): Promise<number>;
}

export async function startWaves(
  folder: string,
  fleet: Pick<StagedFleet, 'wire' | 'member'>,
  { members, waves }: { readonly members: number; readonly waves: readonly (readonly string[])[] },
): Promise<Waves> {
  // That one snapshot is made for all is no part of a wave.
  const legs = (await legsOf(fleet)).filter(({ by }) => by !== 'H');
  const hops = ROUND_TRIP.map(([by]) => by).join('');
  if (legs.map(({ by }) => by).join('') !== `u${hops}`) throw new Error(`the relay has other writes than ${hops}`);
  const data = mkdtempSync(join(folder, 'waves-'));
  const count = waves.flat().length;
  const plan = join(folder, 'waves.json');
  writeFileSync(plan, JSON.stringify({ relay: './baseline/staged-waves.mjs', legs, waves }));
  const servers = Math.max(count, members > MAX_IN_ONE_PROCESS ? MAX_IN_ONE_PROCESS + 1 : 0);
  const worker = start('bench/relay-process.mjs', ['up', data, String(servers), plan]);
  await worker.firstLine;
  const { hub } = wiresFrom(data);
  let left = 0;
  let done: () => void = () => {};
  const end = await listen(hub, `${BINDINGS}?watch=true&labelSelector=by%3Dh`, (line) => {
    const { type, object } = JSON.parse(line) as { type: string; object: { metadata: { name: string } } };
    // The first events are what is there already.
    if (type === 'MODIFIED' && object.metadata.name.startsWith(`hop-${ROUND_TRIP.length}-`) && --left === 0) done();
  });
  const died = once(worker.process, 'exit').then(() => Promise.reject(new Error('the relay has ended')));
  died.catch(() => {});
  let number = 0;
  return {
    async run() {
      left = count;
      const over = new Promise<void>((resolve) => (done = resolve));
      const began = performance.now();
      const body = (legs[0]?.body ?? '').replaceAll('$N', `user ${++number}`);
      await send(hub, 'PATCH', '/api/v1/namespaces/relay-all/configmaps/hop-0-all', body, MERGE);
      await Promise.race([over, died]);
      return performance.now() - began;
    },
    [Symbol.dispose]() {
      end();
      worker[Symbol.dispose]();
    },
  };
}
