// The two relays that a delivery is measured against, each in processes of its own: through the same transports, and to bare files.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BINDINGS, type Fleet, type Side, wiresFrom } from './deliver-fleet.ts';
import { legsOf, plainLegs } from './deliver-legs.ts';
import { listen, send, type Wire } from './deliver-wire.ts';
import { vitalsFlags } from './fleet-process.ts';
import { start } from './processes.ts';

export interface Relayed {
  readonly members: number;
  /** As the baselines have them. */
  readonly hops: string;
  readonly bytes: number;
}

/** As in `flotilla up`: more get a process of their own. */
const MAX_IN_ONE_PROCESS = 50;
const MERGE = 'application/merge-patch+json';

export async function startRelay(folder: string, fleet: Fleet, relayed: Relayed): Promise<Side & Disposable> {
  const { members, hops, bytes } = relayed;
  const data = mkdtempSync(join(folder, 'relay-'));
  const isOwn = fleet.kubeconfig === undefined;
  const legs = isOwn ? await legsOf(fleet) : plainLegs(hops, bytes);
  if (legs.map(({ by }) => by).join('') !== hops) throw new Error(`the relay has other writes than ${hops}`);
  const legsFile = join(folder, 'legs.json');
  writeFileSync(legsFile, JSON.stringify(legs));
  const where = isOwn ? ['up', data] : ['kube', fleet.kubeconfig as string];
  // What watches over the fleet while it is measured watches over this, too: it costs both the same.
  const worker = start('bench/relay-process.mjs', [...where, String(members), legsFile], { flags: vitalsFlags });
  await worker.firstLine;
  const wire = isOwn ? wiresFrom(data).hub : fleet.wire;
  const arrivals = countTo(members);
  // As one who watches the bindings of a delivery.
  const watched = isOwn ? BINDINGS : '/api/v1/configmaps';
  const end = await listen(wire, `${watched}?watch=true&labelSelector=by%3Dh`, (line) => {
    const { type, object } = JSON.parse(line) as { type: string; object: { metadata: { name: string } } };
    // The first events are what is there already.
    if (type === 'MODIFIED' && object.metadata.name.startsWith(`hop-${hops.length - 1}-`)) arrivals.one();
  });
  let number = 0;
  return {
    change: () =>
      arrivals.all(() => {
        const body = (legs[0]?.body ?? '').replaceAll('$N', `user ${++number}`);
        return send(wire, 'PATCH', '/api/v1/namespaces/relay-all/configmaps/hop-0-all', body, MERGE);
      }),
    [Symbol.dispose]() {
      end();
      worker[Symbol.dispose]();
    },
  };
}

export async function startFileRelay(folder: string, fleet: Fleet, relayed: Relayed): Promise<Side & Disposable> {
  const { members, hops, bytes } = relayed;
  const args = [...fleet.files, mkdtempSync(join(folder, 'files-')), String(members), hops, String(bytes)];
  const isApart = members > MAX_IN_ONE_PROCESS || fleet.kubeconfig !== undefined;
  const worker = start('bench/baseline/file-relay.mjs', isApart ? [...args, 'two'] : args);
  const wire: Wire = { port: Number(await worker.firstLine), ca: fleet.wire.ca };
  const arrivals = countTo(members);
  const end = await listen(wire, '/?of=user', arrivals.one);
  let number = 0;
  return {
    change: () =>
      arrivals.all(() => {
        const write = `${JSON.stringify({ change: ++number, hop: 0, text: 'x'.repeat(bytes) })}\n`;
        return send(wire, 'POST', '/', write);
      }),
    [Symbol.dispose]() {
      end();
      worker[Symbol.dispose]();
    },
  };
}

/** How long after a start each member's turn came. */
function countTo(members: number) {
  let began = 0;
  let arrived: number[] = [];
  let done: (ms: readonly number[]) => void = () => {};
  return {
    one() {
      arrived.push(performance.now() - began);
      if (arrived.length === members) done(arrived);
    },
    all: (start: () => Promise<unknown>) =>
      new Promise<readonly number[]>((resolve, reject) => {
        arrived = [];
        done = resolve;
        began = performance.now();
        start().catch(reject);
      }),
  };
}
