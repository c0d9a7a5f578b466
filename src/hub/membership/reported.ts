// The part of a member's report that the hub copies to the MemberCluster. A member is the least trusted party of a
// fleet, so the copy is bounded and implausible values are dropped. The sum of all bounds is below the maximum size of
// an object.
import type { Condition } from '../../api/conditions.ts';
import {
  MAX_AGENT_CONDITIONS,
  MAX_AGENTS,
  MAX_PROPERTIES,
  MAX_RESOURCES,
  type MemberStatus,
} from '../../api/member-status.ts';
import { properties as propertyNames } from '../../api/names.ts';
import { QUALIFIED_NAME, QUALIFIED_NAME_LENGTH } from '../../api/patterns.ts';
import { kubeTime } from '../../base/clock.ts';
import { by } from '../../base/compare.ts';
import { parseQuantity } from '../../base/quantity.ts';

type AgentStatus = NonNullable<MemberStatus['agentStatus']>[number];
type Usage = NonNullable<MemberStatus['resourceUsage']>;

/** In addition to those of the hub. */
export const MAX_CONDITIONS_REPEATED = 50;
export const MAX_MESSAGE = 1024;
const MAX_PROPERTY_TEXT = 256 * 1024;
const MAX_NAMESPACE_TEXT = 512 * 1024;
const MAX_WORK_NAME = 253;
/** 8 EiB, the largest quantity with a binary suffix; in billionths. */
const MAX_AMOUNT = 2n ** 63n * 1_000_000_000n;

const DAY_MS = 24 * 60 * 60 * 1000;
const EARLIEST_MS = Date.parse('2000-01-01T00:00:00Z');

const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;
const NAME = new RegExp(QUALIFIED_NAME);
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

export interface Reported {
  readonly status: MemberStatus;
  /** What was dropped and why, as messages. */
  readonly dropped: readonly string[];
}

interface Facts {
  readonly now: number;
  /** By the hub's clock. */
  readonly beatSeenAt?: number;
  /** Types of conditions that only the hub sets. */
  readonly ownTypes: readonly string[];
}

export function reportedPart(report: MemberStatus, facts: Facts): Reported {
  const dropped: string[] = [];
  const drop = (what: string): void => {
    dropped.push(what);
  };
  const { conditions, resourceUsage, namespaces, agentStatus } = report;
  const properties = report.properties && withoutCertificates(report.properties);
  const isPlausible = plausibleUntil(facts.now + DAY_MS);
  const status: MemberStatus = {
    ...(conditions === undefined
      ? {}
      : { conditions: conditionsOf(conditions, 'conditions', MAX_CONDITIONS_REPEATED, facts.ownTypes) }),
    ...(properties === undefined ? {} : { properties: propertiesOf(properties) }),
    ...(resourceUsage === undefined ? {} : { resourceUsage: usageOf(resourceUsage) }),
    ...(namespaces === undefined ? {} : { namespaces: namespacesOf(namespaces) }),
    ...(agentStatus === undefined ? {} : { agentStatus: agentsOf(agentStatus) }),
  };
  return { status, dropped };

  /** One per type, which the schema of the report does not guarantee; the last one counts. */
  function conditionsOf(
    list: readonly Condition[],
    at: string,
    max: number,
    except: readonly string[] = [],
  ): readonly Condition[] {
    const byType = new Map(list.map((each) => [each.type, each]));
    for (const type of except) byType.delete(type);
    const kept = [...byType.values()].filter(({ type, lastTransitionTime }) => {
      const isKept = isPlausible(lastTransitionTime);
      if (!isKept) drop(`${at}[${type}].lastTransitionTime is implausible`);
      return isKept;
    });
    if (kept.length > max) drop(`${at} has ${kept.length} entries, ${max} are repeated`);
    return kept
      .toSorted(by(({ type }) => type))
      .slice(0, max)
      .map((each) => withPlainMessage(each, at));
  }

  function withPlainMessage(condition: Condition, at: string): Condition {
    const { message, type } = condition;
    if (message.length <= MAX_MESSAGE && !CONTROL.test(message)) return condition;
    if (CONTROL.test(message.replace(/[\n\r\t]/g, ''))) drop(`${at}[${type}].message has control characters`);
    const plain = message.slice(0, MAX_MESSAGE * 2).replace(CONTROLS, ' ');
    return { ...condition, message: plain.length <= MAX_MESSAGE ? plain : `${plain.slice(0, MAX_MESSAGE - 1)}…` };
  }

  function propertiesOf(map: NonNullable<MemberStatus['properties']>): NonNullable<MemberStatus['properties']> {
    return entriesOf(
      map,
      'properties',
      MAX_PROPERTIES,
      MAX_PROPERTY_TEXT,
      ({ value }) => value.length,
      (name, each) => {
        if (!isName(name)) return 'is no name';
        if (CONTROL.test(each.value)) return 'has control characters';
        if (!isPlausible(each.observationTime)) return 'has an implausible observationTime';
        return name === propertyNames.nodeCount ? amountProblem(each.value) : undefined;
      },
    );
  }

  function usageOf({ observationTime, ...amounts }: Usage): Usage {
    const kept = Object.entries(amounts).map(([part, quantities]) => [
      part,
      entriesOf(
        quantities,
        `resourceUsage.${part}`,
        MAX_RESOURCES,
        MAX_PROPERTY_TEXT,
        () => 0,
        (name, amount) => (isName(name) ? amountProblem(amount) : 'is no name'),
      ),
    ]);
    if (observationTime === undefined) return Object.fromEntries(kept);
    if (isPlausible(observationTime)) return { ...Object.fromEntries(kept), observationTime };
    drop('resourceUsage.observationTime is implausible');
    return Object.fromEntries(kept);
  }

  function namespacesOf(map: NonNullable<MemberStatus['namespaces']>): NonNullable<MemberStatus['namespaces']> {
    return entriesOf(
      map,
      'namespaces',
      Number.POSITIVE_INFINITY,
      MAX_NAMESPACE_TEXT,
      (work) => work.length,
      (name, work) => {
        if (!NAMESPACE.test(name)) return 'is no name';
        return work.length > MAX_WORK_NAME || CONTROL.test(work) ? 'does not name a Work' : undefined;
      },
    );
  }

  /** The valid entries, up to a maximum number and size; the same object if all are valid. */
  function entriesOf<T>(
    map: Readonly<Record<string, T>>,
    at: string,
    max: number,
    maxText: number,
    textOf: (value: T) => number,
    problemOf: (name: string, value: T) => string | undefined,
  ): Readonly<Record<string, T>> {
    const kept: [string, T][] = [];
    let size = 0;
    let surplus = 0;
    const entries = Object.entries(map);
    for (const [name, value] of entries) {
      const problem = problemOf(name, value);
      if (problem !== undefined) {
        drop(`${at}[${plainName(name)}] ${problem}`);
        continue;
      }
      size += name.length + textOf(value);
      if (kept.length < max && size <= maxText) kept.push([name, value]);
      else surplus++;
    }
    if (surplus > 0) drop(`${at} is too large: ${surplus} entries are not repeated`);
    return kept.length === entries.length ? map : Object.fromEntries(kept);
  }

  function agentsOf(agents: readonly AgentStatus[]): readonly AgentStatus[] {
    const byType = [...new Map(agents.map((each) => [each.type, each])).values()];
    const kept = byType.filter(({ type }) => {
      const isKept = isName(type);
      if (!isKept) drop(`agentStatus[${plainName(type)}] is no name`);
      return isKept;
    });
    if (kept.length > MAX_AGENTS) drop(`agentStatus has ${kept.length} entries, ${MAX_AGENTS} are repeated`);
    return kept.slice(0, MAX_AGENTS).map((agent) => {
      const at = `agentStatus[${agent.type}]`;
      const { lastReceivedHeartbeat: stamp, conditions: said, ...rest } = agent;
      const beat = stamp === undefined || isPlausible(stamp) ? stamp : beatInstead(at);
      return {
        ...rest,
        ...(said === undefined ? {} : { conditions: inOrderOf(said, conditionsOf(said, at, MAX_AGENT_CONDITIONS)) }),
        ...(beat === undefined ? {} : { lastReceivedHeartbeat: beat }),
      };
    });
  }

  /** The heartbeat counts, but not its stamp: use the time at which the hub saw it. */
  function beatInstead(at: string): string | undefined {
    drop(`${at}.lastReceivedHeartbeat is implausible`);
    return facts.beatSeenAt === undefined ? undefined : kubeTime(facts.beatSeenAt);
  }
}

/** Many users may read a MemberCluster, so the certificates of a member are only in its ClusterProfile. */
function withoutCertificates(map: NonNullable<MemberStatus['properties']>): NonNullable<MemberStatus['properties']> {
  if (!Object.hasOwn(map, propertyNames.certificateAuthority)) return map;
  const { [propertyNames.certificateAuthority]: _certificates, ...others } = map;
  return others;
}

const isName = (text: string): boolean => text.length <= QUALIFIED_NAME_LENGTH && NAME.test(text);

const plainName = (name: string): string => name.slice(0, 63).replace(CONTROLS, ' ');

const plausibleUntil =
  (latest: number) =>
  (time: string): boolean => {
    const at = Date.parse(time);
    return at >= EARLIEST_MS && at <= latest;
  };

function amountProblem(amount: string | number): string | undefined {
  const quantity = parseQuantity(amount);
  if (quantity === undefined) return 'is no quantity';
  if (quantity.nano < 0n) return 'is negative';
  return quantity.nano > MAX_AMOUNT ? 'is implausibly large' : undefined;
}

/** In the order of the agent, for the conditions that are copied. */
function inOrderOf(list: readonly Condition[], kept: readonly Condition[]): readonly Condition[] {
  const byType = new Map(kept.map((each) => [each.type, each]));
  return [...new Set(list.map(({ type }) => type))].flatMap((type) => byType.get(type) ?? []);
}
