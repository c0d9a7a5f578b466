// One configuration for all properties: 300 runs from the seed of the commit at the gate, ten times as many in the full proof.
// A failure prints the seed to replay.
import fc from 'fast-check';
import { isFull, testSeed } from '../scripts/gate/depth.ts';

/** Of a property whose runs are costly: how many at the gate. */
export const runs = (atGate: number): number => (isFull ? 10 * atGate : atGate);

fc.configureGlobal({ numRuns: runs(300), seed: testSeed });
