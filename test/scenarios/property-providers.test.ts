// The example of docs/property-providers.md in a complete fleet, and the status of a MemberCluster whose provider
// fails.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadProvider } from '../../src/main/load-provider.ts';
import type { PropertyProvider } from '../../src/member/properties/provider.ts';
import { aFleet } from '../fleet.ts';

const quiet = { warn() {} };

function written(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-provider-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

async function example(): Promise<PropertyProvider> {
  const page = readFileSync(new URL('../../docs/property-providers.md', import.meta.url), 'utf8');
  const code = /```js\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
  return (await loadProvider(written('zones.mjs', code), quiet)) as PropertyProvider;
}

async function withProvider(provider: PropertyProvider) {
  const fleet = await aFleet();
  await fleet.join('east', { agent: false, heartbeatPeriodSeconds: 10 });
  const zones = ['a', 'a', 'b'];
  for (const [index, zone] of zones.entries()) {
    const labels = { 'topology.kubernetes.io/zone': zone };
    await fleet.member('east').create('nodes', undefined, { metadata: { name: `n${index}`, labels } });
  }
  fleet.startAgent('east', { provider });
  await fleet.runs(25_000);
  const values = async () =>
    Object.fromEntries(
      Object.entries((await fleet.memberCluster('east')).status?.properties ?? {}).map(([key, { value }]) => [
        key,
        value,
      ]),
    );
  return { fleet, values };
}

describe('a property provider', () => {
  test('of the documents reports zones, and a zone that is gone is removed', async () => {
    const { fleet, values } = await withProvider(await example());
    await using _fleet = fleet;
    expect(await values()).toEqual({
      'kubernetes-fleet.io/node-count': '3',
      'zones.example.com/a': '2',
      'zones.example.com/b': '1',
    });
    expect(await fleet.condition('east', 'ClusterPropertyProviderStarted')).toBe('True/Started');
    expect(await fleet.condition('east', 'ClusterPropertyCollectionSucceeded')).toBe('True/PropertiesCollected');
    const member = fleet.member('east');
    await member.call({ verb: 'delete', at: member.at('nodes', undefined, 'n2') });
    await fleet.runs(25_000);
    expect(await values()).toEqual({ 'kubernetes-fleet.io/node-count': '2', 'zones.example.com/a': '2' });
    // One write per beat, with and without a provider.
    fleet.writes.clear();
    await fleet.runs(60_000);
    const reports = fleet.writes.get('east patch internalmemberclusters/status') ?? 0;
    expect(reports).toBeGreaterThanOrEqual(5);
    expect(reports).toBeLessThanOrEqual(7);
  });

  test('that fails to start leaves the built-in collection, and the condition tells why', async () => {
    const { fleet, values } = await withProvider({
      start: () => Promise.reject(new Error('no region')),
      collect: () => ({}),
    });
    await using _fleet = fleet;
    expect(await values()).toEqual({ 'kubernetes-fleet.io/node-count': '3' });
    expect(await fleet.condition('east', 'ClusterPropertyProviderStarted')).toBe('False/FailedToStart');
    expect(await fleet.condition('east', 'Healthy')).toMatch(/^True/);
  });

  test('that hangs delays no heartbeat', async () => {
    const { fleet } = await withProvider({ collect: () => new Promise(() => {}) });
    await using _fleet = fleet;
    await fleet.runs(60_000);
    expect(await fleet.condition('east', 'ClusterPropertyCollectionSucceeded')).toMatch(/^False/);
    expect(await fleet.condition('east', 'Healthy')).toMatch(/^True/);
  });
});

describe('--property-provider', () => {
  test.each([undefined, 'none'])('%s is none', async (module) =>
    expect(await loadProvider(module, quiet)).toBeUndefined(),
  );

  test('azure warns and is none', async () => {
    const said: string[] = [];
    expect(await loadProvider('azure', { warn: (text: string) => void said.push(text) })).toBeUndefined();
    expect(said).toEqual([expect.stringContaining('built-in collection')]);
  });

  test('names a module that is not there, or is none', async () => {
    await expect(loadProvider('./not-there.mjs', quiet)).rejects.toThrow('cannot load the property provider');
    const file = written('none.mjs', 'export default {};');
    await expect(loadProvider(file, quiet)).rejects.toThrow('it is no property provider');
  });
});
