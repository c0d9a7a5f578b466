// The walk of docs/partitions.md is true: seed 000 on 100 clusters. Its blocks, in their order, word for word, print what stands below them.
import { describe, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { skipsKubectl } from './server.ts';
import { aTerminal, stepsIn } from './terminal.ts';

describe.skipIf(skipsKubectl)('the walk of docs/partitions.md', () => {
  test('shows Pending, OutOfSync, NotReady and Ready', { timeout: patience(600_000) }, async () => {
    await using terminal = aTerminal();
    await terminal.walk('docs/partitions.md', stepsIn('docs/partitions.md', '## Seed 000 on 100 clusters'));
  });
});
