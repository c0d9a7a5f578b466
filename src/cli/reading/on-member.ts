// Where a look at a member's own API server is made, and whether what is found there is what is meant.
import type { KubeObject } from '../../api/object.ts';
import type { Transport } from '../../api/transport.ts';
import type { Work } from '../../api/work.ts';

export interface OnMember {
  readonly cluster: string;
  readonly member: Transport;
}

/** A context may have the name of a member and lead elsewhere: what is there, but not of this Work, is not told of. */
export const isOfWork = ({ metadata }: KubeObject, work: Pick<Work, 'metadata'>): boolean =>
  (metadata.ownerReferences ?? []).some(({ kind, name }) => kind === 'AppliedWork' && name === work.metadata.name);
