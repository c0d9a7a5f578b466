import { expect, test } from 'vitest';
import { createLookPace } from './look-pace.ts';

test.each([
  { it: 'few are looked at whenever there is news', clusters: 24, news: [1000, 1000, 1001], due: [1000, 1000, 1001] },
  {
    it: 'few that count for many as many',
    clusters: 4,
    weight: 250,
    news: [1000, 1001, 1040],
    due: [1000, 1040, 1080],
  },
  { it: 'many together', clusters: 1000, news: [1000, 1001, 1039, 1040], due: [1000, 1040, 1040, 1080] },
  { it: 'then together again', clusters: 1000, news: [1000, 1010, 1050, 1090], due: [1000, 1040, 1080, 1120] },
  { it: 'after a while at once', clusters: 1000, news: [1000, 1040, 1080, 5000], due: [1000, 1040, 1080, 5000] },
  {
    it: 'a clock that is set back delays nothing',
    clusters: 1000,
    news: [9000, 9001, 100, 120],
    due: [9000, 9040, 140, 140],
  },
])('$it', ({ clusters, weight, news, due }) => {
  const pace = createLookPace(weight);
  pace.among('web', clusters);
  expect(news.map((now) => pace.due('web', now))).toEqual(due);
  expect(pace.due('other', 7)).toBe(7);
  pace.forget('web');
  expect(pace.size).toBe(0);
  expect(pace.due('web', 7)).toBe(7);
});
