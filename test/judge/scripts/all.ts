// The scripts, in the order in which they are recorded.
import type { Script } from '../script.ts';
import { applying } from './applying.ts';
import { auth } from './auth.ts';
import { badInput } from './bad-input.ts';
import { builtinKindsScript } from './builtin-kinds.ts';
import { changing } from './changing.ts';
import { creating } from './creating.ts';
import { deleting } from './deleting.ts';
import { differences } from './differences.ts';
import { discovery, explain } from './discovery.ts';
import { evicting } from './evicting.ts';
import { fleetKinds } from './fleet-kinds.ts';
import { rawAccess } from './raw-access.ts';
import { rawDeleting } from './raw-deleting.ts';
import { rawFleetKinds } from './raw-fleet-kinds.ts';
import { rawPatching } from './raw-patching.ts';
import { rawReading } from './raw-reading.ts';
import { rawSize } from './raw-size.ts';
import { rawStatus } from './raw-status.ts';
import { rawWatching } from './raw-watching.ts';
import { reading } from './reading.ts';
import { seeds } from './seeds.ts';
import { serverSide } from './server-side.ts';

export const scripts: readonly Script[] = [
  discovery,
  explain,
  reading,
  creating,
  applying,
  changing,
  deleting,
  auth,
  fleetKinds,
  builtinKindsScript,
  differences,
  seeds,
  serverSide,
  badInput,
  rawStatus,
  rawSize,
  rawReading,
  rawPatching,
  rawWatching,
  rawDeleting,
  evicting,
  rawAccess,
  rawFleetKinds,
];
