// Whether the spec of a placement is unchanged, for controllers that ignore its status, which changes all the time.
import { deepEqual } from '../../base/json.ts';
import type { HubPlacement } from '../placement-sources.ts';

export const isSameSpec = (a: HubPlacement, b: HubPlacement): boolean =>
  a.metadata.uid === b.metadata.uid &&
  a.metadata.generation === b.metadata.generation &&
  a.metadata.deletionTimestamp === b.metadata.deletionTimestamp &&
  deepEqual(a.metadata.annotations, b.metadata.annotations);
