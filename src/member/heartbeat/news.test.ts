import { expect, test } from 'vitest';
import { createNews, GATHERING_MS } from './news.ts';

const no = () => false;
const yes = () => true;

test('news has a beginning, and an end when it was told', () => {
  const news = createNews();
  expect(news.since(100, no)).toBeUndefined();
  expect(news.since(200, yes)).toBe(200);
  expect(news.since(200 + GATHERING_MS, yes)).toBe(200);
  expect(news.since(300 + GATHERING_MS, no)).toBeUndefined();
  expect(news.since(400 + GATHERING_MS, yes)).toBe(400 + GATHERING_MS);
});

test('nobody looks again while it is gathered', () => {
  const news = createNews();
  news.since(200, yes);
  const never = () => {
    throw new Error('looked');
  };
  expect(news.since(199 + GATHERING_MS, never)).toBe(200);
});

test('a clock that is set back begins anew', () => {
  const news = createNews();
  news.since(9_000_000, yes);
  expect(news.since(200, yes)).toBe(200);
  expect(news.since(100, no)).toBeUndefined();
});
