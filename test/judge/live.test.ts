// A real server, asked now: it still answers what was recorded of it. With judge.test.ts, which holds ours against the recording, the two
// servers answer alike. kubectl takes minutes, so its scripts are played only by the full proof or with KUBE_JUDGE=all; raw requests always are.
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { isFull } from '../../scripts/gate/depth.ts';
import { patience } from '../../scripts/gate/patience.ts';
import { findKubectl } from '../../scripts/kubectl.ts';
import { recorded } from './golden.ts';
import { play } from './play.ts';
import { connectReal } from './real.ts';
import { isCommand, titleOf } from './script.ts';
import { scripts } from './scripts/all.ts';
import type { Endpoint } from './server.ts';

const judge = inject('judge');
const isAll = isFull || process.env['KUBE_JUDGE'] === 'all';
const wanted = scripts.filter((script) => isAll || !script.steps.some(isCommand));

describe.skipIf(judge === undefined)('a real server answers as recorded', () => {
  const seen = new Map<string, readonly string[]>();
  let endpoint: Endpoint;

  beforeAll(async () => {
    endpoint = await connectReal(judge!);
    const kubectl = findKubectl({ mayBuild: true, asRecorded: true }) ?? 'kubectl';
    // They have names of their own, so they may be asked side by side; kubectl's share some.
    const sideBySide = wanted.filter((script) => !script.steps.some(isCommand));
    await Promise.all(
      sideBySide.map(async (script) => seen.set(script.name, await play({ kubectl, endpoint }, script))),
    );
    for (const script of wanted.filter((each) => !sideBySide.includes(each)))
      seen.set(script.name, await play({ kubectl, endpoint }, script));
  }, patience(1_800_000));
  afterAll(() => endpoint.close());

  describe.each(wanted.map((script) => ({ script, name: script.name })))('$name', ({ script }) => {
    const golden = recorded(script);
    for (const [index, step] of script.steps.entries()) {
      test(`${index + 1}: ${titleOf(step).slice(0, 160)}`, () =>
        expect(seen.get(script.name)?.[index]).toBe(golden[index]?.printed));
    }
  });
});
