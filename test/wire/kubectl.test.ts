// Real kubectl against the built program: everything it prints is what it prints against a real Kubernetes 1.34.4, except where
// docs/known-differences.md says why not. transcript/ holds the commands and the recorded answers.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { kubectlPath, type Server, skipsKubectl, startServer } from './server.ts';
import { recorded } from './transcript/golden.ts';
import { play } from './transcript/play.ts';
import { scripts } from './transcript/scripts/all.ts';

const known = readFileSync(new URL('../../docs/known-differences.md', import.meta.url), 'utf8');

describe.skipIf(skipsKubectl)('kubectl prints on our server what it prints on Kubernetes 1.34.4', () => {
  const printed = new Map<string, readonly string[]>();
  let server: Server;

  beforeAll(async () => {
    server = await startServer();
    const player = { kubectl: kubectlPath as string, kubeconfig: server.kubeconfig };
    const waiting = [...scripts];
    const playing = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) printed.set(next.name, await play(player, next));
    };
    await Promise.all([playing(), playing(), playing()]);
  }, 900_000);
  afterAll(() => server[Symbol.asyncDispose]());

  describe.each(scripts.map((script) => ({ script, name: script.name })))('$name', ({ script }) => {
    const golden = recorded(script);
    test('was recorded', () => expect(golden.map((step) => step.run)).toEqual(script.steps.map((step) => step.run)));

    for (const [index, step] of script.steps.entries()) {
      test(`${index + 1}: ${step.run.slice(0, 160)}`, () => {
        const real = golden[index]?.printed ?? [];
        const ours = printed.get(script.name)?.[index];
        const reasons = [
          ...(step.without ?? []).map((left) => left.known),
          ...(step.differs ? [step.differs.known] : []),
        ];
        for (const reason of reasons) expect(known).toContain(`\`${reason}\``);
        if (step.differs) {
          expect(ours).toBe(step.differs.text);
          expect(real, 'these no longer differ').not.toContain(ours);
        } else if (!real.includes(ours as string)) expect(ours).toBe(real[0]);
      });
    }
  });
});
