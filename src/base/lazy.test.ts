import { expect, test } from 'vitest';
import { lazy, lazyByText } from './lazy.ts';

test('a lazy value is made when first asked for, and once', () => {
  let made = 0;
  const value = lazy(() => ++made);
  expect(made).toBe(0);
  expect([value(), value(), made]).toEqual([1, 1, 1]);
});

test('a value that is undefined is also made once per text', () => {
  const asked: string[] = [];
  const value = lazyByText((text) => {
    asked.push(text);
    return text === 'a' ? undefined : text.length;
  });
  expect([value('a'), value('a'), value('bcd'), value('bcd')]).toEqual([undefined, undefined, 3, 3]);
  expect(asked).toEqual(['a', 'bcd']);
});
