import { describe, expect, test } from 'vitest';
import type { Transport } from '../../api/transport.ts';
import { ApiError, LostError } from '../../base/errors.ts';
import { aBinding, aPlacement, cluster } from '../../insight/placement.testing.ts';
import { whichPlacement } from '../../insight/which-placement.ts';
import { carriedOf } from './carried.ts';

/** A server that gives these answers in turn. */
function asking(...answers: readonly (readonly object[] | Error)[]) {
  let asked = 0;
  const transport = {
    async call() {
      const answer = answers[asked++] ?? [];
      if (answer instanceof Error) throw answer;
      return { list: { items: answer, metadata: {} } };
    },
  } as unknown as Transport;
  const of = carriedOf({ transport } as never, whichPlacement('placement/web'));
  return { of, asked: () => asked };
}

const waiting = (observedResourceIndex = '1') => {
  const placement = aPlacement({ said: 'TF', clusters: [cluster('a', 'TTTTTF'), cluster('b', 'TF')] });
  return { ...placement, status: { ...placement.status, observedResourceIndex } };
};
const bindings = [aBinding('a', 'TTTTF', { index: 1 }), aBinding('b', 'F', { index: 0 })];

describe('what clusters have that wait', () => {
  test('is read once for each revision', async () => {
    const { of, asked } = asking(bindings, bindings);
    expect(await of(waiting())).toEqual(
      new Map([
        ['a', '1'],
        ['b', '0'],
      ]),
    );
    await of(waiting());
    expect(asked()).toBe(1);
    await of(waiting('2'));
    expect(asked()).toBe(2);
  });

  test('is not read where nobody waits, nor where runs roll out', async () => {
    const { of, asked } = asking(bindings);
    expect(await of(aPlacement({ clusters: [cluster('a', 'TTTTTT')] }))).toBeUndefined();
    const external = waiting();
    const spec = { ...external.spec, strategy: { type: 'External' } } as typeof external.spec;
    expect(await of({ ...external, spec })).toBeUndefined();
    expect(asked()).toBe(0);
  });

  test('is not asked for again where it may not be read, but where the server was away', async () => {
    const refused = asking(new ApiError(403, 'Forbidden', 'no'), bindings);
    expect(await refused.of(waiting())).toBeUndefined();
    expect(await refused.of(waiting())).toBeUndefined();
    expect(refused.asked()).toBe(1);
    const lost = asking(new LostError('gone', { sent: false }), bindings);
    expect(await lost.of(waiting())).toBeUndefined();
    expect(await lost.of(waiting())).toHaveProperty('size', 2);
  });

  test('is nothing where a binding carries something of another name', async () => {
    const odd = aBinding('b', 'F');
    const binding = { ...odd, spec: { ...odd.spec, resourceSnapshotName: 'web-x-snapshot' } };
    expect(await asking([binding]).of(waiting())).toEqual(new Map([['b', '']]));
  });
});
