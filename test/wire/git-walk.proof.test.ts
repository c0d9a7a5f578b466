// The walk of docs/git.md is true: seed 000 from a commit to Ready on 200 clusters. Its blocks, in their order, word for word, print what stands below them.
import { describe, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { skipsKubectl } from './server.ts';
import { aTerminal, stepsIn } from './terminal.ts';

describe.skipIf(skipsKubectl)('the walk of docs/git.md', () => {
  test('leads from a commit to Ready on 200 clusters', { timeout: patience(600_000) }, async () => {
    await using terminal = aTerminal();
    await terminal.walk('docs/git.md', stepsIn('docs/git.md', '## From a commit to Ready'));
  });
});
