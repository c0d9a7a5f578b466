// Real kubectl against the built program: everything it prints is what it prints against a real Kubernetes 1.34.4, except where
// docs/known-differences.md says why not. transcript/ holds the commands and the recorded answers.
import { beforeAll, describe, expect, test } from 'vitest';
import { findKubectl } from '../../scripts/kubectl.ts';
import { knownDifferences } from './known.ts';
import { startServer } from './server.ts';
import { recorded } from './transcript/golden.ts';
import { play } from './transcript/play.ts';
import type { Script } from './transcript/script.ts';
import { scripts } from './transcript/scripts/all.ts';

/** Most of the time goes into starting kubectl: a few at once keep two cores busy. */
const AT_ONCE = 3;

const kubectl = findKubectl({ mayBuild: true, asRecorded: true });

describe.each(scripts.map((script) => ({ script, name: script.name })))('the script $name', ({ script }) => {
  test('was recorded as it is', () =>
    expect(recorded(script).map((step) => step.run)).toEqual(script.steps.map((step) => step.run)));

  test('names only differences that are known', () => {
    const reasons = script.steps.flatMap(({ without = [], differs }) => [...without, ...(differs ? [differs] : [])]);
    expect(reasons.map((reason) => reason.known).filter((id) => !knownDifferences.includes(id))).toEqual([]);
  });
});

// In CI a missing tool is a failure; elsewhere its tests are skipped, visibly.
describe.skipIf(kubectl === undefined && process.env['CI'] === undefined)('kubectl prints what was recorded', () => {
  const printed = new Map<string, readonly string[]>();

  /** Every script has a server of its own, so that none sees what another leaves behind. */
  const playOnFreshServer = async (script: Script): Promise<void> => {
    if (kubectl === undefined) throw new Error('no kubectl 1.34 on PATH, and no Go to build it with');
    await using server = await startServer();
    printed.set(script.name, await play({ kubectl, kubeconfig: server.kubeconfig }, script));
  };

  beforeAll(async () => {
    // The longest first: none of them is then left to run alone at the end.
    const waiting = scripts.toSorted((a, b) => b.steps.length - a.steps.length);
    const playing = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) await playOnFreshServer(next);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, playing));
  }, 900_000);

  describe.each(scripts.map((script) => ({ script, name: script.name })))('$name', ({ script }) => {
    const golden = recorded(script);

    for (const [index, step] of script.steps.entries()) {
      test(`${index + 1}: ${step.run.slice(0, 160)}`, () => {
        const ours = printed.get(script.name)?.[index];
        const real = golden[index]?.printed;
        if (step.differs) {
          expect(ours).toBe(step.differs.text);
          expect(real, 'these no longer differ').not.toBe(ours);
        } else expect(ours).toBe(real);
      });
    }
  });
});
