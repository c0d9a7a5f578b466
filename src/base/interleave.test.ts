import { describe, expect, test } from 'vitest';
import { interleaved } from './interleave.ts';

/** A stream whose items the test supplies one by one. */
function handed<T>() {
  const items: T[] = [];
  let wake = () => {};
  let end: { readonly error?: Error } | undefined;
  async function* stream(): AsyncGenerator<T, void> {
    for (;;) {
      const item = items.shift();
      if (item !== undefined) yield item;
      else if (end?.error !== undefined) throw end.error;
      else if (end !== undefined) return;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  }
  return {
    stream: stream(),
    give(item: T) {
      items.push(item);
      wake();
    },
    close(error?: Error) {
      end = error === undefined ? {} : { error };
      wake();
    },
  };
}

describe('two streams as one', () => {
  test('come in the order in which things happen', async () => {
    const [main, side] = [handed<string>(), handed<number>()];
    const both = interleaved(main.stream, side.stream);
    side.give(1);
    expect((await both.next()).value).toEqual({ side: 1 });
    main.give('a');
    expect((await both.next()).value).toEqual({ main: 'a' });
    side.give(2);
    expect((await both.next()).value).toEqual({ side: 2 });
  });

  test('end with the first, whatever the second does', async () => {
    const [main, side] = [handed<string>(), handed<number>()];
    const both = interleaved(main.stream, side.stream);
    main.close();
    expect(await both.next()).toEqual({ value: undefined, done: true });
  });

  test('go on without the second', async () => {
    const [main, side] = [handed<string>(), handed<number>()];
    const both = interleaved(main.stream, side.stream);
    side.close();
    main.give('a');
    expect((await both.next()).value).toEqual({ main: 'a' });
    main.close();
    expect((await both.next()).done).toBe(true);
  });

  test.each(['main', 'side'] as const)('throw what the %s throws', async (which) => {
    const streams = { main: handed<string>(), side: handed<number>() };
    const both = interleaved(streams.main.stream, streams.side.stream);
    streams[which].close(new Error('broken'));
    await expect(both.next()).rejects.toThrow('broken');
  });
});
