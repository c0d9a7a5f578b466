// `flotilla freeze` and `flotilla unfreeze`: stops every rollout and run, or the given ones, until the freeze ends.
import { type Freeze, type FreezeSpec, freeze } from '../api/freeze.ts';
import { memberCluster } from '../api/member-cluster.ts';
import { kubeTime } from '../base/clock.ts';
import { parseDuration } from '../base/duration.ts';
import { ApiError, messageOf, UserError } from '../base/errors.ts';
import { canonicalJson } from '../base/json.ts';
import { matchesLabels, parseSelector } from '../base/selector.ts';
import { createClient } from '../client/client.ts';
import { endOf, frozenIn, isActive } from '../hub/freezes/frozen.ts';
import { scopeOf } from '../insight/progress/freeze-scope.ts';
import { NAME, type WhichPlacement } from '../insight/which-placement.ts';
import type { Connected } from './server/connect.ts';
import { getPlacement } from './server/get-placement.ts';
import type { Print } from './server/target.ts';
import { whoAmI } from './server/who.ts';

type Server = Pick<Connected, 'transport' | 'catalogue'>;

export interface FreezeOptions {
  readonly reason: string;
  /** RFC 3339, or a duration such as 2h. */
  readonly until?: string;
  readonly placements: readonly WhichPlacement[];
  /** A selector as in `kubectl get -l`. */
  readonly clusters?: string;
  readonly now: number;
}

export async function freezeFleet(server: Server, options: FreezeOptions, print: Print): Promise<void> {
  const { reason, placements, clusters, now } = options;
  if (reason.trim() === '') throw bad('a freeze needs a reason: -m TEXT');
  const until = options.until === undefined ? undefined : momentOf(options.until, now);
  const clusterSelector = clusters === undefined ? undefined : selectorOf(clusters);
  // A freeze of a placement that does not exist would silently have no effect.
  for (const which of placements) await getPlacement(server, which);
  const scope: Pick<FreezeSpec, 'placements' | 'clusterSelector'> = {
    ...(placements.length === 0
      ? {}
      : {
          placements: placements.map(({ name, namespace }) => ({
            name,
            namespace,
          })),
        }),
    ...(clusterSelector === undefined ? {} : { clusterSelector }),
  };
  const same = (await activeIn(server, now)).find(({ spec }) => isSameScope(spec, scope));
  if (same !== undefined) {
    throw new UserError(
      'AlreadyFrozen',
      `Freeze "${same.name}" covers the same already (${inWords(same.spec)}): end it first (flotilla unfreeze ${same.name})`,
    );
  }
  if (clusterSelector !== undefined) await warnOfNone(server, clusterSelector, clusters ?? '', print);
  const by = await whoAmI(server);
  const spec: FreezeSpec = {
    reason,
    ...(by === '' ? {} : { by }),
    ...(until === undefined ? {} : { until: kubeTime(until) }),
    ...scope,
  };
  const { object, warnings = [] } = await server.transport.call({
    verb: 'create',
    at: { resource: freeze },
    object: {
      apiVersion: `${freeze.group}/${freeze.version}`,
      kind: freeze.kind,
      metadata: { generateName: 'freeze-' },
      spec,
    },
    manager: 'flotilla',
  });
  for (const warning of warnings) print.warning(warning);
  const name = object?.metadata.name ?? '';
  const end = until === undefined ? 'until you end it' : `until ${kubeTime(until)}`;
  print.line(`Freeze "${name}" holds ${scopeOf(spec)} ${end}: clusters are neither updated nor removed`);
  print.line(`End it: flotilla unfreeze ${name}`);
}

export async function unfreeze(
  server: Server,
  names: readonly string[],
  { all, now }: { readonly all: boolean; readonly now: number },
  print: Print,
): Promise<void> {
  const known = await freezesOf(server);
  const wrong = names.find((name) => !NAME.test(name));
  if (wrong !== undefined) throw bad(`"${wrong}" cannot be the name of a Freeze`);
  const missing = names.find((name) => !known.some((each) => each.name === name));
  if (missing !== undefined) throw new UserError('NotFound', `Freeze "${missing}" not found (${listed(known)})`);
  if (known.length === 0) throw new UserError('NotFound', 'no Freeze found: nothing is frozen');
  const active = known.filter((each) => isActive(each, now));
  // A freeze that has ended has no effect, so it needs no confirmation.
  const meant = all || active.length === 0 ? known : active;
  if (names.length === 0 && !all && meant.length > 1)
    throw bad(`there are ${meant.length} Freezes: name one, or end all with --all (${listed(meant)})`);
  const ended = names.length > 0 ? names : meant.map(({ name }) => name);
  for (const name of ended) {
    try {
      await server.transport.call({ verb: 'delete', at: { resource: freeze, name } });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 404) throw error;
    }
    print.line(`Freeze "${name}" ended`);
  }
  const left = active.filter(({ name }) => !ended.includes(name));
  if (left.length > 0) print.warning(`still frozen: ${listed(left)}`);
}

/** After a command that changed what a placement rolls out: names a freeze that holds it. Never fails. */
export async function noteFreezes(
  server: Server,
  { name, namespace }: Pick<WhichPlacement, 'name' | 'namespace'>,
  now: number,
  print: Print,
): Promise<void> {
  let known: readonly Named[];
  try {
    known = await freezesOf(server);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    print.warning(`whether it is frozen is unknown: ${messageOf(error)}`);
    return;
  }
  const placement = { name, namespace };
  for (const each of known) {
    if (frozenIn([each], placement, now) === undefined) continue;
    const end = Number.isFinite(endOf(each)) ? ` or until ${kubeTime(endOf(each))}` : '';
    print.line(`Freeze "${each.name}" holds it until flotilla unfreeze ${each.name}${end} (${inWords(each.spec)})`);
  }
}

/** Members that join later may match, so it is only a warning. */
async function warnOfNone(
  { transport }: Server,
  selector: NonNullable<FreezeSpec['clusterSelector']>,
  asked: string,
  print: Print,
): Promise<void> {
  try {
    const { items } = await createClient(transport, 'flotilla').list(memberCluster, { view: 'metadata' });
    if (items.some(({ metadata }) => matchesLabels(selector, metadata.labels ?? {}))) return;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return;
  }
  print.warning(`no MemberCluster has the labels ${asked}: the freeze has no effect now`);
}

interface Named {
  readonly name: string;
  readonly spec: FreezeSpec;
}

async function freezesOf({ transport }: Server): Promise<readonly Named[]> {
  const { items } = await createClient(transport, 'flotilla').list(freeze);
  return (items as readonly Freeze[]).map(({ metadata, spec }) => ({ name: metadata.name ?? '', spec }));
}

const activeIn = async (server: Server, now: number): Promise<readonly Named[]> =>
  (await freezesOf(server)).filter((each) => isActive(each, now));

const isSameScope = (a: Pick<FreezeSpec, 'placements' | 'clusterSelector'>, b: typeof a): boolean =>
  canonicalJson([a.placements ?? null, a.clusterSelector ?? null]) ===
  canonicalJson([b.placements ?? null, b.clusterSelector ?? null]);

const inWords = ({ reason, by }: FreezeSpec): string => `${reason}${by === undefined ? '' : `; by "${by}"`}`;

const listed = (known: readonly Named[]): string =>
  known.length === 0 ? 'there is none' : known.map(({ name, spec }) => `${name}: ${scopeOf(spec)}`).join('; ');

function momentOf(text: string, now: number): number {
  const ms = parseDuration(text);
  const moment = ms === undefined ? (/^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN) : now + ms;
  if (Number.isNaN(moment))
    throw bad(`"${text}" is not a time: write one such as ${kubeTime(now + 3_600_000)}, or a duration such as 2h`);
  if (moment <= now) throw bad(`"${text}" is in the past: it is ${kubeTime(now)}`);
  return moment;
}

/** Equality-based and set-based requirements, as a label selector of the API. */
function selectorOf(text: string): NonNullable<FreezeSpec['clusterSelector']> {
  let requirements: ReturnType<typeof parseSelector>['requirements'];
  try {
    ({ requirements } = parseSelector(text));
  } catch (error) {
    throw bad(`--clusters "${text}" is not a label selector: ${messageOf(error)}`);
  }
  if (requirements.length === 0) throw bad('--clusters is empty: omit it to freeze all clusters');
  const OPERATORS = {
    '=': 'In',
    '==': 'In',
    '!=': 'NotIn',
    in: 'In',
    notin: 'NotIn',
    exists: 'Exists',
    '!': 'DoesNotExist',
  } as const;
  const isPlain = requirements.every(({ operator }) => operator === '=' || operator === '==');
  if (isPlain && new Set(requirements.map(({ key }) => key)).size === requirements.length)
    return { matchLabels: Object.fromEntries(requirements.map(({ key, values }) => [key, values[0] ?? ''])) };
  const matchExpressions = requirements.map(({ key, operator, values }) => {
    const name = operator === 'gt' || operator === 'lt' ? undefined : OPERATORS[operator];
    if (name === undefined) throw bad(`--clusters "${text}": operator "${operator}" cannot be used`);
    return { key, operator: name, ...(values.length === 0 ? {} : { values: [...values] }) };
  });
  return { matchExpressions };
}

const bad = (message: string): UserError => new UserError('BadArgument', message);
