// Tables of dynamic resource allocation.
import type { KubeObject } from '../../../api/object.ts';
import { AGE, ageOf, NAME, nameOf, table, text } from './table.ts';

interface Claim {
  readonly status?: { readonly allocation?: object; readonly reservedFor?: readonly unknown[] };
}

export const resourceClaim = table<Claim>([NAME, text('State', 'How far the claim has come.'), AGE], (object, now) => [
  nameOf(object),
  claimState(object),
  ageOf(object, now),
]);

function claimState({ metadata, status }: KubeObject & Claim): string {
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const isAllocated = status?.allocation !== undefined;
  const states: string[] = [];
  if (isDeleted) states.push('deleted');
  if (isAllocated) states.push('allocated');
  if (isAllocated && status?.reservedFor?.length) states.push('reserved');
  if (!isAllocated && !isDeleted) states.push('pending');
  return states.join(',');
}

interface Slice {
  readonly spec?: { readonly nodeName?: string; readonly driver?: string; readonly pool?: { readonly name?: string } };
}

export const resourceSlice = table<Slice>(
  [
    NAME,
    text('Node', 'The node that has the devices.'),
    text('Driver', 'The driver that offers them.'),
    text('Pool', 'The pool that they belong to.'),
    AGE,
  ],
  (object, now) => [
    nameOf(object),
    object.spec?.nodeName ?? '',
    object.spec?.driver ?? '',
    object.spec?.pool?.name ?? '',
    ageOf(object, now),
  ],
);
