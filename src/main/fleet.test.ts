import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { UserError } from '../base/errors.ts';
import { membersInWords, parseFleet, shippedFleet, shippedFleets, strangersText, usualFleet } from './fleet.ts';

describe('a fleet file', () => {
  test('sets names, labels, nodes and manners', () => {
    const text = `
members:
  - name: eu-1
    region: europe
    labels: { environment: production, order: 1 }
    nodes: 3
    cpu: 8
    memory: 32Gi
    heartbeatPeriodSeconds: 5
    rules: { readySeconds: 2 }
  - name: us-1
`;
    expect(parseFleet(text, 'f.yaml')).toEqual([
      {
        name: 'eu-1',
        region: 'europe',
        labels: { region: 'europe', environment: 'production', order: '1' },
        nodes: 3,
        cpu: '8',
        memory: '32Gi',
        heartbeatPeriodSeconds: 5,
        rules: { readySeconds: 2 },
      },
      { name: 'us-1', labels: {}, nodes: 2, cpu: '4', memory: '16Gi', rules: {} },
    ]);
  });

  test.each([
    {
      it: 'an unknown field',
      text: 'members:\n  - name: a\n    labelz: {}\n',
      says: 'f.yaml:3: unknown field "labelz"',
    },
    { it: 'an unknown root field', text: 'members: []\nfoo: 1\n', says: 'f.yaml:2: unknown field "foo"' },
    { it: 'no members', text: 'members: []\n', says: 'f.yaml:1: members is a list with at least one member' },
    { it: 'a name with dots', text: 'members:\n  - name: a.b\n', says: 'f.yaml:2: name must be at most 50' },
    { it: 'a name that is too long', text: `members:\n  - name: ${'a'.repeat(51)}\n`, says: 'f.yaml:2: name must be' },
    { it: 'a member without a name', text: 'members:\n  - nodes: 1\n', says: 'f.yaml:2: a member needs a name' },
    {
      it: 'two members of one name',
      text: 'members:\n  - name: a\n  - name: a\n',
      says: 'f.yaml:3: two members are named "a"',
    },
    {
      it: 'a number out of range',
      text: 'members:\n  - name: a\n    nodes: -1\n',
      says: 'f.yaml:3: nodes is a whole number from 0 to 1000',
    },
    {
      it: 'a label that is none',
      text: 'members:\n  - name: a\n    labels: { x: "a b" }\n',
      says: 'f.yaml:3: label "x"',
    },
    { it: "the hub's name", text: 'members:\n  - name: hub\n', says: 'f.yaml:2: "hub" is the hub itself' },
    { it: 'text that is no YAML', text: 'members: [\n', says: 'f.yaml:' },
    { it: 'a list', text: '- a\n', says: 'f.yaml:1: a fleet file is a map' },
  ])('with $it is refused with its line', ({ text, says }) => {
    expect(() => parseFleet(text, 'f.yaml')).toThrow(UserError);
    expect(() => parseFleet(text, 'f.yaml')).toThrow(says);
  });
});

describe('the fleets that ship', () => {
  test('have the clusters and labels that the documents speak of', () => {
    expect(shippedFleets()).toContain('seed-001-prod');
    expect(shippedFleets().filter((name) => name.startsWith('seed-000'))).toHaveLength(5);
    expect(shippedFleet('seed-001-loc')?.map(({ name, labels }) => `${name} ${labels['loc']}`)).toEqual([
      'cluster-1 west',
      'cluster-2 west',
      'cluster-3 east',
      'cluster-4 east',
    ]);
    expect(
      shippedFleet('seed-002-cluster')
        ?.filter(({ labels }) => labels['environment'] === 'production')
        .map(({ labels }) => labels['order']),
    ).toEqual(['1', '2', '3', '4']);
    expect(shippedFleet('seed-002-namespace')).toHaveLength(9);
    expect(shippedFleet('seed-000-230')).toHaveLength(230);
    const labeled = (key: string, value: string) =>
      shippedFleet('seed-000-200')?.filter(({ labels }) => labels[key] === value).length;
    expect(labeled('stage', 'demoRollout')).toBe(20);
    expect(['1', '2', '3', '4', '5'].map((wave) => labeled('wave', wave))).toEqual([40, 40, 40, 40, 40]);
    expect(shippedFleet('constructor')).toBeUndefined();
    for (const name of shippedFleets()) {
      const names = shippedFleet(name)?.map((each) => each.name) ?? [];
      expect(new Set(names).size).toBe(names.length);
    }
  });

  test('without a name: environments in turn and numbers in order', () => {
    expect(usualFleet(4).map(({ labels }) => `${labels['environment']} ${labels['order']}`)).toEqual([
      'staging 1',
      'canary 2',
      'production 3',
      'staging 4',
    ]);
  });
});

test('members are counted in words', () => {
  expect([1, 2].map(membersInWords)).toEqual(['1 member', '2 members']);
});

test('the page about fleet files shows one that is read', () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../docs/fleet-file.md'), 'utf8');
  const [, block = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
  expect(parseFleet(block, 'fleet.yaml')).toEqual([
    {
      name: 'eu-1',
      labels: { region: 'europe', environment: 'production', order: '1' },
      region: 'europe',
      nodes: 3,
      cpu: '8',
      memory: '32Gi',
      heartbeatPeriodSeconds: 15,
      rules: { pullSeconds: 2, readySeconds: 5 },
    },
    { name: 'eu-2', labels: {}, nodes: 2, cpu: '4', memory: '16Gi', rules: {} },
  ]);
});

test('a fleet file with a bad label key is refused', () => {
  expect(() => parseFleet('members:\n  - name: a\n    labels: { "b c": d }\n', 'f')).toThrow(
    'f:3: "b c" cannot be the key of a label: name part must consist of',
  );
});

describe('a fleet that is started where there was one before', () => {
  test.each([
    { it: 'the same', before: 3, now: 3, says: undefined },
    { it: 'larger', before: 2, now: 3, says: undefined },
    { it: 'without one', before: 3, now: 2, says: /^1 member is not of this fleet \(member-3\): / },
    { it: 'with fewer members', before: 4, now: 2, says: /^2 members are not of this fleet \(member-3, member-4\): / },
    { it: 'with far fewer', before: 9, now: 2, says: /^7 members .*\(member-3, member-4, member-5 …\): / },
  ])('$it', ({ before, now, says }) => {
    const joined = usualFleet(before).map(({ name }) => name);
    const told = strangersText(joined, usualFleet(now));
    if (says === undefined) expect(told).toBeUndefined();
    else expect(told).toMatch(says);
  });
});
