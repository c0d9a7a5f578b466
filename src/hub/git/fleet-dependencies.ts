// dependsOn and correctDrift of a fleet.yaml (spec 09 §8, §9), and dependency cycles between bundles of one repository.
// Pure.
import type { GitProblem } from '../../api/git-repo.ts';
import type { PlacementDependency } from '../../api/placement.ts';
import { ROLLOUT_WORDS, type RolloutWord } from '../../api/rollout-state.ts';
import { isObject } from '../../base/json.ts';
import { compileLabelSelector } from '../../base/selector.ts';
import { type Fields, type Place, type Say, selectorProblem } from './fleet-fields.ts';

const MAX_DEPENDENCIES = 50;

export function dependenciesIn(value: unknown, place: Place, refuse: Say, warn: Say): readonly PlacementDependency[] {
  if (!Array.isArray(value) || value.length > MAX_DEPENDENCIES || !value.every(isObject)) {
    refuse(place, `a list of at most ${MAX_DEPENDENCIES} maps with name or selector is expected`);
    return [];
  }
  return (value as readonly Fields[]).map((fields, at) => dependencyIn(fields, [...place, at], refuse, warn));
}

function dependencyIn(fields: Fields, place: Place, refuse: Say, warn: Say): PlacementDependency {
  const { name, selector, acceptedStates, ...others } = fields;
  for (const other of Object.keys(others)) warn([...place, other], 'this key is unknown');
  const hasName = name !== undefined && name !== null && name !== '';
  const hasSelector = selector !== undefined && selector !== null;
  if (!hasName && !hasSelector) refuse(place, 'name or selector is expected');
  if (hasName && typeof name !== 'string') refuse([...place, 'name'], 'the name of a bundle is expected');
  const problem = hasSelector ? selectorProblem(selector) : undefined;
  if (problem !== undefined) refuse([...place, 'selector'], problem);
  const states = acceptedStates === undefined || acceptedStates === null ? [] : acceptedStates;
  const isStates = Array.isArray(states) && states.every(isWord);
  if (!isStates) refuse([...place, 'acceptedStates'], `a list of ${ROLLOUT_WORDS.join(', ')} is expected`);
  return {
    ...(typeof name === 'string' && hasName ? { name } : {}),
    ...(hasSelector && problem === undefined
      ? { selector: selector as NonNullable<PlacementDependency['selector']> }
      : {}),
    ...(isStates && states.length > 0 ? { acceptedStates: states } : {}),
  };
}

const isWord = (value: unknown): value is RolloutWord => (ROLLOUT_WORDS as readonly unknown[]).includes(value);

/** The value of `enabled`; undefined = not given. */
export function driftIn(value: unknown, place: Place, refuse: Say, warn: Say): boolean | undefined {
  if (!isObject(value)) {
    refuse(place, 'a map is expected');
    return undefined;
  }
  const { enabled, force, keepFailHistory } = value;
  if (force === true) warn([...place, 'force'], 'it has no effect');
  if (keepFailHistory === true) warn([...place, 'keepFailHistory'], 'it has no effect');
  if (enabled === undefined || enabled === null) return undefined;
  if (typeof enabled === 'boolean') return enabled;
  refuse([...place, 'enabled'], 'true or false is expected');
  return undefined;
}

// ---- bundles of one repository

interface Depending {
  readonly name: string;
  readonly options: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly dependsOn?: readonly PlacementDependency[];
  };
}

/** Bundles that would wait for each other forever, each with its cycle. */
export function cyclesIn(bundles: readonly Depending[]): readonly (GitProblem & { readonly bundle: string })[] {
  const next = new Map(
    bundles.map(({ name, options }) => [
      name,
      bundles.filter((each) => each.name !== name && dependsOn(options, each)).map((each) => each.name),
    ]),
  );
  return bundles.flatMap(({ name }) => {
    const way = wayFrom(name, next);
    if (way === undefined) return [];
    return [{ bundle: name, reason: 'DependencyCycle', message: `dependsOn: ${[...way, name].join(' → ')}` }];
  });
}

const dependsOn = ({ dependsOn: all = [] }: Depending['options'], other: Depending): boolean =>
  all.some(
    ({ name = '', selector }) =>
      (name !== '' || selector !== undefined) &&
      (name === '' || name === other.name) &&
      (selector === undefined || compileLabelSelector(selector).matches(other.options.labels ?? {})),
  );

/** The shortest path from a bundle back to itself. */
function wayFrom(start: string, next: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const seen = new Set<string>();
  let ways: readonly (readonly string[])[] = [[start]];
  while (ways.length > 0) {
    const further: (readonly string[])[] = [];
    for (const way of ways)
      for (const name of next.get(way.at(-1) ?? '') ?? []) {
        if (name === start) return way;
        if (seen.has(name)) continue;
        seen.add(name);
        further.push([...way, name]);
      }
    ways = further;
  }
  return undefined;
}
