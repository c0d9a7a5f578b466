import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createOwnWrites } from './own-writes.ts';

function aWrite() {
  const echoes = createOwnWrites<string>();
  let wakes = 0;
  const end = echoes.begin('a place', 'me', () => wakes++);
  const hear = (revision: string | undefined, place = 'a place') =>
    echoes.keeps(place, revision, (writer) => writer === 'me');
  return { echoes, end, hear, wakes: () => wakes };
}

test('what a watch tells of a write before its answer wakes nobody', () => {
  const { end, hear, wakes } = aWrite();
  expect(hear('7')).toBe(true);
  end('7');
  expect(wakes()).toBe(0);
});

test('what others did meanwhile wakes the writer once it has its answer', () => {
  const { end, hear, wakes } = aWrite();
  expect([hear('6'), hear('7'), hear('8')]).toEqual([true, true, true]);
  expect(wakes()).toBe(0);
  end('7');
  expect(wakes()).toBe(1);
});

test('a write without an answer may have been anything that was heard', () => {
  const { end, hear, wakes } = aWrite();
  hear('7');
  end(undefined);
  expect(wakes()).toBe(1);
});

test('another writer, another place, an object that is gone and the time after the answer are not waited for', () => {
  const { echoes, end, hear } = aWrite();
  expect(echoes.keeps('a place', '7', (writer) => writer === 'you')).toBe(false);
  expect(hear('7', 'another place')).toBe(false);
  expect(hear(undefined)).toBe(false);
  end('7');
  expect(hear('8')).toBe(false);
});

test('of several writes to one place each is woken exactly by what was not its own', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('1', '2', '3', '4'), { maxLength: 6 }),
      fc.constantFrom('1', '2', undefined),
      fc.constantFrom('2', '3', undefined),
      (heard, first, second) => {
        const echoes = createOwnWrites<string>();
        const woken: string[] = [];
        const ends = ['a', 'b'].map((writer) => echoes.begin('p', writer, () => woken.push(writer)));
        for (const revision of heard) for (const writer of ['a', 'b']) echoes.keeps('p', revision, (w) => w === writer);
        ends[0]?.(first);
        ends[1]?.(second);
        const isWoken = (own: string | undefined) => heard.some((revision) => revision !== own);
        expect(woken).toEqual([...(isWoken(first) ? ['a'] : []), ...(isWoken(second) ? ['b'] : [])]);
      },
    ),
  );
});
