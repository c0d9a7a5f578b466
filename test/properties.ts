// One configuration for all properties: 300 runs from the seed of the commit at the gate, ten times as many in the full proof.
// A property whose runs are costly names a smaller number itself. A failure prints the seed to replay.
import fc from 'fast-check';
import { isFull, testSeed } from '../scripts/gate/depth.ts';

fc.configureGlobal({ numRuns: isFull ? 3000 : 300, seed: testSeed });
