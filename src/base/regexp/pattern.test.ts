import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compilePattern } from './pattern.ts';

describe('a pattern', () => {
  test.each(['(((){1000}){1000}){1000}', '((((){1000}){1000}){1000}){1000}', '((a{1000}){1000}){1000}'])(
    '%s is too large, and found so at once',
    (pattern) => {
      expect(compilePattern(pattern).error).toContain('expression too large');
    },
  );

  test.each<[pattern: string, matches: readonly string[], others: readonly string[]]>([
    ['^a', ['a', 'ab'], ['ba', '']],
    ['a', ['a', 'xax'], ['', 'b']],
    ['^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', ['a', 'a-b', '0'], ['-a', 'a-', 'A', 'a\n']],
    ['^(a|b)*c$', ['c', 'ababc'], ['abd']],
    ['^a{2,3}$', ['aa', 'aaa'], ['a', 'aaaa']],
    ['^a{2}$', ['aa'], ['a', 'aaa']],
    ['^a{2,}$', ['aa', 'aaaaa'], ['a']],
    ['^a{,2}$', ['a{,2}'], ['a']],
    ['(?i)^abc$', ['ABC', 'aBc'], ['abd']],
    ['^a(?i:b)c$', ['aBc', 'abc'], ['Abc', 'abC']],
    ['^(?i)a(?-i)b$', ['Ab'], ['AB']],
    ['^.$', ['a', '🚢', '\r'], ['\n', 'ab']],
    ['(?s)^.$', ['\n'], []],
    ['(?m)^b$', ['a\nb\nc'], ['ab']],
    ['^\\d+\\.\\d+$', ['1.2'], ['1x2']],
    ['^\\s$', [' ', '\t'], ['\u00a0', 'a']],
    ['^[[:alpha:]_]+$', ['aB_'], ['1']],
    ['^[^[:digit:]]$', ['a'], ['1']],
    ['^[]a]$', [']', 'a'], ['b']],
    ['^[a\\-z]$', ['a', '-', 'z'], ['b']],
    ['^[\\d.-]+$', ['1.-'], ['a']],
    ['^[^\\d]$', ['a'], ['1']],
    ['^[\\D]$', ['a'], ['1']],
    ['^\\p{L}+$', ['äß', 'λ'], ['1']],
    ['^\\p{Greek}$', ['λ'], ['l']],
    ['^\\PL$', ['1'], ['a']],
    ['\\bfoo\\b', ['a foo b', 'foo'], ['food']],
    ['^\\Qa.b\\E$', ['a.b'], ['axb']],
    ['^\\x41\\x{1F6A2}$', ['A🚢'], ['A']],
    ['\\Aab\\z', ['ab'], ['ab\n']],
    ['^(?P<name>a)$', ['a'], ['b']],
    ['^a*?$', ['', 'aa'], ['b']],
    ['^\\_\\-\\/$', ['_-/'], ['x']],
    ['^$', [''], ['a']],
    ['', ['', 'x'], []],
    ['^(\\d+(\\.\\d+)?%)$', ['10%', '1.5%'], ['10', '%']],
  ])('%s', (source, matches, others) => {
    const pattern = compilePattern(source);
    expect(pattern.error).toBeUndefined();
    for (const text of matches) expect(pattern.test(text), JSON.stringify(text)).toBe(true);
    for (const text of others) expect(pattern.test(text), JSON.stringify(text)).toBe(false);
  });

  test.each([
    '(',
    ')',
    'a**',
    '*a',
    '[a',
    '[b-a]',
    '(?=a)',
    '(?<!a)',
    '\\1',
    '\\k',
    'a{1001}',
    'a{2,1}',
    '\\',
    '(?P<n',
    '[[:foo:]]',
    '\\pX',
    '(a{900}){900}',
  ])('%s is refused, as RE2 does', (source) => {
    const pattern = compilePattern(source);
    expect(pattern.error).toContain('error parsing regexp');
    expect(pattern.test('a')).toBe(false);
  });

  test('finds what Go finds: leftmost, and then what the pattern prefers', () => {
    const found = (source: string, text: string, max?: number): string[] =>
      compilePattern(source)
        .matches(text, max)
        .map(({ start, end }) => text.slice(start, end));
    expect(found('a|ab', 'abab')).toEqual(['a', 'a']);
    expect(found('a+', 'aa b aaa')).toEqual(['aa', 'aaa']);
    expect(found('a+?', 'aa')).toEqual(['a', 'a']);
    expect(found('\\d+', 'a1b22c333', 2)).toEqual(['1', '22']);
    expect(found('b*', 'abb')).toEqual(['', 'bb']);
    expect(found('x', 'abc')).toEqual([]);
  });

  test('takes linear time where backtracking would take for ever', () => {
    const text = `${'a'.repeat(20_000)}!`;
    for (const source of ['^(a+)+$', '^(a|aa)+$', '^(a*)*b', '(x+x+)+y', '^(([a-z])+.)+[A-Z]([a-z])+$']) {
      expect(compilePattern(source).test(text), source).toBe(false);
    }
  });

  test('agrees with JavaScript where the two have the same syntax', () => {
    const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\d', '1');
    const piece = fc
      .tuple(atom, fc.constantFrom('', '*', '+', '?', '{1,2}', '*?'))
      .map(([each, count]) => each + count);
    const sequence = fc.array(piece, { maxLength: 4 }).map((parts) => parts.join(''));
    const source = fc
      .tuple(fc.constantFrom('', '^'), fc.array(sequence, { minLength: 1, maxLength: 3 }), fc.constantFrom('', '$'))
      .map(([start, alternatives, end]) => `${start}(${alternatives.join('|')})${end}`);
    fc.assert(
      fc.property(source, fc.string({ unit: fc.constantFrom('a', 'b', '1'), maxLength: 8 }), (pattern, text) => {
        const ours = compilePattern(pattern);
        const theirs = new RegExp(pattern, 'u');
        expect(ours.test(text)).toBe(theirs.test(text));
        const found = theirs.exec(text);
        const [first] = ours.matches(text, 1);
        expect(first && text.slice(first.start, first.end)).toBe(found?.[0]);
      }),
    );
  });
});
