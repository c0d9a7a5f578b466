// What one agent takes for the objects that it keeps as ordered: the look at each of them now and then, and memory.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { aConfigMap, aNamespace, aRig } from '../src/member/apply/applier.testing.ts';
import { ended, program, said, type Vitals, vitalsFlags, vitalsOf } from './fleet-process.ts';
import { median, type Row } from './report.ts';

const QUARTER_HOUR_MS = 900_000;
const IS_SMALL = process.env['FLOTILLA_BENCH_SMALL'] === '1';
const ROUNDS = IS_SMALL ? 3 : 20;
/** Looks are spread over a part of their period. */
const LOOK_EVERY_MS = 2 * QUARTER_HOUR_MS;
const STARTS = IS_SMALL ? 1 : 3;
const MB = 2 ** 20;

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Every quarter of an hour an agent looks at each object, though no watch has told of it. In one process with the member's API server. */
export async function recheckRow(objects: number, length: number, tell: (row: Row) => void): Promise<void> {
  await using rig = await aRig();
  const maps = Array.from({ length: objects }, (_, index) =>
    aConfigMap(`app-${index}`, { value: String(index), text: 'x'.repeat(length) }),
  );
  await rig.start();
  await rig.order('web-work', [aNamespace('shop'), ...maps], {
    applyStrategy: { type: 'ClientSideApply', whenToApply: 'IfNotDrifted' } as never,
  });
  await rig.settles();
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    rig.gets.length = 0;
    const before = cpuMs();
    await rig.pass(LOOK_EVERY_MS, LOOK_EVERY_MS);
    const looks = rig.gets.filter((each) => each === 'member get configmaps').length;
    if (looks < objects) throw new Error(`the agent looked at ${looks} of ${objects} objects`);
    ours.push((cpuMs() - before) / looks);
    const since = cpuMs();
    for (let each = 0; each < looks; each++) await rig.find('configmaps', 'shop', `app-${each % objects}`);
    bare.push((cpuMs() - since) / looks);
  }
  const us = (ms: number) => `${(ms * 1000).toFixed(0)} µs`;
  tell({
    name: `a look at ${objects} objects that are as ordered, each`,
    ratio: median(ours) / Math.max(0.001, median(bare)),
    figures: `${us(median(ours))} of processor time against ${us(median(bare))} of a bare get; every quarter of an hour`,
  });
}

/** An agent over https with all that is placed on its member, against a Node process that keeps the same objects and does nothing. */
export async function agentMemoryRow(
  folder: string,
  objects: number,
  length: number,
  tell: (row: Row) => void,
): Promise<void> {
  const data = mkdtempSync(join(folder, 'data-'));
  const kubeconfig = join(data, 'kubeconfig');
  const up = spawn(process.execPath, [program, 'up', '--port', '0', '--data-dir', data, '--members', '1'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await said(up, 'ready:');
    const flotilla = (...args: readonly string[]) =>
      execFileSync(process.execPath, [program, ...args, '--kubeconfig', kubeconfig]);
    const agentFile = join(data, 'extra.kubeconfig');
    flotilla('join', 'extra', '--output', agentFile);
    const items = Array.from({ length: objects }, (_, index) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `app-${index}`, namespace: 'shop' },
      data: { value: String(index), text: 'x'.repeat(length) },
    }));
    const content = join(data, 'content.json');
    writeFileSync(content, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [NAMESPACE, ...items, PLACEMENT] }));
    flotilla('apply', '-f', content);
    const options = ['--hub-kubeconfig', agentFile, '--kubeconfig', kubeconfig, '--context', 'member-1'];
    const agent = [program, 'member', '--name', 'extra', ...options, '--log-level', 'debug'];
    const keeping = `globalThis.kept = JSON.parse(require('node:fs').readFileSync(${JSON.stringify(content)})); console.log('running'); setInterval(() => {}, 1e6)`;
    const rss = { ours: [] as number[], bare: [] as number[] };
    for (let round = 0; round < STARTS; round++) {
      rss.ours.push(await residentMb(folder, agent, `${objects + 1} manifests: 0 not applied`));
      rss.bare.push(await residentMb(folder, ['--eval', keeping], 'running'));
    }
    tell({
      name: `an agent of ${objects} objects, memory`,
      ratio: median(rss.ours) / median(rss.bare),
      figures: `${median(rss.ours).toFixed(0)} MB against ${median(rss.bare).toFixed(0)} MB of a Node process that only keeps its objects (target 1.3x)`,
    });
  } finally {
    await ended(up);
  }
}

const NAMESPACE = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
/** On the member `extra` alone: `member-1` has an agent of its own, in the process of the hub. */
const PLACEMENT = {
  apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
  kind: 'ClusterResourcePlacement',
  metadata: { name: 'web' },
  spec: {
    resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: 'shop' }],
    policy: { placementType: 'PickFixed', clusterNames: ['extra'] },
  },
};

async function residentMb(folder: string, args: readonly string[], word: string): Promise<number> {
  const child = spawn(process.execPath, [...vitalsFlags, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, FLOTILLA_BENCH_FOLDER: folder },
  });
  process.once('exit', () => child.kill());
  // An agent's log goes to standard error.
  child.stderr.on('data', (chunk: Buffer) => child.stdout.emit('data', chunk));
  try {
    await said(child, word);
    const [vitals] = await vitalsOf(folder, [child.pid as number]);
    return (vitals as Vitals).rss / MB;
  } finally {
    await ended(child);
  }
}
