// The members of a simulated fleet: names, labels, nodes and behavior. From a user's file, or from a built-in fleet by
// name.
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { UserError } from '../base/errors.ts';
import { qualifiedNameErrors } from '../base/names.ts';

export interface FleetMember {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The number of nodes, and the capacity of each. */
  readonly nodes: number;
  readonly cpu: string;
  readonly memory: string;
  readonly region?: string;
  readonly heartbeatPeriodSeconds?: number;
  /** How workloads behave on this member. */
  readonly rules: MemberRules;
}

export interface MemberRules {
  /** From the start of a Pod until it is ready. */
  readonly readySeconds?: number;
  /** From the binding of a Pod to its start: the image pull. */
  readonly pullSeconds?: number;
}

const NODE = { nodes: 2, cpu: '4', memory: '16Gi', rules: {} } as const;

const member = (name: string, labels: FleetMember['labels']): FleetMember => ({ name, labels, ...NODE });

const ENVIRONMENTS = ['staging', 'canary', 'production'] as const;
const REGIONS = ['europe', 'america', 'asia'] as const;
const ENV: Readonly<Record<string, string>> = { staging: 'staging', canary: 'canary', production: 'prod' };

/** The fleet without a file, with the labels that the walk-throughs select by. */
export function usualFleet(count: number): readonly FleetMember[] {
  return Array.from({ length: count }, (_, index) => {
    const environment = ENVIRONMENTS[index % ENVIRONMENTS.length] as string;
    const region = REGIONS[index % REGIONS.length] as string;
    return {
      ...member(`member-${index + 1}`, {
        environment,
        env: ENV[environment] as string,
        region,
        order: String(index + 1),
      }),
      region,
    };
  });
}

const times = (count: number, make: (number: number) => FleetMember): readonly FleetMember[] =>
  Array.from({ length: count }, (_, index) => make(index + 1));

const staged = (environment: string, count: number, orderLabel?: string): readonly FleetMember[] =>
  times(count, (number) =>
    member(count === 1 ? environment : `${environment}-${number}`, {
      environment,
      ...(orderLabel === undefined ? {} : { [orderLabel]: String(number) }),
    }),
  );

/** The fleets in the documentation. */
const SHIPPED: Readonly<Record<string, () => readonly FleetMember[]>> = {
  'seed-001-prod': () => times(4, (number) => member(`cluster-${number}`, { env: 'prod' })),
  'seed-001-loc': () => times(4, (number) => member(`cluster-${number}`, { loc: number <= 2 ? 'west' : 'east' })),
  'seed-002-cluster': () => [...staged('staging', 4), ...staged('canary', 1), ...staged('production', 4, 'order')],
  'seed-002-namespace': () => [
    ...staged('development', 3),
    ...staged('staging', 2),
    ...staged('canary', 1),
    ...staged('production', 3, 'deployment-order'),
  ],
  'seed-003': () => [
    ...times(3, (number) => member(`kind-cluster-${number}`, { env: 'dev' })),
    ...times(2, (number) => member(`aks-member-${number}`, { env: 'test' })),
    member('member1', { environment: 'staging', env: 'staging' }),
    member('member2', { environment: 'canary', env: 'canary' }),
    ...times(2, (number) => member(`prod-cluster-${number}`, { env: 'prod' })),
  ],
  'seed-003-staged': () => [
    member('member1', { environment: 'staging' }),
    member('member2', { environment: 'canary' }),
  ],
  ...Object.fromEntries(
    [25, 50, 100, 200, 230].map((count) => [
      `seed-000-${count}`,
      () =>
        times(count, (number) =>
          member(`cluster-${number}`, {
            env: number % 2 === 0 ? 'staging' : 'prod',
            stage: number <= Math.ceil(count / 10) ? 'demoRollout' : 'stable',
            wave: String(Math.ceil((5 * number) / count)),
          }),
        ),
    ]),
  ),
};

export const shippedFleets = (): readonly string[] => Object.keys(SHIPPED).sort();

export const membersInWords = (count: number): string => (count === 1 ? '1 member' : `${count} members`);

export function shippedFleet(name: string): readonly FleetMember[] | undefined {
  return Object.hasOwn(SHIPPED, name) ? SHIPPED[name]?.() : undefined;
}

/**
 * A note about members of the hub that are not in this fleet; undefined = there are none. Their agents may run
 * elsewhere; otherwise they stay unreachable until they are deleted.
 */
export function strangersText(joined: readonly string[], fleet: readonly FleetMember[]): string | undefined {
  const own = new Set(fleet.map(({ name }) => name));
  const others = joined.filter((name) => !own.has(name));
  if (others.length === 0) return undefined;
  const names = `${others.slice(0, 3).join(', ')}${others.length > 3 ? ' …' : ''}`;
  const who = others.length === 1 ? '1 member is' : `${others.length} members are`;
  return `${who} not of this fleet (${names}): "kubectl delete membercluster NAME" removes one that has no agent elsewhere`;
}

// ---- files

const NAME = /^[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?$/;
/** The same as in embedded.ts, which is loaded only by servers. */
const HUB = 'hub';
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const QUANTITY = /^[0-9]+(\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/;

/**
 * Parses `members: [{ name, labels, nodes, cpu, memory, region, heartbeatPeriodSeconds, rules }]`. Errors include the
 * line.
 */
export function parseFleet(text: string, file: string): readonly FleetMember[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const fail = (why: string, at?: Node | null): never => {
    const offset = at?.range?.[0];
    const line = offset === undefined ? '' : `:${lines.linePos(offset).line}`;
    throw new UserError('FleetFileInvalid', `${file}${line}: ${why}`);
  };
  const [error] = document.errors;
  if (error) throw new UserError('FleetFileInvalid', `${file}:${lines.linePos(error.pos[0]).line}: ${error.message}`);
  const root = document.contents;
  if (!isMap(root)) return fail('a fleet file is a map with one key, members (see docs/fleet-file.md)', root);
  const top = fieldsOf(root, ['members'], fail);
  const list = top.get('members');
  if (!isSeq(list) || list.items.length === 0)
    return fail('members is a list with at least one member', (list as Node) ?? root);
  const members = list.items.map((item) => memberFrom(item as Node, fail));
  const seen = new Set<string>();
  members.forEach(({ name }, index) => {
    if (seen.has(name)) fail(`two members are named "${name}"`, list.items[index] as Node);
    seen.add(name);
  });
  return members;
}

type Fail = (why: string, at?: Node | null) => never;

function fieldsOf(node: Node, known: readonly string[], fail: Fail): ReadonlyMap<string, Node> {
  if (!isMap(node)) return fail('a map is expected here', node);
  return new Map(
    node.items.map(({ key, value }) => {
      const name = isScalar(key) ? String(key.value) : '';
      if (!known.includes(name)) fail(`unknown field "${name}"; valid fields: ${known.join(', ')}`, key as Node);
      return [name, value as Node];
    }),
  );
}

function memberFrom(node: Node, fail: Fail): FleetMember {
  const known = ['name', 'labels', 'nodes', 'cpu', 'memory', 'region', 'heartbeatPeriodSeconds', 'rules'];
  const fields = fieldsOf(node, known, fail);
  const text = (name: string, pattern: RegExp, what: string): string | undefined => {
    const field = fields.get(name);
    if (field === undefined) return undefined;
    const value = isScalar(field) ? String(field.value) : '';
    return pattern.test(value) ? value : fail(`${name} must be ${what}`, field);
  };
  const name =
    text(
      'name',
      NAME,
      'at most 50 lower-case letters, digits and dashes, beginning and ending with a letter or digit',
    ) ?? fail('a member needs a name', node);
  if (name === HUB) fail(`"${HUB}" is the hub itself: its context has that name`, fields.get('name'));
  const region = text('region', LABEL_VALUE, 'a label value');
  const heartbeat = wholeNumber(
    fields.get('heartbeatPeriodSeconds'),
    { name: 'heartbeatPeriodSeconds', least: 1, max: 600 },
    fail,
  );
  const labels = labelsFrom(fields.get('labels'), fail);
  return {
    name,
    labels: { ...(region === undefined ? {} : { region }), ...labels },
    nodes: wholeNumber(fields.get('nodes'), { name: 'nodes', least: 0, max: 1000 }, fail) ?? NODE.nodes,
    cpu: text('cpu', QUANTITY, 'a quantity such as 4 or 500m') ?? NODE.cpu,
    memory: text('memory', QUANTITY, 'a quantity such as 16Gi') ?? NODE.memory,
    ...(region === undefined ? {} : { region }),
    ...(heartbeat === undefined ? {} : { heartbeatPeriodSeconds: heartbeat }),
    rules: rulesFrom(fields.get('rules'), fail),
  };
}

function wholeNumber(
  node: Node | undefined,
  { name, least, max }: { readonly name: string; readonly least: number; readonly max: number },
  fail: Fail,
): number | undefined {
  if (node === undefined) return undefined;
  const value = isScalar(node) ? node.value : undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= max) return value;
  return fail(`${name} is a whole number from ${least} to ${max}`, node);
}

function labelsFrom(node: Node | undefined, fail: Fail): Readonly<Record<string, string>> {
  if (node === undefined) return {};
  if (!isMap(node)) return fail('labels is a map', node);
  return Object.fromEntries(
    node.items.map(({ key, value }) => {
      const name = isScalar(key) ? String(key.value) : '';
      const text = isScalar(value) ? String(value.value) : undefined;
      const [problem] = qualifiedNameErrors(name);
      if (problem !== undefined) return fail(`"${name}" cannot be the key of a label: ${problem}`, key as Node);
      if (text === undefined || !LABEL_VALUE.test(text))
        return fail(`label "${name}" has no valid value`, (value ?? key) as Node);
      return [name, text];
    }),
  );
}

function rulesFrom(node: Node | undefined, fail: Fail): MemberRules {
  if (node === undefined) return {};
  const fields = fieldsOf(node, ['readySeconds', 'pullSeconds'], fail);
  const seconds = (name: string) => wholeNumber(fields.get(name), { name, least: 0, max: 86_400 }, fail);
  const [readySeconds, pullSeconds] = [seconds('readySeconds'), seconds('pullSeconds')];
  return {
    ...(readySeconds === undefined ? {} : { readySeconds }),
    ...(pullSeconds === undefined ? {} : { pullSeconds }),
  };
}
