// A member may report anything that the schema allows: the copy on the hub is bounded and plausible.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../test/properties.ts';
import { memberCluster } from '../../api/member-cluster.ts';
import { MAX_NAMESPACES, MAX_PROPERTIES, MAX_RESOURCES, type MemberStatus } from '../../api/member-status.ts';
import type { Draft } from '../../apiserver/registry.ts';
import { structureOf } from '../../apiserver/schema/structure.ts';
import { kubeTime } from '../../base/clock.ts';
import { aCluster, aCondition, anAgent, anInternal, NOW, observed } from './member.testing.ts';
import { READY, statusFor } from './report.ts';
import { reportedPart } from './reported.ts';
import { writeStatus } from './status-patch.ts';

const TIME = kubeTime(NOW);
const part = (report: MemberStatus) => reportedPart(report, { now: NOW, beatSeenAt: NOW, ownTypes: ['Joined'] });

describe('of a report the hub repeats', () => {
  test('all that an agent of ours says, and the very same maps', () => {
    const report: MemberStatus = {
      conditions: [aCondition('A', 'True')],
      properties: { 'kubernetes-fleet.io/node-count': { value: '3', observationTime: TIME } },
      resourceUsage: { capacity: { cpu: '8', memory: '16Gi' }, available: { cpu: 0 }, observationTime: TIME },
      namespaces: { default: '', shop: 'work-1' },
      agentStatus: [anAgent('True')],
    };
    const { status, dropped } = part(report);
    expect(dropped).toEqual([]);
    expect(status).toEqual(report);
    expect(status.namespaces).toBe(report.namespaces);
    expect(status.properties).toBe(report.properties);
  });

  const usage = (cpu: string | number): MemberStatus => ({ resourceUsage: { capacity: { cpu, memory: '1Gi' } } });
  const property = (value: string, name = 'kubernetes-fleet.io/node-count', observationTime = TIME): MemberStatus => ({
    properties: { [name]: { value, observationTime } },
  });
  test.each<{ it: string; report: MemberStatus; says: string; left?: unknown }>([
    { it: 'no negative amount', report: usage('-5'), says: 'resourceUsage.capacity[cpu] is negative' },
    { it: 'no negative number', report: usage(-5), says: 'resourceUsage.capacity[cpu] is negative' },
    { it: 'no exponent without end', report: usage('1e999'), says: 'resourceUsage.capacity[cpu] is no quantity' },
    { it: 'no absurd amount', report: usage('1e90'), says: 'resourceUsage.capacity[cpu] is implausibly large' },
    { it: 'no negative count of nodes', report: property('-1e30'), says: 'node-count] is negative' },
    { it: 'no count of nodes that is none', report: property('\u001b[2J'), says: 'node-count] has control characters' },
    { it: 'no text that turns around', report: property('\u202e3', 'x'), says: 'properties[x] has control characters' },
    { it: 'no name with an escape', report: property('3', '\u001b[2J'), says: 'properties[ [2J] is no name' },
    {
      it: 'nothing observed in the year 9999',
      report: property('3', 'x', '9999-01-01T00:00:00Z'),
      says: 'properties[x] has an implausible observationTime',
    },
    {
      it: 'nothing observed in the year 0',
      report: property('3', 'x', '0000-01-01T00:00:00Z'),
      says: 'properties[x] has an implausible observationTime',
    },
    {
      it: 'no usage observed tomorrow',
      report: { resourceUsage: { observationTime: kubeTime(NOW + 25 * 3600_000) } },
      says: 'resourceUsage.observationTime is implausible',
    },
    { it: 'no namespace that cannot be', report: { namespaces: { 'A/b': '' } }, says: 'namespaces[A/b] is no name' },
    {
      it: 'no Work with a line of its own',
      report: { namespaces: { a: 'x\ny' } },
      says: 'namespaces[a] does not name a Work',
    },
    {
      it: 'no condition of the year 9999',
      report: { conditions: [aCondition('A', 'True', { lastTransitionTime: '9999-01-01T00:00:00Z' })] },
      says: 'conditions[A].lastTransitionTime is implausible',
    },
    {
      it: 'no agent with an escape',
      report: { agentStatus: [{ type: '\u001b' }] },
      says: 'agentStatus[ ] is no name',
    },
  ])('$it', ({ report, says }) => {
    const { status, dropped } = part(report);
    expect(dropped).toHaveLength(1);
    expect(dropped[0]).toContain(says);
    expect(JSON.stringify(status)).not.toMatch(/-5|1e|9999|0000-|\\u00|\u202e|2027|x\\ny/);
  });

  test('a message as one line without control characters, cut', () => {
    const conditions = [aCondition('A', 'True', { message: 'a\u001b[2Jb\nc' }), aCondition('B', 'True')];
    const { status, dropped } = part({ conditions });
    expect(status.conditions?.[0]?.message).toBe('a [2Jb c');
    expect(dropped).toEqual(['conditions[A].message has control characters']);
    const long = part({ conditions: [aCondition('A', 'True', { message: 'x'.repeat(32_768) })] });
    expect(long.status.conditions?.[0]?.message).toHaveLength(1024);
  });

  test('a heartbeat with an absurd stamp as of the moment in which the hub saw it', () => {
    for (const stamp of ['9999-01-01T00:00:00Z', '0000-01-01T00:00:00Z']) {
      const { status, dropped } = part({ agentStatus: [anAgent('True', { stamp })] });
      expect(status.agentStatus?.[0]?.lastReceivedHeartbeat).toBe(TIME);
      expect(dropped).toEqual(['agentStatus[MemberAgent].lastReceivedHeartbeat is implausible']);
    }
  });

  test('no condition in which the hub speaks, and one of each type', () => {
    const conditions = [aCondition('Joined', 'False'), aCondition('B', 'True'), aCondition('B', 'False')];
    expect(part({ conditions }).status.conditions?.map(({ type, status }) => `${type}=${status}`)).toEqual(['B=False']);
  });

  test('at most fifty conditions', () => {
    const conditions = Array.from({ length: 64 }, (_, at) => aCondition(`T${at}`, 'True'));
    const { status, dropped } = part({ conditions });
    expect(status.conditions).toHaveLength(50);
    expect(dropped).toEqual(['conditions has 64 entries, 50 are repeated']);
  });

  test('less than an object may have, however much is reported', () => {
    const times = (count: number, make: (at: number) => readonly [string, unknown]) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => make(at)));
    const message = 'ä'.repeat(32_768);
    const conditions = Array.from({ length: 64 }, (_, at) => aCondition(`T${at}`, 'True', { message }));
    const quantities = times(MAX_RESOURCES, (at) => [`${'p'.repeat(250)}/r${at}`, '9'.repeat(18)]);
    const report = {
      conditions,
      properties: times(MAX_PROPERTIES, (at) => [`p${at}`, { value: 'v'.repeat(16_384), observationTime: TIME }]),
      resourceUsage: { capacity: quantities, allocatable: quantities, available: quantities },
      namespaces: times(MAX_NAMESPACES, (at) => [`n${at}-${'n'.repeat(50)}`, 'w'.repeat(253)]),
      agentStatus: Array.from({ length: 8 }, (_, at) => ({
        ...anAgent('True', { type: at === 0 ? 'MemberAgent' : `A${at}` }),
        conditions: conditions.slice(0, 16),
      })),
    } as unknown as MemberStatus;
    const status = statusFor(observed({ internal: anInternal({ status: report }), beatSeenAt: NOW }), {
      readyToJoin: READY,
    });
    const object = aCluster({ status });
    expect(Buffer.byteLength(JSON.stringify(object))).toBeLessThan(1.5 * 1024 * 1024 - 64 * 1024);
    expect(structureOf(memberCluster.schema).validate(object as unknown as Draft, undefined)).toEqual([]);
    expect(status.conditions?.find(({ type }) => type === 'StatusTrimmed')).toMatchObject({
      status: 'True',
      reason: 'ReportOutOfBounds',
    });
  });

  test('what the schema of a MemberCluster takes, of any report', () => {
    const time = fc.constantFrom(TIME, '9999-12-31T23:59:59Z', '0000-01-01T00:00:00Z', '2026-01-01T00:00:00Z');
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('a', 'cpu', 'x/y', '\u0000', '-1', '1e400'));
    const condition = fc.record({
      type: fc.stringMatching(/^[A-Z][a-z]{0,3}$/),
      status: fc.constantFrom('True', 'False', 'Unknown'),
      reason: fc.constant('R'),
      message: text,
      lastTransitionTime: time,
    });
    const quantities = fc.dictionary(text, fc.oneof(fc.integer(), fc.constantFrom('1', '-1', '5e80', '3Gi')));
    const report = fc.record(
      {
        conditions: fc.array(condition),
        properties: fc.dictionary(text, fc.record({ value: text, observationTime: time })),
        resourceUsage: fc.record({ capacity: quantities, available: quantities, observationTime: time }),
        namespaces: fc.dictionary(text, text),
        agentStatus: fc.array(fc.record({ type: text, conditions: fc.array(condition), lastReceivedHeartbeat: time })),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(report, (given) => {
        const { status } = part(given as unknown as MemberStatus);
        const object = { ...aCluster({ status }), apiVersion: 'cluster.kubernetes-fleet.io/v1beta1' };
        expect(structureOf(memberCluster.schema).validate(object as unknown as Draft, undefined)).toEqual([]);
        // The copy passes the check unchanged.
        expect(part(status)).toEqual({ status, dropped: [] });
      }),
      { numRuns: runs(200) },
    );
  });
});

test('news in a status are looked for in time that grows with the status, not with its square', () => {
  let reads = 0;
  const counted = (count: number): MemberStatus => ({
    conditions: Array.from({ length: count }, (_, at) => {
      const condition = aCondition(`T${at}`, 'True');
      return Object.defineProperty({ ...condition }, 'type', {
        enumerable: true,
        get: () => {
          reads++;
          return condition.type;
        },
      });
    }),
  });
  const readsFor = (count: number): number => {
    const cluster = aCluster({ status: counted(count) });
    const wanted = { ...counted(count), namespaces: { a: '' } };
    reads = 0;
    expect(writeStatus(observed({ cluster }), wanted)).not.toEqual([]);
    return reads;
  };
  expect(readsFor(4000)).toBeLessThan(3 * readsFor(2000));
});
