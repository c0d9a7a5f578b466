// Plays a generated sequence of writes on both servers and compares each answer, and the object after it, with who owns what.
import type { KubeObject } from '../../../src/api/object.ts';
import { canonicalJson, isObject } from '../../../src/base/json.ts';
import type { Reply } from '../server.ts';
import { disagreement } from './agree.ts';
import { APPLIED_KINDS, collectionOf } from './applied-kinds.ts';
import { generateWrite } from './applies.ts';
import type { Both } from './both.ts';
import { diceOf } from './dice.ts';

/** The owners without their times, but with whether they have one. */
function ownersIn({ text }: Reply): readonly string[] {
  const body: unknown = JSON.parse(text);
  const metadata = isObject(body) && isObject(body['metadata']) ? body['metadata'] : {};
  const entries = Array.isArray(metadata['managedFields']) ? (metadata['managedFields'] as unknown[]) : [];
  return entries
    .map((entry) => canonicalJson(isObject(entry) && 'time' in entry ? { ...entry, time: 'TIME' } : entry))
    .toSorted();
}

export interface Played {
  readonly seed: number;
  readonly applied: number;
  readonly refused: number;
  readonly wrong?: object;
}

interface Replies {
  readonly ours: Reply;
  readonly real: Reply;
}

/** What differs between two answers, with who owns what. */
function unlike({ ours, real }: Replies): object | undefined {
  const differs = disagreement(ours, real);
  const [mine, theirs] = [ownersIn(ours), ownersIn(real)];
  return differs.length > 0 || canonicalJson(mine) !== canonicalJson(theirs) ? { differs, mine, theirs } : undefined;
}

const objectIn = ({ code, text }: Reply): KubeObject | undefined =>
  code === 200 ? (JSON.parse(text) as KubeObject) : undefined;

export async function playSequence(both: Both, seed: number, length: number): Promise<Played> {
  const dice = diceOf(seed);
  const kind = dice.pick(APPLIED_KINDS);
  const name = `o-${seed}`;
  const pathOf = (version: string) => collectionOf(kind, version, both.namespace);
  const count = { applied: 0, refused: 0 };
  let now: Replies | undefined;
  try {
    for (let step = 0; step < length; step++) {
      const exists = now !== undefined && now.real.code === 200;
      const { method, version, subresource, type, query, body } = generateWrite(dice, { kind, name, exists });
      const object = `${pathOf(version)}/${name}`;
      const place = subresource === '' ? object : `${object}/${subresource}`;
      const read = await both.ask({ path: subresource === 'scale' ? place : object });
      const asked = {
        method,
        path: `${method === 'POST' ? pathOf(version) : place}?${query}`,
        ...(type === undefined ? {} : { type }),
      };
      const [mine, theirs] = [read.ours, read.real].map((reply) => body(objectIn(reply)));
      const answer = await both.ask({ ...asked, body: mine }, { ...asked, body: theirs });
      now = await both.ask({ path: object });
      const differs = unlike(read) ?? unlike(answer) ?? unlike(now);
      if (differs) return { seed, ...count, wrong: { seed, step, ...asked, body: theirs, ...differs } };
      if (answer.real.code < 300) count.applied++;
      else count.refused++;
    }
    return { seed, ...count };
  } finally {
    await both.ask({ method: 'DELETE', path: `${pathOf(kind.versions[0] as string)}/${name}`, body: {} });
  }
}
