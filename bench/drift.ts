// Edits on members, as people make them there: `flotilla up` with a placement of 50 ConfigMaps on 100 members (or as many as are named:
// `npm run bench -- drift 20`) that reports drift and leaves it alone. Measured are the time from an edit until the placement's status has both values,
// what a fleet writes that has nothing to do but to keep drift reported, what the look at an object costs that an agent takes now and then, and
// the memory of an agent.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BINDINGS, CONFIG_MAPS, FLEET, type Fleet, startFleet } from './deliver-fleet.ts';
import { listen, send } from './deliver-wire.ts';
import { agentMemoryRow, recheckRow } from './drift-agent.ts';
import { median, type Row } from './report.ts';

const IS_SMALL = process.env['FLOTILLA_BENCH_SMALL'] === '1';
const MEMBERS = IS_SMALL ? 3 : 100;
const OBJECTS = 50;
/** Characters of each. */
const LENGTH = 1000;
const EDITS = IS_SMALL ? 20 : 400;
const TARGET_MS = 1000;
/** Heartbeats and resyncs of watches are part of it. */
const IDLE_MS = IS_SMALL ? 10_000 : 90_000;
/** An edit that is never reported is a failure, not a slow one. */
const PATIENCE_MS = 60_000;
const MERGE = 'application/merge-patch+json';
const PLACEMENTS = `${FLEET}/clusterresourceplacements`;

interface Detail {
  readonly path: string;
  readonly valueInMember?: string;
}

interface Placement {
  readonly metadata: { readonly name: string };
  readonly status?: {
    readonly placementStatuses?: readonly {
      readonly clusterName?: string;
      readonly driftedPlacements?: readonly { readonly name: string; readonly observedDrifts?: readonly Detail[] }[];
    }[];
  };
}

export async function rows(tell: (row: Row) => void): Promise<void> {
  const members = Number(process.argv[3] ?? MEMBERS);
  if (!Number.isInteger(members) || members < 1) throw new Error('the number of members is like 100');
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-drift-'));
  try {
    await recheckRow(OBJECTS, LENGTH, tell);
    await agentMemoryRow(folder, OBJECTS, LENGTH, tell);
    await using fleet = await startFleet(folder, members, '100ms', new Array(OBJECTS).fill(LENGTH));
    await reportRows(fleet, members, tell);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `member object` to the value that the status of the placement has of it. */
async function reported(fleet: Fleet) {
  const values = new Map<string, string>();
  const waiting = new Map<string, { readonly value: string; arrived(): void }>();
  const stop = await listen(fleet.wire, `${PLACEMENTS}?watch=true`, (line) => {
    const { object } = JSON.parse(line) as { readonly object: Placement };
    for (const { clusterName, driftedPlacements = [] } of object.status?.placementStatuses ?? []) {
      for (const { name, observedDrifts = [] } of driftedPlacements) {
        const key = `${clusterName} ${name}`;
        const found = observedDrifts.find(({ path }) => path === '/data/value')?.valueInMember ?? '';
        values.set(key, found);
        if (waiting.get(key)?.value === found) waiting.get(key)?.arrived();
      }
    }
  });
  return {
    stop,
    /** Of edits that are made at once: ms until each is reported. */
    async after(edits: readonly Edit[], value: string): Promise<readonly number[]> {
      const began = performance.now();
      const all = edits.map(({ member, name }) => {
        const key = `member-${member} ${name}`;
        return new Promise<number>((resolve, reject) => {
          const late = setTimeout(() => reject(new Error(`the drift of ${key} is not reported`)), PATIENCE_MS);
          const arrived = () => {
            clearTimeout(late);
            resolve(performance.now() - began);
          };
          waiting.set(key, { value, arrived });
        });
      });
      for (const { member, name } of edits) {
        const path = `${fleet.member.path.replace(/member-1$/, `member-${member}`)}${CONFIG_MAPS}/${name}`;
        await send(fleet.member.wire, 'PATCH', path, JSON.stringify({ data: { value } }), MERGE);
      }
      return Promise.all(all);
    },
  };
}

interface Edit {
  readonly member: number;
  readonly name: string;
}

const nameOf = (index: number): string => (index === 0 ? 'app' : `app-${index}`);

async function reportRows(fleet: Fleet, members: number, tell: (row: Row) => void): Promise<void> {
  const { wire } = fleet;
  const apply = (whenToApply: string) =>
    send(
      wire,
      'PATCH',
      `${PLACEMENTS}/web`,
      JSON.stringify({ spec: { strategy: { applyStrategy: { whenToApply } } } }),
      MERGE,
    );
  await apply('IfNotDrifted');
  await sleep(5000);
  await fleet.statusMs();
  const drifts = await reported(fleet);
  try {
    const times: number[] = [];
    // An edit of each member in turn, always of an object that is as on the hub: its report is new.
    for (let each = 0; each < EDITS; each++) {
      const edit = { member: (each % members) + 1, name: nameOf(Math.floor(each / members) % OBJECTS) };
      const [ms] = await drifts.after([edit], `edited-${each}`);
      times.push(ms as number);
    }
    const sorted = times.toSorted((a, b) => a - b);
    const percentile = (percent: number) =>
      sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] as number;
    tell({
      name: `${members} members: edit to the placement's status, p99`,
      ratio: percentile(99) / TARGET_MS,
      bound: { atMost: 1 },
      figures: `of ${TARGET_MS} ms: p50 ${median(times).toFixed(0)} ms, p99 ${percentile(99).toFixed(0)} ms, max ${Math.max(...times).toFixed(0)} ms; ${EDITS} edits, one after the other`,
    });
    const everywhere = Array.from({ length: members }, (_, index) => ({
      member: index + 1,
      name: nameOf(OBJECTS - 1),
    }));
    const atOnce = await drifts.after(everywhere, 'edited at once');
    tell({
      name: `${members} members: one edit on each at once, all reported`,
      ratio: Math.max(...atOnce) / TARGET_MS,
      figures: `p50 ${median(atOnce).toFixed(0)} ms, all after ${Math.max(...atOnce).toFixed(0)} ms`,
    });
  } finally {
    drifts.stop();
  }
  await idleRow(fleet, members, tell);
}

/** What the placement's own objects are written while its drift stays as it is. */
async function idleRow({ wire, member }: Fleet, members: number, tell: (row: Row) => void): Promise<void> {
  await sleep(5000);
  const heard: string[] = [];
  const places = [
    { on: 'hub', path: PLACEMENTS },
    { on: 'hub', path: BINDINGS },
    { on: 'hub', path: `${FLEET}/works` },
    { on: 'member-1', path: `${member.path}${CONFIG_MAPS}` },
    { on: 'member-1', path: `${member.path}${FLEET}/appliedworks` },
  ];
  const ends = await Promise.all(
    places.map(async ({ on, path }) => {
      const at = on === 'hub' ? wire : member.wire;
      const list = JSON.parse(await send(at, 'GET', `${path}?limit=1`)) as { metadata: { resourceVersion: string } };
      return listen(at, `${path}?watch=true&resourceVersion=${list.metadata.resourceVersion}`, () =>
        heard.push(`${on} ${path}`),
      );
    }),
  );
  await sleep(IDLE_MS);
  for (const end of ends) end();
  tell({
    name: `${members} members: writes while drift stays reported`,
    ratio: heard.length,
    bound: { atMost: 0 },
    figures: `${heard.length} in ${IDLE_MS / 1000} s of placements, bindings and Works, and on a member of ConfigMaps and AppliedWorks${heard.length === 0 ? '' : `: ${[...new Set(heard)].join(', ')}`}`,
  });
}
