// The scripts, in the order in which they are recorded.
import type { Script } from '../script.ts';
import { applying } from './applying.ts';
import { auth } from './auth.ts';
import { builtinKindsScript } from './builtin-kinds.ts';
import { changing } from './changing.ts';
import { creating } from './creating.ts';
import { deleting } from './deleting.ts';
import { differences } from './differences.ts';
import { discovery, explain } from './discovery.ts';
import { fleetKinds } from './fleet-kinds.ts';
import { reading } from './reading.ts';

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
];
