// Git repositories: what reading 10,000 files takes against `git clone` and reading them, and the time from a commit to the clusters for 1 to 200
// bundles. The server is `git http-backend` on this machine.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { aGitServer, type GitServer } from '../test/git-server.ts';
import { started, wiresFrom } from './deliver-fleet.ts';
import { listen, send, type Wire } from './deliver-wire.ts';
import { ended, said } from './fleet-process.ts';
import { median, type Row } from './report.ts';

const FILES = 10_000;
const ROUNDS = 3;
const BUNDLES = [1, 10, 50, 200] as const;
const COMMITS = 5;
const POLL_SECONDS = 1;
const MEMBERS = 3;

export async function rows(tell: (row: Row) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-git-'));
  try {
    await readingRows(folder, tell);
    await commitRows(folder, tell);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const configMap = (name: string, value: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: default\ndata:\n  value: "${value}"\n`;

// ---- reading

interface Read {
  readonly files: number;
  readonly ms: number;
  readonly mb: number;
  readonly stalledMs: number;
}
const WAYS = ['clone', 'program', 'library'] as const;

async function readingRows(folder: string, tell: (row: Row) => void): Promise<void> {
  await using server = await aGitServer();
  const name = (at: number) => `apps/${at % 200}/config-${at}.yaml`;
  const text = (at: number) => configMap(`config-${at}`, `${at} `.repeat(at % 100));
  server.commit(Object.fromEntries(Array.from({ length: FILES }, (_, at) => [name(at), text(at)])));
  const measured = new Map<string, Read[]>(WAYS.map((way) => [way, []]));
  // In turn, so that what else the machine does falls on all.
  for (let round = 0; round < ROUNDS; round++)
    for (const way of WAYS) measured.get(way)?.push(await read(way, server, join(folder, `${way}-${round}`)));
  const of = (way: string, figure: keyof Read) => median((measured.get(way) ?? []).map((each) => each[figure]));
  for (const way of ['program', 'library']) {
    const what = way === 'program' ? 'by the git program' : 'by the library';
    const against = (figure: keyof Read, unit: string, atMost: number, row: string) =>
      tell({
        name: `${FILES} files ${what}, ${row}`,
        ratio: of(way, figure) / of('clone', figure),
        bound: { atMost },
        figures: `${of(way, figure).toFixed(0)} ${unit} against ${of('clone', figure).toFixed(0)} ${unit}${figure === 'ms' ? `, event loop stalled ${of(way, 'stalledMs').toFixed(0)} ms at most` : ''}; load ${load()}`,
      });
    against('ms', 'ms', way === 'program' ? 1.5 : 10, 'time');
    against('mb', 'MB', way === 'program' ? 2 : 5, 'memory');
  }
}

/** A process of its own, so that its peak of memory is its own. The server is in this one, so it must not block. */
async function read(way: string, { url }: GitServer, directory: string): Promise<Read> {
  const reader = new URL('./git-reader.mjs', import.meta.url).pathname;
  const text = await new Promise<string>((done, failed) => {
    execFile(process.execPath, [reader, way, url, directory], (error, stdout) =>
      error ? failed(error) : done(stdout),
    );
  });
  rmSync(directory, { recursive: true, force: true });
  const result = JSON.parse(text) as Read;
  if (result.files !== FILES) throw new Error(`${way} read ${result.files} files`);
  return result;
}

const load = (): string => (loadavg()[0] ?? 0).toFixed(1);

// ---- from a commit to the clusters

interface Rollout {
  readonly firstMs: number;
  readonly allMs: number;
  readonly cpuMs: number;
}

async function commitRows(folder: string, tell: (row: Row) => void): Promise<void> {
  const data = join(folder, 'data');
  const up = started(folder, ['up', '--port', '0', '--data-dir', data, '--members', String(MEMBERS)]);
  try {
    await said(up, 'ready:');
    const { hub, member } = wiresFrom(data);
    const measured = new Map<number, readonly Rollout[]>();
    for (const bundles of BUNDLES) measured.set(bundles, await rollouts(hub, member, bundles, up.pid as number));
    const of = (bundles: number, figure: keyof Rollout) =>
      median((measured.get(bundles) ?? []).map((each) => each[figure]));
    for (const bundles of BUNDLES) {
      const [first, all] = [of(bundles, 'firstMs'), of(bundles, 'allMs')];
      tell({
        name: `a commit that changes ${bundles} bundles`,
        ratio: first / of(1, 'firstMs'),
        figures: `${first.toFixed(0)} ms to the first object changed on a cluster, ${all.toFixed(0)} ms to all, polled every ${POLL_SECONDS} s; ${(of(bundles, 'cpuMs') / bundles).toFixed(1)} ms of processor per bundle on the hub; load ${load()}`,
      });
    }
    tell({
      name: 'processor time per bundle, 200 against 50',
      ratio: of(200, 'cpuMs') / 200 / (of(50, 'cpuMs') / 50),
      bound: { atMost: 2 },
      figures: `${(of(200, 'cpuMs') / 200).toFixed(1)} ms against ${(of(50, 'cpuMs') / 50).toFixed(1)} ms`,
    });
  } finally {
    await ended(up);
  }
}

async function rollouts(
  hub: Wire,
  member: { readonly wire: Wire; readonly path: string },
  bundles: number,
  pid: number,
): Promise<readonly Rollout[]> {
  await using server = await aGitServer();
  const label = `of-${bundles}`;
  const contents = (value: string) =>
    Object.fromEntries(
      Array.from({ length: bundles }, (_, at) => [`${at}/a.yaml`, configMap(`${label}-${at}`, value)]),
    );
  const options = Object.fromEntries(Array.from({ length: bundles }, (_, at) => [`${at}/fleet.yaml`, '']));
  server.commit({ ...contents('0'), ...options });
  const arrived = new Map<string, Map<string, number>>();
  const watching = await listen(
    member.wire,
    `${member.path}/api/v1/namespaces/default/configmaps?watch=true`,
    (line) => {
      const { object } = JSON.parse(line) as { object: { metadata: { name: string }; data?: { value?: string } } };
      const { value } = object.data ?? {};
      if (value === undefined || !object.metadata.name.startsWith(`${label}-`)) return;
      const names = arrived.get(value) ?? new Map<string, number>();
      arrived.set(value, names);
      if (!names.has(object.metadata.name)) names.set(object.metadata.name, performance.now());
    },
  );
  const isAll = (value: string) => arrived.get(value)?.size === bundles;
  const path = '/apis/flotilla.dev/v1alpha1/namespaces/fleet-system/gitrepos';
  const repo = {
    apiVersion: 'flotilla.dev/v1alpha1',
    kind: 'GitRepo',
    metadata: { name: label },
    spec: { repo: server.url, pollingInterval: `${POLL_SECONDS}s`, targets: [{ clusterSelector: {} }] },
  };
  await send(hub, 'POST', path, JSON.stringify(repo));
  try {
    await reached(() => isAll('0'));
    const all: Rollout[] = [];
    for (let at = 1; at <= COMMITS; at++) {
      await isReady(hub, `${path}/${label}`);
      const cpu = cpuOf(pid);
      server.commit(contents(String(at)));
      const began = performance.now();
      await reached(() => isAll(String(at)));
      const moments = [...(arrived.get(String(at))?.values() ?? [])].map((moment) => moment - began);
      await isReady(hub, `${path}/${label}`);
      all.push({ firstMs: Math.min(...moments), allMs: Math.max(...moments), cpuMs: cpuOf(pid) - cpu });
    }
    return all;
  } finally {
    watching();
    await send(hub, 'DELETE', `${path}/${label}`);
    await reached(async () => !(await send(hub, 'GET', path)).includes(`"${label}"`));
  }
}

const MAX_WAIT_MS = 600_000;

async function reached(is: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + MAX_WAIT_MS;
  while (!(await is())) {
    if (performance.now() > end) throw new Error('a commit did not arrive');
    await sleep(10);
  }
}

const isReady = (hub: Wire, path: string): Promise<void> =>
  reached(async () => {
    const { status } = JSON.parse(await send(hub, 'GET', path)) as {
      status?: { display?: { state?: string }; conditions?: readonly { type: string; status: string }[] };
    };
    await sleep(50);
    return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
  });

/** User and system time, in ticks of 10 ms. */
function cpuOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
