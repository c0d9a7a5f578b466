// Rules for what never changes once written.
import { rule } from './build.ts';

/**
 * The spec of a snapshot is what happened; editing it would rewrite history under a rollout that uses it. Labels, annotations and
 * status stay writable. Differs from KubeFleet: there it is a convention.
 */
export const frozenSnapshot = rule('self == oldSelf', 'the spec of a snapshot is immutable');

export const frozen = (what: string, instead: string) => rule('self == oldSelf', `${what} is immutable: ${instead}`);
