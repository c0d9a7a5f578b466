// The overrides of seed 003 on real control planes, word for word what test/wire runs on our own servers.
import { describe } from 'vitest';
import { usualFleet } from '../../src/main/fleet.ts';
import { describeOverrides } from '../wire/overrides-003.ts';
import { startOnPlanes } from './fleet.ts';
import { skipsPlanes } from './planes.ts';

describe.skipIf(skipsPlanes)('on real control planes', () => {
  // Of three the last is labeled env=prod; the gate has two planes.
  describeOverrides(() => startOnPlanes(usualFleet(3).slice(1)));
});
