// The data key `__proto__` is stored, patched, applied and placed like any other, as on a real API server.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { type Server, skipsKubectl, startServer } from './server.ts';

const configMap = (value: string) =>
  `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"odd","namespace":"shop"},"data":{"__proto__":"${value}","a":"b"}}`;

describe.skipIf(skipsKubectl)('the data key __proto__', () => {
  let fleet: Server;
  const data = async (of = 'cm/odd', ...more: readonly string[]) => {
    const text = await fleet.ok(['-n', 'shop', 'get', of, '-o', 'json', ...more]);
    return Object.entries((JSON.parse(text) as { readonly data: Readonly<Record<string, string>> }).data);
  };

  beforeAll(async () => {
    fleet = await startServer({ command: 'up', args: ['--in-memory', '--members', '1'] });
    await fleet.ok(['create', 'namespace', 'shop']);
  }, patience(120_000));
  afterAll(async () => fleet?.[Symbol.asyncDispose]());

  test('is kept by create, replace and apply', async () => {
    await fleet.ok(['create', '-f', '-'], configMap('created'));
    expect(await data()).toContainEqual(['__proto__', 'created']);
    await fleet.ok(['replace', '-f', '-'], configMap('replaced'));
    expect(await data()).toContainEqual(['__proto__', 'replaced']);
    await fleet.ok(['apply', '-f', '-'], configMap('applied'));
    expect(await data()).toContainEqual(['__proto__', 'applied']);
    await fleet.ok(['-n', 'shop', 'label', 'cm', 'odd', 'x=y']);
    expect(await data()).toContainEqual(['__proto__', 'applied']);
  });

  test.each([
    ['merge', '{"data":{"__proto__":"merge"}}'],
    ['strategic', '{"data":{"__proto__":"strategic"}}'],
    ['json', '[{"op":"replace","path":"/data/__proto__","value":"json"}]'],
  ])('is set by a %s patch', async (type, patch) => {
    await fleet.ok(['-n', 'shop', 'patch', 'cm', 'odd', `--type=${type}`, '-p', patch]);
    expect(await data()).toEqual(
      expect.arrayContaining([
        ['__proto__', type],
        ['a', 'b'],
      ]),
    );
  });

  test('is removed by null, and by an apply without it', async () => {
    await fleet.ok(['-n', 'shop', 'patch', 'cm', 'odd', '--type=merge', '-p', '{"data":{"__proto__":null}}']);
    expect(await data()).toEqual([['a', 'b']]);
    await fleet.ok(['apply', '-f', '-'], configMap('again'));
    expect(await data()).toContainEqual(['__proto__', 'again']);
    await fleet.ok(['apply', '-f', '-'], configMap('again').replace('"__proto__":"again",', ''));
    expect(await data()).toEqual([['a', 'b']]);
  });

  test('is kept in a Secret, also from stringData', async () => {
    const secret =
      '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"odd","namespace":"shop"},"stringData":{"__proto__":"x"}}';
    await fleet.ok(['create', '-f', '-'], secret);
    expect(await data('secret/odd')).toEqual([['__proto__', Buffer.from('x').toString('base64')]]);
  });

  test('arrives on a member, and is updated there', async () => {
    await fleet.ok(['apply', '-f', '-'], configMap('placed'));
    const placement = {
      apiVersion: 'placement.kubernetes-fleet.io/v1',
      kind: 'ClusterResourcePlacement',
      metadata: { name: 'shop' },
      spec: { resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: 'shop' }] },
    };
    await fleet.ok(['apply', '-f', '-'], JSON.stringify(placement));
    await fleet.ok(['wait', '--for=condition=ClusterResourcePlacementAvailable', 'crp/shop', '--timeout=60s']);
    expect(await data('cm/odd', '--context', 'member-1')).toContainEqual(['__proto__', 'placed']);
    await fleet.ok(['-n', 'shop', 'patch', 'cm', 'odd', '--type=merge', '-p', '{"data":{"__proto__":"later"}}']);
    await fleet.ok([
      ...['--context', 'member-1', '-n', 'shop', 'wait', 'cm/odd', '--timeout=60s'],
      '--for=jsonpath={.data.__proto__}=later',
    ]);
  });
});
