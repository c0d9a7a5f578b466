// Names of members. A member's namespace on the hub contains its name, which limits the length.
import { memberNamespace } from './names.ts';

const LONGEST_LABEL = 63;
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

export const LONGEST_MEMBER_NAME = LONGEST_LABEL - memberNamespace('').length;

/** Why the name is invalid, as one sentence, or undefined. */
export function memberNameProblem(name: string): string | undefined {
  if (name.length > LONGEST_MEMBER_NAME) {
    return `the name of a member may have at most ${LONGEST_MEMBER_NAME} characters, because its namespace on the hub is ${memberNamespace('NAME')}; this one has ${name.length}`;
  }
  if (name.includes('.')) {
    return `the name of a member may have no dots, because its namespace on the hub is ${memberNamespace('NAME')}: "${name}" has one`;
  }
  if (LABEL.test(name)) return undefined;
  return `the name of a member consists of lower case letters, digits and "-", and begins and ends with a letter or digit: "${name}" does not`;
}
