// Messages of git in a status never contain a secret, and blobs are split by their lengths only.
import { describe, expect, test } from 'vitest';
import { textsIn } from './blobs.ts';
import { environment, messageIn } from './run-git.ts';

describe('a message of git', () => {
  test.each([
    [
      'has no secret',
      'fatal: Authentication failed for http://me:word@host/',
      ['word'],
      'fatal: Authentication failed for http://me:***@host/',
    ],
    ['is its last lines, without hints', 'a\nb\nhint: x\nc\nd\n', [], 'b; c; d'],
    [
      'is the cause when a connection fails, without what git always adds',
      'Host key verification failed.\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\n',
      [],
      'Host key verification failed.; fatal: Could not read from remote repository.',
    ],
    ['is the code if there is none', '', [], 'git failed with code 128'],
  ])('%s', (_it, stderr, secrets, expected) => {
    expect(messageIn(stderr, secrets, 128)).toBe(expected);
  });
});

describe('git', () => {
  test('runs without the configuration and the credentials of the machine', () => {
    const env = environment({ X: '1' });
    expect(env).toMatchObject({
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_ALLOW_PROTOCOL: '',
      X: '1',
    });
    expect(Object.keys(env).filter((name) => /TOKEN|SSH_AUTH|KUBECONFIG/.test(name))).toEqual([]);
  });

  test('blobs are read by their size, and what is no text is left out', () => {
    const blob = (id: string, content: Buffer) =>
      Buffer.concat([Buffer.from(`${id} blob ${content.length}\n`), content, Buffer.from('\n')]);
    const output = Buffer.concat([
      blob('a', Buffer.from('b blob 3\nx\n')),
      blob('b', Buffer.from([0x61, 0, 0x62])),
      blob('c', Buffer.from([0xff, 0xfe])),
      blob('d', Buffer.from('')),
    ]);
    expect([...textsIn(output)]).toEqual([
      ['a', 'b blob 3\nx\n'],
      ['d', ''],
    ]);
    expect(() => textsIn(Buffer.from('a missing\n'))).toThrow('no content');
  });
});
