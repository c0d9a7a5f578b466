// A real server, asked now: it still answers what was recorded of it. With judge.test.ts, which holds ours against the recording, the two
// servers answer alike. It takes minutes, so only the full proof plays it.
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { findKubectl } from '../../scripts/kubectl.ts';
import { recorded } from './golden.ts';
import { play } from './play.ts';
import { connectReal } from './real.ts';
import { isCommand, titleOf } from './script.ts';
import { scripts } from './scripts/all.ts';
import type { Endpoint } from './server.ts';

const judge = inject('judge');

describe.skipIf(judge === undefined)('a real server answers as recorded', () => {
  const seen = new Map<string, readonly string[]>();
  let endpoint: Endpoint;

  beforeAll(async () => {
    endpoint = await connectReal(judge!);
    const kubectl = findKubectl({ mayBuild: true, asRecorded: true }) ?? 'kubectl';
    // They have names of their own, so they may be asked side by side; kubectl's share some.
    const sideBySide = scripts.filter((script) => !script.steps.some(isCommand));
    await Promise.all(
      sideBySide.map(async (script) => seen.set(script.name, await play({ kubectl, endpoint }, script))),
    );
    for (const script of scripts.filter((each) => !sideBySide.includes(each)))
      seen.set(script.name, await play({ kubectl, endpoint }, script));
  }, patience(1_800_000));
  afterAll(() => endpoint.close());

  describe.each(scripts.map((script) => ({ script, name: script.name })))('$name', ({ script }) => {
    const golden = recorded(script);
    for (const [index, step] of script.steps.entries()) {
      test(`${index + 1}: ${titleOf(step).slice(0, 160)}`, () =>
        expect(seen.get(script.name)?.[index]).toBe(golden[index]?.printed));
    }
  });
});
