// Plays scripts: one step after the other, each with what came back as one text that can be compared.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canonicalJson } from '../../src/base/json.ts';
import { type Result, run } from '../wire/server.ts';
import { answerOf } from './answer.ts';
import { normalisePrinted } from './normalise.ts';
import { OWN_WARNING } from './own-warnings.ts';
import { type Command, isCommand, type Question, type Script, type Step, words } from './script.ts';
import { askUntil, type Endpoint, type Reply } from './server.ts';

export interface Player {
  readonly kubectl: string;
  readonly endpoint: Endpoint;
}

/** One text per step. */
export async function play(player: Player, script: Script): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-step-'));
  // Raw requests use names of their own each time, so that they can be asked again on a server that knows them already.
  const id = randomBytes(3).toString('hex');
  const kept = new Map<string, string>([['id', id]]);
  try {
    const seen: string[] = [];
    let home = join(folder, 'home-0');
    for (const [index, step] of script.steps.entries()) {
      const text = isCommand(step)
        ? printed(step, await perform(player, step, folder, home), folder)
        : answered(step, await ask(player.endpoint, step, kept), id);
      seen.push(text);
      if (mayChangeKinds(step)) home = join(folder, `home-${index + 1}`);
    }
    return seen;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** kubectl remembers for hours which kinds there are, so after such a step it gets an empty cache. Otherwise a script has one. */
const mayChangeKinds = (step: Step): boolean =>
  /CustomResourceDefinition|\bcrds?\b|apiservice/i.test(isCommand(step) ? JSON.stringify(step) : step.path);

function perform(player: Player, step: Command, folder: string, home: string): Promise<Result> {
  for (const [name, text] of Object.entries(step.files ?? {})) writeFileSync(join(folder, name), text, { mode: 0o755 });
  const args = words(step.run).map((word) => word.replaceAll('FILES', folder));
  return run(player.kubectl, ['--cache-dir', join(home, 'cache'), ...args], {
    env: {
      PATH: process.env['PATH'],
      LANG: 'C',
      TZ: 'UTC',
      HOME: home,
      KUBECONFIG: player.endpoint.kubeconfig,
      ...Object.fromEntries(
        Object.entries(step.env ?? {}).map(([key, value]) => [key, value.replaceAll('FILES', folder)]),
      ),
    },
    ...(step.input === undefined ? {} : { input: step.input }),
  });
}

function printed(step: Command, { code, stdout, stderr }: Result, folder: string): string {
  const linesOf = (stream: string) => judgedLines(step, normalisePrinted(stream.replaceAll(folder, 'FILES')).trimEnd());
  const errors = linesOf(stderr);
  return [`exit ${code}`, ...linesOf(stdout), ...(errors.length > 0 ? [`stderr: ${errors.join('\n')}`] : [])].join(
    '\n',
  );
}

function judgedLines(step: Step, text: string): readonly string[] {
  const lines = (text === '' ? [] : text.split('\n')).filter(
    (line) => ![...(step.without ?? []), OWN_WARNING].some((left) => left.line.test(line)),
  );
  return step.unordered ? lines.toSorted() : lines;
}

async function ask(endpoint: Endpoint, step: Question, kept: Map<string, string>): Promise<Reply> {
  const filled = (text: string) => text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => kept.get(name) ?? `no ${name}`);
  const isRaw = Buffer.isBuffer(step.body) || step.body === undefined;
  const body = isRaw ? step.body : filled(typeof step.body === 'string' ? step.body : JSON.stringify(step.body));
  const question = { ...step, path: filled(step.path), ...(body === undefined ? {} : { body }) };
  const { until } = step;
  const reply = await askUntil(endpoint, question, ({ code }) => until === undefined || code === until);
  for (const [name, place] of Object.entries(step.keep ?? {})) kept.set(name, valueAt(reply.text, place));
  return reply;
}

function valueAt(text: string, place: string): string {
  let value: unknown = JSON.parse(text);
  for (const step of place.split('.')) value = (value as Record<string, unknown> | undefined)?.[step];
  return String(value);
}

function answered(step: Question, reply: Reply, id: string): string {
  const { code, warnings = [], body } = answerOf({ ...reply, text: reply.text.replaceAll(id, 'ID') });
  // Keys in an order of their own: theirs means nothing.
  const shown = typeof body === 'string' ? body : JSON.stringify(JSON.parse(canonicalJson(body)), undefined, 1);
  return judgedLines(step, [String(code), ...warnings, shown].join('\n')).join('\n');
}
