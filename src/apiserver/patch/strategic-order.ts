// The order of a merged list. Guarantee: both inputs keep their own order.

/**
 * Items sorted by the first position of their keys in `order`; items without a position keep their order at the end.
 */
export function orderedBy<T, K>(items: readonly T[], order: readonly K[], keyOf: (item: T) => K): readonly T[] {
  const places = new Map<K, number>();
  for (let i = order.length - 1; i >= 0; i--) places.set(order[i] as K, i);
  const placeOf = (item: T) => places.get(keyOf(item)) ?? Number.POSITIVE_INFINITY;
  return items.toSorted((a, b) => {
    const left = placeOf(a);
    const right = placeOf(b);
    return left === right ? 0 : left - right;
  });
}

/** Puts each of the others before the first of ours that followed it in the old list; new ones of ours come first. */
export function interleaved<T>(lists: {
  readonly ours: readonly T[];
  readonly others: readonly T[];
  readonly placeOf: (item: T) => number | undefined;
}): readonly T[] {
  const { ours, others, placeOf } = lists;
  const result: T[] = [];
  let next = 0;
  for (const item of ours) {
    const place = placeOf(item);
    while (next < others.length && place !== undefined) {
      const other = placeOf(others[next] as T);
      if (other === undefined || other >= place) break;
      result.push(others[next++] as T);
    }
    result.push(item);
  }
  return result.concat(others.slice(next));
}
