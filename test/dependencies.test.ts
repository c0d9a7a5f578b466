// What is installed with the program: pinned, under licenses that are named, without anything that is compiled or run when it is installed.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';

interface Locked {
  readonly license?: string;
  readonly resolved?: string;
  readonly dev?: true;
  readonly peer?: true;
  readonly devOptional?: true;
  readonly hasInstallScript?: true;
  readonly os?: readonly string[];
}
const read = (file: string): string => readFileSync(resolve(import.meta.dirname, '..', file), 'utf8');
const { packages } = JSON.parse(read('package-lock.json')) as { packages: Readonly<Record<string, Locked>> };
const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Readonly<
  Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>
>;
const installed = Object.entries(packages).filter(
  ([path, { dev, peer, devOptional }]) => path !== '' && !dev && !peer && !devOptional,
);

test('dependencies have exact versions, and the lock file names no download address', () => {
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
    expect(version, name).toMatch(/^\d+\.\d+\.\d+$/);
  expect(Object.entries(packages).filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
});

test('each runtime dependency and each license is in THIRD-PARTY-NOTICES.md', () => {
  const notices = read('THIRD-PARTY-NOTICES.md');
  for (const name of Object.keys(dependencies))
    expect(notices).toContain(`| ${name} | ${packages[`node_modules/${name}`]?.license} |`);
  expect(installed.length).toBeGreaterThan(10);
  for (const [path, { license = 'none' }] of installed)
    expect(notices.includes(license), `${path}: ${license}`).toBe(true);
});

test('no runtime dependency is compiled or runs a script when it is installed', () => {
  expect(installed.filter(([, { hasInstallScript, os }]) => hasInstallScript || os).map(([path]) => path)).toEqual([]);
});
