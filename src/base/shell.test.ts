import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { shellWord } from './shell.ts';

test.each(['/tmp/a/b-1.2', '/tmp/my fleet/kubeconfig', "it's", '$HOME `ls` "x" \\', 'é\nü', ''])(
  'a shell reads %j as it is',
  (text) => {
    expect(execFileSync('/bin/sh', ['-c', `printf %s ${shellWord(text)}`], { encoding: 'utf8' })).toBe(text);
  },
);

test('a plain path stays as it is', () => {
  expect(shellWord('/home/dev/.flotilla/kubeconfig')).toBe('/home/dev/.flotilla/kubeconfig');
});
