import { describe, expect, test } from 'vitest';
import {
  alreadyExists,
  expired,
  forbidden,
  internalError,
  invalid,
  modified,
  notFound,
  tooManyRequests,
} from '../api/status.ts';
import { AbortError, ApiError, InvariantError, LostError, UserError } from '../base/errors.ts';
import { classOf, classOfRead, FencedError, longestWait, OUTCOMES, retryAfterMs } from './outcome.ts';

const maps = { group: '', plural: 'configmaps', kind: 'ConfigMap' };

describe('a failure', () => {
  test.each([
    { of: new UserError('Bad', 'bad'), is: 'user', next: 'done', look: undefined },
    { of: modified(maps, 'a'), is: 'conflict', next: 'retry', look: 'now' },
    { of: alreadyExists(maps, 'a'), is: 'exists', next: 'retry', look: 'now' },
    { of: notFound(maps, 'a'), is: 'missing', next: 'retry', look: 'now' },
    { of: tooManyRequests('slow down', 3), is: 'throttled', next: 'back-off', look: undefined },
    { of: new ApiError(503, 'ServiceUnavailable', 'later'), is: 'throttled', next: 'back-off', look: undefined },
    { of: forbidden(maps, 'a', 'no'), is: 'refused', next: 'back-off', look: undefined },
    { of: invalid(maps, 'a', []), is: 'refused', next: 'back-off', look: undefined },
    { of: internalError('boom'), is: 'refused', next: 'back-off', look: undefined },
    { of: expired('old'), is: 'refused', next: 'back-off', look: undefined },
    { of: new LostError('gone'), is: 'lost', next: 'retry', look: 'first' },
    { of: new InvariantError('bug'), is: 'invariant', next: 'slow-back-off', look: undefined },
    { of: new FencedError('no'), is: 'fenced', next: 'back-off', look: undefined },
    { of: new AbortError('stop'), is: 'stopped', next: 'done', look: undefined },
    { of: new TypeError('x is not a function'), is: 'other', next: 'back-off', look: undefined },
    { of: 'thrown text', is: 'other', next: 'back-off', look: undefined },
  ] as const)('$of is $is: $next', ({ of, is, next, look }) => {
    expect(classOf(of)).toBe(is);
    expect(OUTCOMES[is]).toMatchObject({ next });
    expect(OUTCOMES[is].look).toBe(look);
  });

  test('of a read leaves nothing unknown', () => {
    expect(classOfRead(new LostError('gone'))).toBe('other');
    expect(classOfRead(new UserError('Bad', 'bad'))).toBe('user');
  });

  test('carries how long the server wants to be left alone', () => {
    expect(retryAfterMs(tooManyRequests('slow down', 3))).toBe(3000);
    expect(retryAfterMs(new Error('x'))).toBe(0);
  });

  test('among others: the most patient decides', () => {
    expect(longestWait(['retry', 'back-off', 'retry'])).toBe('back-off');
    expect(longestWait(['retry', 'done'])).toBe('retry');
    expect(longestWait(['back-off', 'slow-back-off'])).toBe('slow-back-off');
  });
});
