import { describe, expect, test } from 'vitest';
import type { Json } from '../base/json.ts';
import type { HttpTransport } from './http.ts';
import { createLiveCatalogue } from './live-catalogue.ts';

interface Group {
  readonly name: string;
  readonly versions: readonly (readonly [version: string, ...kinds: string[]])[];
  /** Versions whose API server did not respond. */
  readonly stale?: readonly string[];
}

const discovery = (...groups: Group[]) => ({
  items: groups.map(({ name, versions, stale = [] }) => ({
    metadata: { name },
    versions: versions.map(([version, ...kinds]) => ({
      version,
      freshness: stale.includes(version) ? 'Stale' : 'Current',
      resources: kinds.map((kind) => ({
        resource: `${kind.toLowerCase()}s`,
        responseKind: { kind },
        scope: kind === 'Node' ? 'Cluster' : 'Namespaced',
        verbs: kind === 'Review' ? ['create'] : ['list', 'watch', 'get'],
      })),
    })),
  })),
});

function server() {
  let apps = discovery({ name: 'apps', versions: [['v1', 'Deployment']] });
  const core = discovery({ name: '', versions: [['v1', 'Pod', 'Node', 'Review']] });
  let reads = 0;
  const transport = {
    read: async (path: string) => {
      reads++;
      return (path === '/api' ? core : apps) as unknown as Json;
    },
  } as HttpTransport;
  return {
    transport,
    reads: () => reads,
    learn(...groups: Group[]) {
      apps = discovery(...groups);
    },
  };
}

describe('a catalogue over the wire', () => {
  test('knows nothing before it was read, and then what the server serves', async () => {
    const { transport } = server();
    const catalogue = createLiveCatalogue(transport);
    expect(catalogue.byKind('v1', 'Pod')).toBeUndefined();
    await catalogue.refresh();
    expect(catalogue.byKind('v1', 'Pod')).toEqual({
      group: '',
      version: 'v1',
      kind: 'Pod',
      plural: 'pods',
      namespaced: true,
    });
    expect(catalogue.byKind('v2', 'Pod')).toBeUndefined();
    expect(catalogue.preferred.map(({ kind }) => kind)).toEqual(['Node', 'Pod', 'Deployment']);
  });

  test('prefers the version that comes first and still knows the others', async () => {
    const { transport, learn } = server();
    learn({
      name: 'apps',
      versions: [
        ['v2', 'Deployment'],
        ['v1', 'Deployment', 'Gadget'],
      ],
    });
    const catalogue = createLiveCatalogue(transport);
    await catalogue.refresh();
    expect(
      catalogue.preferred.filter(({ group }) => group === 'apps').map(({ version, kind }) => `${version} ${kind}`),
    ).toEqual(['v2 Deployment', 'v1 Gadget']);
    expect(catalogue.byKind('apps/v1', 'Deployment')?.version).toBe('v1');
  });

  test('tells of changes, and only of changes', async () => {
    const { transport, learn } = server();
    const catalogue = createLiveCatalogue(transport);
    let woken = 0;
    const stop = catalogue.subscribe(() => woken++);
    await catalogue.refresh();
    await catalogue.refresh();
    expect(woken).toBe(1);
    learn({ name: 'apps', versions: [['v1', 'Deployment', 'Gadget']] });
    await catalogue.refresh();
    expect(woken).toBe(2);
    stop();
    learn();
    await catalogue.refresh();
    expect(woken).toBe(2);
  });

  test('asks once for all who ask at the same time, and once more for those who came during the answer', async () => {
    const { transport, reads } = server();
    const catalogue = createLiveCatalogue(transport);
    await Promise.all([catalogue.refresh(), catalogue.refresh(), catalogue.refresh()]);
    expect(reads()).toBe(4);
  });

  test('keeps what it knew when the server does not answer', async () => {
    const { transport } = server();
    let isDown = false;
    const catalogue = createLiveCatalogue({
      ...transport,
      read: (path: string) => (isDown ? Promise.reject(new Error('down')) : transport.read(path)),
    });
    await catalogue.refresh();
    isDown = true;
    await expect(catalogue.refresh()).rejects.toThrow('down');
    expect(catalogue.byKind('v1', 'Pod')).toBeDefined();
    isDown = false;
    await catalogue.refresh();
  });
});

describe('what a server says of an API server that does not answer it', () => {
  const APPS: Group = { name: 'apps', versions: [['v1', 'Deployment']] };
  const gadgets = (...kinds: string[]): Group => ({ name: 'gadgets.example.com', versions: [['v1', ...kinds]] });
  const silent = (...kinds: string[]): Group => ({ ...gadgets(...kinds), stale: ['v1'] });
  const kindsOf = ({ preferred }: { readonly preferred: readonly { readonly kind: string }[] }) =>
    preferred.map(({ kind }) => kind).slice(2);

  /** The catalogue after each of several responses. */
  async function told(...answers: (readonly Group[])[]) {
    const { transport, learn } = server();
    const catalogue = createLiveCatalogue(transport);
    let woken = 0;
    catalogue.subscribe(() => woken++);
    for (const groups of answers) {
      learn(...groups);
      await catalogue.refresh();
    }
    return { catalogue, woken };
  }

  test('takes nothing away of what was known', async () => {
    const { catalogue, woken } = await told([APPS, gadgets('Gadget', 'Review')], [APPS, silent()]);
    expect(kindsOf(catalogue)).toEqual(['Deployment', 'Gadget']);
    expect(catalogue.byKind('gadgets.example.com/v1', 'Gadget')).toMatchObject({ plural: 'gadgets' });
    expect(catalogue.byKind('gadgets.example.com/v1', 'Review')).toBeDefined();
    expect(catalogue.unknown).toEqual([]);
    expect(woken).toBe(1);
  });

  test('also not when it remembers some of it', async () => {
    const { catalogue } = await told([APPS, gadgets('Gadget', 'Widget')], [APPS, silent('Widget')], [APPS, silent()]);
    expect(kindsOf(catalogue)).toEqual(['Deployment', 'Gadget', 'Widget']);
  });

  test('does not make the version that was known the preferred one', async () => {
    const both = { name: 'gadgets.example.com', versions: [['v2', 'Gadget'] as const, ['v1'] as const], stale: ['v1'] };
    const { catalogue } = await told([APPS, gadgets('Gadget')], [APPS, both]);
    expect(catalogue.preferred.at(-1)).toMatchObject({ version: 'v2', kind: 'Gadget' });
    expect(catalogue.byKind('gadgets.example.com/v1', 'Gadget')).toBeDefined();
  });

  test('counts again when it has an answer, or when the group version is gone', async () => {
    expect(kindsOf((await told([gadgets('Gadget')], [silent()], [gadgets('Widget')])).catalogue)).toEqual(['Widget']);
    const empty = await told([gadgets('Gadget')], [silent()], [gadgets()]);
    expect(kindsOf(empty.catalogue)).toEqual([]);
    expect(empty.catalogue.unknown).toEqual([]);
    const gone = await told([gadgets('Gadget')], [APPS], [APPS, silent()]);
    expect(kindsOf(gone.catalogue)).toEqual(['Deployment']);
    expect(gone.catalogue.unknown).toEqual(['gadgets.example.com/v1']);
  });

  test('is told as not known if nothing was known, until it is', async () => {
    const first = await told([APPS, silent()]);
    expect(first.catalogue.unknown).toEqual(['gadgets.example.com/v1']);
    expect((await told([APPS, silent('Gadget')])).catalogue.unknown).toEqual([]);
    const then = await told([APPS], [APPS, silent()], [APPS, silent()], [APPS, gadgets('Gadget')]);
    expect(then.catalogue.unknown).toEqual([]);
    expect(then.woken).toBe(3);
  });
});
