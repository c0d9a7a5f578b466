// Whatever the Works contain, whatever other clients do on the member, and however often the agent dies or loses a
// response: in the end the member has the desired state of the newest Work, and no foreign object is deleted or
// changed.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../test/properties.ts';
import type { Request } from '../../api/transport.ts';
import { AbortError, ApiError, LostError } from '../../base/errors.ts';
import { aConfigMap, aRig, type Meddle, PLACE, type Rig } from './applier.testing.ts';

const name = fc.constantFrom('a', 'b', 'c');
const data = fc.dictionary(fc.constantFrom('x', 'y'), fc.constantFrom('1', '2'), { maxKeys: 2 });
const order = fc.uniqueArray(fc.record({ name, data }), { selector: (each) => each.name });

type Step =
  | {
      readonly do: 'order';
      readonly work: 'one' | 'two';
      readonly maps: readonly { readonly name: string; readonly data: Record<string, string> }[];
    }
  | { readonly do: 'edit'; readonly name: string; readonly value: string }
  | { readonly do: 'delete'; readonly name: string }
  | { readonly do: 'end'; readonly work: 'one' | 'two' }
  | { readonly do: 'restart' }
  | { readonly do: 'wait'; readonly ms: number };

const work = fc.constantFrom('one', 'two') as fc.Arbitrary<'one' | 'two'>;
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('order' as const), work, maps: order }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('edit' as const), name, value: fc.constantFrom('1', '2', '9') }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), name }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('end' as const), work }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1000, 30_000) }) },
);

/** The two Works never name the same object; other tests cover that case. */
const mapsOf = ({ work, maps }: Extract<Step, { do: 'order' }>) =>
  maps.map((each) => aConfigMap(`${work}-${each.name}`, each.data));

const faults =
  (dice: () => number): Meddle =>
  (_who, request: Request) => {
    if (request.verb === 'list') return undefined;
    switch (dice()) {
      case 0:
        return { before: new LostError('lost on the way', { sent: false }) };
      case 1:
        return { after: new LostError('the answer was lost') };
      case 2:
        return { before: new ApiError(503, 'ServiceUnavailable', 'not now') };
      case 3:
        return { after: new AbortError('killed') };
      default:
        return undefined;
    }
  };

const ignoringMissing = async (call: Promise<unknown>): Promise<void> => {
  await call.catch((error: unknown) => {
    if (!(error instanceof ApiError) || (error.reason !== 'NotFound' && error.reason !== 'Conflict')) throw error;
  });
};

async function take(rig: Rig, each: Step): Promise<void> {
  switch (each.do) {
    case 'order':
      // A Work that is being deleted accepts no new manifests: its successor has to wait for it.
      return ignoringMissing(rig.order(`${each.work}-work`, mapsOf(each)));
    case 'edit':
      return ignoringMissing(
        rig.patch('configmaps', 'shop', `one-${each.name}`, { data: { x: each.value, theirs: each.value } }),
      );
    case 'delete':
      return ignoringMissing(rig.remove('member', 'configmaps', 'shop', `two-${each.name}`));
    case 'end':
      return ignoringMissing(rig.remove('hub', 'works', PLACE, `${each.work}-work`));
    case 'restart':
      await rig.stop();
      await rig.start();
      return undefined;
    case 'wait':
      return rig.pass(each.ms, each.ms);
  }
}

test('the member ends as ordered, and what others have stays', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 3, maxLength: 12 }),
      fc.infiniteStream(fc.nat(24)),
      async (steps, stream) => {
        await using rig = await aRig();
        await rig.member.create('namespaces', undefined, { metadata: { name: 'shop' } });
        await rig.member.create('configmaps', 'shop', { metadata: { name: 'foreign' }, data: { x: '7' } });
        await rig.start();
        rig.meddle = faults(() => stream.next().value ?? 9);
        for (const each of steps) {
          await take(rig, each);
          await rig.settles();
        }
        rig.meddle = undefined;
        await rig.stop();
        await rig.start();
        await rig.pass(120_000, 30_000);
        await rig.pass(1_800_000, 300_000);

        const wanted = new Set<string>();
        for (const key of ['one', 'two']) {
          const found = await rig.work(`${key}-work`).catch(() => undefined);
          if (found === undefined) continue;
          expect(await rig.verdict(`${key}-work`)).toBe(
            'Applied=True/AllManifestsApplied Available=True/AllManifestsAvailable',
          );
          for (const manifest of found.spec.workload?.manifests ?? []) {
            const { metadata, data: wish } = manifest as ReturnType<typeof aConfigMap>;
            wanted.add(metadata.name);
            const live = await rig.find('configmaps', 'shop', metadata.name);
            expect({ ...(live?.['data'] as object) }).toMatchObject(wish);
          }
        }
        const { list } = await rig.member.call({ verb: 'list', at: rig.member.at('configmaps', 'shop') });
        const present = (list?.items ?? [])
          .map((item) => item.metadata.name ?? '')
          .filter((each) => !each.startsWith('kube-'));
        expect(present.sort()).toEqual([...wanted, 'foreign'].sort());
        expect((await rig.find('configmaps', 'shop', 'foreign'))?.['data']).toEqual({ x: '7' });
        expect((await rig.find('configmaps', 'shop', 'foreign'))?.metadata.ownerReferences).toBeUndefined();
      },
    ),
    { numRuns: runs(25) },
  );
});
