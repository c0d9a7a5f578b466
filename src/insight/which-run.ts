// Parses which staged update run a user means: `run/NAME`, or just NAME if it is unambiguous, is a StagedUpdateRun with
// a namespace and a ClusterStagedUpdateRun without one.
import { UserError } from '../base/errors.ts';
import { clusterFamily, namespacedFamily, type PlacementFamily } from '../hub/families.ts';
import { type Named, titled } from './titled.ts';
import { NAME } from './which-placement.ts';

export interface WhichRun {
  readonly family: PlacementFamily;
  readonly name: string;
  readonly namespace?: string;
}

const EITHER: readonly string[] = ['run', 'runs'];
const WIDE: readonly string[] = ['clusterstagedupdaterun', 'clusterstagedupdateruns', 'csur'];
const NARROW: readonly string[] = ['stagedupdaterun', 'stagedupdateruns', 'sur'];

const bad = (message: string): UserError => new UserError('BadArgument', message);
const wordIn = (argument: string): string => argument.split('/')[0]?.split('.')[0]?.toLowerCase() ?? '';

/** Whether the argument names a run (`run/…`) and not a placement (`placement/…`). */
export const namesRun = (argument: string): boolean =>
  argument.includes('/') && [...EITHER, ...WIDE, ...NARROW].includes(wordIn(argument));

/** The argument names a namespaced kind. */
export const isNarrowRun = (argument: string): boolean => argument.includes('/') && NARROW.includes(wordIn(argument));

/** `namespace`: as given explicitly, not the default of the kubeconfig. */
export function whichRun(argument: string, namespace?: string): WhichRun {
  const isBare = !argument.includes('/');
  const name = isBare ? argument : argument.slice(argument.indexOf('/') + 1);
  if (!(isBare || namesRun(argument)) || !NAME.test(name))
    throw bad(`"${argument}" cannot be the name of a run: write its NAME or run/NAME`);
  checkNamespace(namespace);
  const word = isBare ? '' : wordIn(argument);
  if (WIDE.includes(word) && namespace !== undefined) {
    throw bad(`a ClusterStagedUpdateRun is in no namespace: omit -n, or write run/${name}`);
  }
  if (NARROW.includes(word) && namespace === undefined) {
    throw bad('a StagedUpdateRun is in a namespace: name it with -n, such as -n team');
  }
  return { family: familyIn(namespace), name, ...within(namespace) };
}

export const familyIn = (namespace: string | undefined): PlacementFamily =>
  namespace === undefined ? clusterFamily : namespacedFamily;
export const within = (namespace: string | undefined): { readonly namespace?: string } =>
  namespace === undefined ? {} : { namespace };

export function checkNamespace(namespace: string | undefined): void {
  if (namespace !== undefined && !NAME.test(namespace)) throw bad(`"${namespace}" cannot be the name of a namespace`);
}

export const runTarget = ({ family, name, namespace }: WhichRun): Named => ({
  resource: family.run,
  name,
  ...within(namespace),
});

/** `StagedUpdateRun "team/r"` */
export const titleOfRun = (which: WhichRun): string => titled(runTarget(which));

/** The name as an argument, alone or after `run/`. */
export const typed = ({ name, namespace }: WhichRun): string =>
  `${name}${namespace === undefined ? '' : ` -n ${namespace}`}`;

/**
 * The command that opens a gate. Users copy it, so a stage name from a status, which may contain anything, is quoted.
 */
export const approveCommand = (which: WhichRun, stage: string, when: 'before' | 'after'): string =>
  `flotilla approve ${typed(which)} --stage ${/^[\w.-]+$/.test(stage) ? stage : quoted(stage)} --${when}`;

/** Quoted as one word for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
