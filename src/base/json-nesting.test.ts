import { expect, test } from 'vitest';
import { isDeeper, isNestedDeeper } from './json-nesting.ts';

test.each([
  { text: '1', levels: 0, deeper: false },
  { text: '[]', levels: 0, deeper: true },
  { text: '[{"a":[]}]', levels: 3, deeper: false },
  { text: '[{"a":[]}]', levels: 2, deeper: true },
  { text: '[[],[],[]]', levels: 2, deeper: false },
  { text: '["[[[[", "\\"[[", "\\\\"]', levels: 1, deeper: false },
  { text: '["\\\\", [[]]]', levels: 2, deeper: true },
  { text: '"never closed [[[', levels: 0, deeper: false },
])('$text is nested deeper than $levels levels: $deeper', ({ text, levels, deeper }) => {
  expect(isNestedDeeper(text, levels)).toBe(deeper);
  if (!text.startsWith('"')) expect(isDeeper(JSON.parse(text), levels)).toBe(deeper);
});
