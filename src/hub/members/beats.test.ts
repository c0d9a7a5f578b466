import { expect, test } from 'vitest';
import { type Beat, beatSeen } from './beats.ts';

test('a heartbeat is as old as the hub has known it', () => {
  let last: Beat | undefined;
  const seen = (stamp: string, now: number, uid = 'u') => {
    last = beatSeen(last, { uid, stamp, now });
    return last.seenAt;
  };
  expect(seen('12:00', 1000)).toBe(1000);
  expect(seen('12:00', 5000)).toBe(1000);
  expect(seen('12:01', 6000)).toBe(6000);
  // An earlier stamp counts too: the member's clock was set back.
  expect(seen('11:00', 7000)).toBe(7000);
  // Another member of the same name restarts the count.
  expect(seen('11:00', 8000, 'other')).toBe(8000);
  // The hub's own clock was set back: restart instead of waiting for hours.
  expect(seen('11:00', 100, 'other')).toBe(100);
});
