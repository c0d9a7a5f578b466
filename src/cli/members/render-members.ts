// Renders `flotilla members`. Pure.
import { ageText, shortDuration } from '../../base/age.ts';
import { plainText, shortened } from '../../insight/plain-text.ts';
import type { Amount, MemberView, PlacedHere } from '../../insight/progress/member-view.ts';
import { align } from '../terminal/format-table.ts';

export interface MembersLook {
  readonly now: number;
  readonly wide: boolean;
}

const MAX_MESSAGE = 80;

const heartbeat = ({ lastHeartbeat }: MemberView, now: number): string =>
  lastHeartbeat === undefined ? '-' : `${shortDuration(Math.max(0, now - lastHeartbeat))} ago`;

const free = (resources: readonly Amount[], name: string): string => {
  const amount = resources.find((each) => each.name === name);
  return amount === undefined ? '-' : `${amount.available}/${amount.allocatable}`;
};

const orDash = (text: string | undefined): string => (text === undefined || text === '' ? '-' : text);

export function renderMembers(members: readonly MemberView[], { now, wide }: MembersLook): string {
  const header = ['MEMBER', 'STATE', 'FOR', 'HEARTBEAT', 'VERSION', 'NODES', 'CPU', 'MEMORY', 'PLACED', 'TAINTS'];
  const rows = members.map((each) => [
    each.name,
    each.state,
    each.since === undefined ? '-' : shortDuration(Math.max(0, now - each.since)),
    heartbeat(each, now),
    orDash(each.version),
    orDash(each.nodes),
    free(each.resources, 'cpu'),
    free(each.resources, 'memory'),
    placedText(each.placements),
    orDash(each.taints.join(',')),
    wide ? each.message : shortened(each.message, MAX_MESSAGE),
  ]);
  return lines([align([[...header, 'MESSAGE'], ...rows].map((row) => row.map(plainText)))]);
}

/** Available of all placements. */
const placedText = (placements: readonly PlacedHere[]): string =>
  `${placements.filter(({ isAvailable }) => isAvailable).length}/${placements.length}`;

export function renderMember(member: MemberView, { now }: MembersLook): string {
  const { name, state, since, message, placements, resources, properties, conditions, labels } = member;
  const pairs = (of: Readonly<Record<string, string>>) => Object.entries(of).map(([key, value]) => `${key}=${value}`);
  return lines([
    `MemberCluster "${name}" is ${state}${since === undefined ? '' : ` for ${shortDuration(Math.max(0, now - since))}`}${message === '' ? '' : `: ${message}`}`,
    '',
    align([
      ['Heartbeat', `${heartbeat(member, now)}, every ${member.heartbeatPeriodSeconds}s`],
      ['Version', orDash(member.version)],
      ['Nodes', orDash(member.nodes)],
      ['Identity', member.identity],
      ['Taints', orDash(member.taints.join(', '))],
      ['Labels', orDash(pairs(labels).join(', '))],
      ['Age', member.createdAt === undefined ? '-' : ageText(member.createdAt, now)],
      ...(member.leavingSince === undefined
        ? []
        : [
            [
              'Leaving',
              `for ${shortDuration(Math.max(0, now - member.leavingSince))}, ${member.heldWorks} ${member.heldWorks === 1 ? 'Work is' : 'Works are'} not released`,
            ],
          ]),
    ]),
    ...table(
      ['RESOURCE', 'CAPACITY', 'ALLOCATABLE', 'AVAILABLE'],
      resources.map((each) => [each.name, each.capacity, each.allocatable, each.available]),
    ),
    ...table(
      ['PROPERTY', 'VALUE'],
      properties.map((each) => [each.name, shortened(each.value, MAX_MESSAGE)]),
    ),
    ...table(
      ['CONDITION', 'STATUS', 'REASON', 'MESSAGE'],
      conditions.map((each) => [each.type, each.status, each.reason, each.message]),
    ),
    ...table(
      ['PLACEMENT', 'STATE', 'AVAILABLE'],
      placements.map((each) => [
        each.namespace === undefined ? each.name : `${each.namespace}/${each.name}`,
        each.leavingSince === undefined ? each.state : 'Removing',
        each.isAvailable ? 'True' : 'False',
      ]),
    ),
  ]);
}

const table = (header: readonly string[], rows: readonly (readonly string[])[]): readonly string[] =>
  rows.length === 0 ? [] : ['', align([header, ...rows.map((row) => row.map(plainText))])];

const lines = (parts: readonly string[]): string =>
  parts
    .flatMap((part) => part.split('\n'))
    .map(plainText)
    .join('\n');
