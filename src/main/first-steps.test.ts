import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { firstSteps } from './first-steps.ts';
import { type FleetMember, shippedFleet, shippedFleets, usualFleet } from './fleet.ts';

const root = resolve(import.meta.dirname, '../..');

describe('the first steps', () => {
  test('are those of the README', () => {
    const readme = readFileSync(resolve(root, 'README.md'), 'utf8').split('\n');
    for (const step of firstSteps(usualFleet(3).slice(2))) expect(readme).toContain(step);
  });

  test('name files that are there', () => {
    const files = firstSteps(usualFleet(1)).flatMap((step) => step.match(/\S+\.yaml/g) ?? []);
    expect(files).toHaveLength(2);
    for (const file of files) expect(existsSync(resolve(file))).toBe(true);
  });

  test('are few where there is no member', () => {
    expect(firstSteps([])).toEqual(['kubectl get memberclusters']);
  });

  test.each([
    { fleet: 'seed-002-cluster', heading: 'For the whole fleet' },
    { fleet: 'seed-002-namespace', heading: 'For one namespace' },
  ])('with $fleet lead to where its walk-through begins', ({ fleet, heading }) => {
    const page = readFileSync(resolve(root, 'docs/seeds.md'), 'utf8').split('\n');
    const steps = firstSteps(shippedFleet(fleet) as readonly FleetMember[]);
    expect(steps).toEqual([expect.any(String), `# then, step by step: docs/seeds.md, "${heading}"`]);
    const from = page.indexOf(`## ${heading}`);
    const end = page.findIndex((line, at) => at > from && line.startsWith('### '));
    expect(page.slice(from, end)).toContain(steps[0]);
    expect(page.slice(from, end)).toContain(`flotilla up --fleet ${fleet} --in-memory`);
  });

  test('with a fleet of the same names and other labels are the usual ones', () => {
    const others = (shippedFleet('seed-002-cluster') ?? []).map((each) => ({ ...each, labels: {} }));
    expect(firstSteps(others)).toContain('kubectl --context staging-1 -n shop get deployments');
  });

  test('with any other fleet that ships place the shop', () => {
    for (const name of shippedFleets().filter((each) => !each.startsWith('seed-002'))) {
      expect(firstSteps(shippedFleet(name) as readonly FleetMember[]).join('\n')).toContain('shop.yaml');
    }
  });
});
