// A real server, asked now: it still answers what was recorded of it. With judge.test.ts, which holds ours against the recording, the two
// servers answer alike. kubectl takes minutes, so its scripts are played only with KUBE_JUDGE=all; raw requests always are.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findKubectl } from '../../scripts/kubectl.ts';
import { recorded } from './golden.ts';
import { play } from './play.ts';
import { type RealServer, realServer, skipsReal } from './real.ts';
import { isCommand, titleOf } from './script.ts';
import { scripts } from './scripts/all.ts';

const isAll = process.env['KUBE_JUDGE'] === 'all';
const wanted = scripts.filter((script) => isAll || !script.steps.some(isCommand));

describe.skipIf(skipsReal)('a real server answers as recorded', () => {
  const seen = new Map<string, readonly string[]>();
  let real: RealServer;

  beforeAll(async () => {
    real = await realServer();
    const kubectl = findKubectl({ mayBuild: true, asRecorded: true }) ?? 'kubectl';
    for (const script of wanted) seen.set(script.name, await play({ kubectl, endpoint: real.endpoint }, script));
  }, 1_800_000);
  afterAll(() => real[Symbol.asyncDispose]());

  describe.each(wanted.map((script) => ({ script, name: script.name })))('$name', ({ script }) => {
    const golden = recorded(script);
    for (const [index, step] of script.steps.entries()) {
      test(`${index + 1}: ${titleOf(step).slice(0, 160)}`, () =>
        expect(seen.get(script.name)?.[index]).toBe(golden[index]?.printed));
    }
  });
});
