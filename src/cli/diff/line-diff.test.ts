import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { unifiedDiff } from './line-diff.ts';

const text = (...lines: readonly string[]) => lines.join('\n');

describe('a unified diff', () => {
  test.each([
    { it: 'of equal texts is empty', before: 'a\nb', after: 'a\nb', expected: [] },
    {
      it: 'shows a changed line',
      before: text('a', 'b', 'c'),
      after: text('a', 'x', 'c'),
      expected: ['@@ -1,3 +1,3 @@', ' a', '-b', '+x', ' c'],
    },
    { it: 'shows a new text', before: '', after: text('a', 'b'), expected: ['@@ -0,0 +1,2 @@', '+a', '+b'] },
    { it: 'shows a removed text', before: text('a', 'b'), after: '', expected: ['@@ -1,2 +0,0 @@', '-a', '-b'] },
    {
      it: 'keeps three lines of context, and hunks apart',
      before: text('1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11'),
      after: text('x', '2', '3', '4', '5', '6', '7', '8', '9', '10', 'y'),
      expected: ['@@ -1,4 +1,4 @@', '-1', '+x', ' 2', ' 3', ' 4', '@@ -8,4 +8,4 @@', ' 8', ' 9', ' 10', '-11', '+y'],
    },
  ])('$it', ({ before, after, expected }) => {
    expect(unifiedDiff(before, after)).toEqual(expected);
  });

  test('applied to the first text gives the second', () => {
    const anyText = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 14 });
    fc.assert(
      fc.property(anyText, anyText, (before, after) => {
        const patch = unifiedDiff(`${before.join('\n')}\n`, `${after.join('\n')}\n`);
        const [old, result] = [before.length === 0 ? [''] : before, [] as string[]];
        let at = 0;
        for (const line of patch) {
          const header = /^@@ -(\d+),(\d+) /.exec(line);
          if (header !== null) {
            const start = Number(header[2]) === 0 ? Number(header[1]) : Number(header[1]) - 1;
            while (at < start) result.push(old[at++] as string);
          } else if (line.startsWith('+')) result.push(line.slice(1));
          else {
            expect(old[at]).toBe(line.slice(1));
            if (line.startsWith(' ')) result.push(line.slice(1));
            at++;
          }
        }
        result.push(...old.slice(at));
        expect(result).toEqual(after.length === 0 ? [''] : after);
      }),
    );
  });
});
