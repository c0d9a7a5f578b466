// The user name of the caller, from the API server. Not a proof: on a real hub, what a command writes about its user is
// not verified.
import { ApiError, UserError } from '../../base/errors.ts';
import type { Connected } from './connect.ts';

const REVIEW = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' } as const;

/** Empty = the server does not report it. */
export async function whoAmI({ transport, catalogue }: Pick<Connected, 'transport' | 'catalogue'>): Promise<string> {
  try {
    const resource = catalogue.byKind(REVIEW.apiVersion, REVIEW.kind);
    const object = { ...REVIEW, metadata: {} };
    const answer = await transport.call({ verb: 'create', at: { resource }, object, manager: 'flotilla' });
    const status = answer.object?.status as { readonly userInfo?: { readonly username?: string } } | undefined;
    return status?.userInfo?.username ?? '';
  } catch (error) {
    if (error instanceof ApiError || error instanceof UserError) return '';
    throw error;
  }
}
