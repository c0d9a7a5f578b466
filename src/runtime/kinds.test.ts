import { expect, test } from 'vitest';
import type { LiveCatalogue } from '../api/catalogue.ts';
import type { View, WorkerClient } from './controller.ts';
import { keepKinds } from './kinds.ts';

test.each([
  { it: 'all is known', unknown: undefined, wakeAt: undefined },
  { it: 'nothing is unknown', unknown: [], wakeAt: undefined },
  { it: 'an API server behind it does not answer', unknown: ['gadgets.example.com/v1'], wakeAt: 31_000 },
])('discovery is read again by the clock only while it must be: $it', async ({ unknown, wakeAt }) => {
  let reads = 0;
  const catalogue: LiveCatalogue = {
    byKind: () => undefined,
    preferred: [],
    subscribe: () => () => {},
    async refresh() {
      reads++;
    },
    ...(unknown === undefined ? {} : { unknown }),
  };
  const rest = await keepKinds('hub', catalogue).work({ now: 1000 } as View, 'kinds', {} as WorkerClient);
  expect(reads).toBe(1);
  expect(rest).toMatchObject({ holds: [] });
  expect((rest as { readonly wakeAt?: number }).wakeAt).toBe(wakeAt);
});
