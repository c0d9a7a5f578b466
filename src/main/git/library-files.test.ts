// A pack from a server is checked before the library inflates it.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aGitServer, type GitServer } from '../../../test/git-server.ts';
import { checkPack } from './library-files.ts';

const never = new AbortController().signal;
const MANY = 1024 * 1024;
const outcome = (pack: Buffer, { max = MANY, object = MANY, objects = MANY } = {}) =>
  checkPack(pack, max, never, { object, objects }).then(
    () => 'fine',
    ({ reason }: { reason: string }) => reason,
  );

/** A pack with one object. The size in its header is not set, because nothing trusts it. */
function packOf(type: number, content: Buffer): Buffer {
  const header = Buffer.from([...Buffer.from('PACK'), 0, 0, 0, 2, 0, 0, 0, 1, type << 4]);
  const base = type === 7 ? Buffer.alloc(20) : Buffer.alloc(0);
  return Buffer.concat([header, base, deflateSync(content), Buffer.alloc(20)]);
}

describe('a pack', () => {
  let server: GitServer;
  let real: Buffer;
  beforeAll(async () => {
    server = await aGitServer();
    const noise = randomBytes(30_000).toString('base64');
    server.commit({ 'a.txt': noise, 'b.txt': `${noise}b`, 'c.txt': `c${noise}` });
    server.commit({ 'a.txt': `${noise}more` });
    const objects = server.git('rev-list', '--objects', 'HEAD').replace(/ .*$/gm, '');
    const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' };
    const args = ['-C', server.bare, 'pack-objects', '--stdout', '--delta-base-offset', '--quiet'];
    real = execFileSync('git', args, { input: `${objects}\n`, env });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test('of git is fine, with its deltas', async () => {
    expect(await outcome(real)).toBe('fine');
    // Because of deltas, the pack is smaller than its objects.
    expect(real.length).toBeLessThan(80_000);
    expect(await outcome(real, { objects: 100_000 })).toBe('RepositoryTooLarge');
  });

  test.each([
    ['that is damaged', () => Buffer.concat([real.subarray(0, 200), randomBytes(100)]), {}, 'FetchFailed'],
    ['that ends early', () => real.subarray(0, 40), {}, 'FetchFailed'],
    ['that is none', () => Buffer.from('<html></html>'), {}, 'FetchFailed'],
    ['larger than the limit', () => real, { max: 1000 }, 'RepositoryTooLarge'],
    ['with an object that becomes large', () => packOf(3, Buffer.alloc(5000)), { object: 4999 }, 'RepositoryTooLarge'],
    ['with an object within the limit', () => packOf(3, Buffer.alloc(5000)), { object: 5000 }, 'fine'],
    // A delta of six bytes with a result of 2^21 bytes.
    [
      'with a delta that becomes large',
      () => packOf(7, Buffer.from([0x01, 0x80, 0x80, 0x80, 0x01, 0x00])),
      {},
      'RepositoryTooLarge',
    ],
  ] as const)('%s', async (_it, pack, limits, expected) => {
    expect(await outcome(pack(), limits)).toBe(expected);
  });
});
