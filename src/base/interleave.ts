// Merges two streams in the order of arrival. Guarantee: an item is processed before the next one is taken; the result
// ends when the first stream ends, even if the second has more items; an error of either is thrown.

export type Interleaved<A, B> = { readonly main: A } | { readonly side: B };

/**
 * A reader that stops early must also end the second stream by other means, such as its signal: it may be waiting for
 * an item that never arrives.
 */
export async function* interleaved<A, B>(
  main: AsyncIterable<A>,
  side: AsyncIterable<B>,
): AsyncGenerator<Interleaved<A, B>, void> {
  const mains = main[Symbol.asyncIterator]();
  const sides = side[Symbol.asyncIterator]();
  const nextMain = async () => ({ of: 'main', result: await mains.next() }) as const;
  const nextSide = async () => ({ of: 'side', result: await sides.next() }) as const;
  const waiting: { main: ReturnType<typeof nextMain>; side?: ReturnType<typeof nextSide> } = {
    main: nextMain(),
    side: nextSide(),
  };
  for (;;) {
    const next = await Promise.race([waiting.main, ...(waiting.side === undefined ? [] : [waiting.side])]);
    if (next.of === 'main') {
      if (next.result.done) return;
      yield { main: next.result.value };
      waiting.main = nextMain();
    } else if (next.result.done) {
      delete waiting.side;
    } else {
      yield { side: next.result.value };
      waiting.side = nextSide();
    }
  }
}
