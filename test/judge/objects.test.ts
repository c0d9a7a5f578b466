// Generated objects, created in a dry run on ours and on a real server: what is filled in and what is refused is the same.
import { describe, expect, inject, test } from 'vitest';
import { disagreement } from './generated/agree.ts';
import { eachOf, startBoth } from './generated/both.ts';
import { drawn } from './generated/drawn.ts';
import { fleetRequests, isRefusedByItsKind } from './generated/fleet-objects.ts';
import { generate, samples } from './generated/objects.ts';

const { first: FIRST, count: COUNT } = drawn(process.env['KUBE_JUDGE_OBJECTS']);
const AT_ONCE = 8;

/** Those with special behaviour that people write every day. */
const KINDS: ReadonlySet<string> = new Set([
  ...['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob', 'Pod', 'Service', 'Namespace'],
  ...['ConfigMap', 'Secret', 'ServiceAccount', 'Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding'],
]);

const judge = inject('judge');

describe.skipIf(judge === undefined)('generated objects', () => {
  test(`of Kubernetes' own kinds get the same answer`, async () => {
    await using both = await startBoth(judge!);
    const from = samples(both.namespace).filter(({ kind }) => KINDS.has(kind));
    const wrong: unknown[] = [];
    let taken = 0;
    await eachOf(
      Array.from({ length: COUNT }, (_, index) => FIRST + index),
      AT_ONCE,
      async (seed) => {
        const { path, object, edits } = generate(seed, from, both.namespace);
        const { ours, real } = await both.ask({ path: `${path}?dryRun=All&fieldValidation=Strict`, body: object });
        if (real.code === 201) taken++;
        const differs = disagreement(ours, real);
        if (differs.length > 0) wrong.push({ seed, kind: object.kind, edits, differs });
      },
    );
    console.log(
      `${COUNT} generated objects of built-in kinds from seed ${FIRST} on: ${taken} taken, ${COUNT - taken} refused, ${wrong.length} differ`,
    );
    // Neither mostly taken nor mostly refused, or little is seen.
    expect(Math.min(taken, COUNT - taken)).toBeGreaterThan(COUNT / 5);
    expect(wrong).toEqual([]);
  });

  test('of our own kinds get the same answer', async () => {
    await using both = await startBoth(judge!);
    const wrong: unknown[] = [];
    let stricter = 0;
    const requests = fleetRequests(both.namespace);
    await eachOf(requests, AT_ONCE, async (request) => {
      const { ours, real } = await both.ask(request);
      const differs = disagreement(ours, real);
      if (isRefusedByItsKind(request.of, real, ours)) stricter++;
      else if (differs.length > 0) wrong.push({ kind: request.of.kind, body: request.body, differs });
    });
    console.log(
      `${requests.length} variations of objects of our own kinds: ${stricter} refused by the kind itself, ${wrong.length} differ`,
    );
    expect(requests.length).toBeGreaterThan(500);
    expect(wrong).toEqual([]);
  });
});
