// Rules for what never changes once written.
import { rule } from './build.ts';

/**
 * The spec of a snapshot is what happened; editing it would rewrite history under a rollout that uses it. Labels, annotations and
 * status stay writable. Differs from KubeFleet: there it is a convention.
 *
 * A stock API server compares fields that the schema does not name only by the keys both sides have: swapping one such key of an
 * embedded object for another slips through there. Ours compares everything.
 */
export const frozenSnapshot = rule('self == oldSelf', 'the spec of a snapshot is immutable');

export const frozen = (what: string, instead: string) => rule('self == oldSelf', `${what} is immutable: ${instead}`);
