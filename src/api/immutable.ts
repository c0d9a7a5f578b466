// Rules for immutable fields.
import { rule } from './build.ts';

/**
 * The spec of a snapshot is a record; editing it would change the content under a rollout that uses it. Labels,
 * annotations and status stay mutable.
 * Differs from KubeFleet: there it is a convention.
 *
 * A stock API server compares fields that the schema does not name only by the keys that both sides have, so replacing
 * one such key of an embedded object by another is accepted there. Ours compares everything.
 */
export const frozenSnapshot = rule('self == oldSelf', 'the spec of a snapshot is immutable');

export const frozen = (what: string, instead: string) => rule('self == oldSelf', `${what} is immutable: ${instead}`);
