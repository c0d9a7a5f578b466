// The client's promises, kept against a real API server over HTTP/2: all that test/conformance asks of every transport, but for what it can ask of
// a server of ours alone, which stands in the report with the reason. And what it does not ask, because ours is asked elsewhere.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { removePlane, startPlane } from '../../scripts/kube/plane.ts';
import { findPrograms, type Programs } from '../../scripts/kube/programs.ts';
import type { StartServed } from '../conformance/subjects.ts';
import { describeCalls } from '../conformance/transport.ts';
import { describeWatches } from '../conformance/watching.ts';
import { skipsPlanes } from './planes.ts';
import { type RealServer, realServer } from './real-subject.ts';

describe.skipIf(skipsPlanes)('the transport to a real API server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-conformance-'));
  const plane = { name: 'conformance', folder: join(folder, 'plane'), onlyKeepsHouse: true } as const;
  let server: RealServer;
  beforeAll(async () => {
    await startPlane(plane, findPrograms() as Programs);
    server = await realServer(plane);
  });
  afterAll(async () => {
    server?.[Symbol.dispose]();
    await removePlane(plane);
    rmSync(folder, { recursive: true, force: true });
  });
  const start: StartServed = (options) => server.start(options);
  describeCalls(start, 'real');
  describeWatches(start, 'real');
});
