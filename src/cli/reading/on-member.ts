// Reads on a member's own API server, and whether an object there belongs to the Work.
import type { KubeObject } from '../../api/object.ts';
import type { Transport } from '../../api/transport.ts';
import type { Work } from '../../api/work.ts';

export interface OnMember {
  readonly cluster: string;
  readonly member: Transport;
}

/**
 * A context may have the name of a member and lead to another cluster: objects that do not belong to this Work are
 * ignored.
 */
export const isOfWork = ({ metadata }: KubeObject, work: Pick<Work, 'metadata'>): boolean =>
  (metadata.ownerReferences ?? []).some(({ kind, name }) => kind === 'AppliedWork' && name === work.metadata.name);
