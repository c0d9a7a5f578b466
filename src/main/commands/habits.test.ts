// What shell completion offers, and which commands the kubectl plugin has.
import { describe, expect, test } from 'vitest';
import { PLUGIN, program } from '../program.ts';
import { completions } from './habits.ts';

const names = async (kinds: readonly string[]) => kinds.map((kind) => `${kind}/web`);

describe('completion', () => {
  test.each([
    { words: ['rollb'], is: ['rollback'] },
    { words: ['run', 'st'], is: ['start', 'stop'] },
    { words: ['rollback', '--pr'], is: ['--prune'] },
    { words: ['rollback', 'pl'], is: ['placement/web'] },
    { words: ['why', 'placement/web', '--cluster', ''], is: ['cluster/web'] },
    { words: ['__'], is: [] },
  ])('of $words offers $is', async ({ words, is }) => {
    expect(await completions(program('flotilla'), words, names)).toEqual(is);
  });
});

describe('kubectl fleet', () => {
  test('offers the commands for releases, and not those that kubectl has', () => {
    const offered = program(PLUGIN).commands.map((each) => each.name());
    expect(offered).toEqual(
      expect.arrayContaining(['status', 'why', 'history', 'rollback', 'run', 'approve', 'reject']),
    );
    for (const name of ['up', 'apply', 'get', 'delete']) expect(offered).not.toContain(name);
  });
});
