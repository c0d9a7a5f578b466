import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { builtinKinds } from '../../api/builtin/kinds.ts';
import { ApiError } from '../../base/errors.ts';
import { canonicalJson } from '../../base/json.ts';
import { decodeProtobuf } from './protobuf.ts';

interface Sample {
  readonly bytes: Buffer;
  readonly json: { readonly apiVersion: string; readonly kind: string };
}

/** Bytes written by Go's own serializer, each with the JSON that Go prints after decoding them. */
const samples = (file: string): Sample[] =>
  readFileSync(new URL(`../../api/builtin/fixtures/${file}`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { protobuf: string; json: Sample['json'] })
    .map(({ protobuf, json }) => ({ bytes: Buffer.from(protobuf, 'base64'), json }));

const picked = samples('protobuf-picked.jsonl');
const everyKind = samples('protobuf-every-kind.jsonl');

// ---- a small writer, for messages that no regular client sends

const varint = (value: number): number[] =>
  value < 0x80 ? [value] : [(value % 0x80) | 0x80, ...varint(Math.floor(value / 0x80))];
const tag = (number: number, wireType: number) => varint(number * 8 + wireType);
const bytesOf = (text: string) => [...Buffer.from(text)];
const part = (number: number, content: string | readonly number[]): number[] => {
  const bytes = typeof content === 'string' ? bytesOf(content) : content;
  return [...tag(number, 2), ...varint(bytes.length), ...bytes];
};
const number = (field: number, value: number): number[] => [...tag(field, 0), ...varint(value)];
const body = (apiVersion: string, kind: string, raw: readonly number[]): Uint8Array =>
  Uint8Array.from([...bytesOf('k8s\0'), ...part(1, [...part(1, apiVersion), ...part(2, kind)]), ...part(2, raw)]);
const configMap = (raw: readonly number[]) => decodeProtobuf(body('v1', 'ConfigMap', raw));

function refusal(bytes: Uint8Array): string {
  try {
    decodeProtobuf(bytes);
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 400, reason: 'BadRequest' });
    return (error as ApiError).message;
  }
  throw new Error('was accepted');
}

describe('a protobuf body becomes the object that the same client would send as JSON', () => {
  test.each(picked.map((sample, index) => ({ ...sample, kind: sample.json.kind, index })))(
    '$kind ($index)',
    ({ bytes, json }) => {
      const decoded = decodeProtobuf(bytes);
      expect(decoded).toStrictEqual(json);
      // Also compares keys that toEqual ignores.
      expect(canonicalJson(decoded)).toBe(canonicalJson(json));
    },
  );

  test('a sample of every kind, filled at random', () => {
    for (const { bytes, json } of everyKind) {
      expect(canonicalJson(decodeProtobuf(bytes)), json.kind).toBe(canonicalJson(json));
    }
  });

  test('the samples cover every kind that is served', () => {
    const covered = new Set(everyKind.map(({ json }) => `${json.apiVersion} ${json.kind}`));
    const served = builtinKinds.flatMap((kind) =>
      kind.versions.map((version) => `${kind.group === '' ? '' : `${kind.group}/`}${version} ${kind.kind}`),
    );
    expect(served.filter((each) => !covered.has(each))).toEqual([]);
  });

  test('an explicit zero behind a pointer stays, an empty optional text goes', () => {
    const deployment = decodeProtobuf(picked[0]!.bytes) as unknown as { spec: { replicas: number; template: object } };
    expect(deployment.spec.replicas).toBe(0);
    expect(configMap([...part(1, [...part(1, 'a'), ...part(2, '')])]).metadata).toEqual({ name: 'a' });
  });

  test('numbers of a list may come packed or one by one', () => {
    const pod = (groups: readonly number[]) => decodeProtobuf(body('v1', 'Pod', part(2, part(14, groups))));
    const inPacks = pod([...part(4, [...varint(1), ...varint(2000)]), ...part(4, [3])]);
    const single = pod([...number(4, 1), ...number(4, 2000), ...number(4, 3)]);
    expect(inPacks['spec']).toEqual({ containers: null, securityContext: { supplementalGroups: [1, 2000, 3] } });
    expect(single).toEqual(inPacks);
  });

  test('a message that comes in two parts is merged', () => {
    expect(configMap([...part(1, part(1, 'a')), ...part(1, part(3, 'shop'))]).metadata).toEqual({
      name: 'a',
      namespace: 'shop',
    });
  });

  test('fields that nobody knows are passed over', () => {
    const unknown = [
      ...number(90, 5),
      ...part(91, 'x'),
      ...tag(92, 5),
      ...[1, 2, 3, 4],
      ...tag(93, 1),
      ...new Array<number>(8).fill(0),
    ];
    expect(configMap([...unknown, ...part(1, part(1, 'a'))])).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a' },
    });
  });

  test('negative numbers are right in both sizes', () => {
    const minusOne = [...new Array<number>(9).fill(0xff), 0x01];
    const event = decodeProtobuf(body('v1', 'Event', [...tag(8, 0), ...minusOne]));
    expect(event['count']).toBe(-1);
    expect(configMap(part(1, [...tag(7, 0), ...minusOne])).metadata).toEqual({ generation: -1 });
  });

  test('the first moment of the year 1 is no moment, 1970 is one', () => {
    const yearOne = [0x80, 0x92, 0xb8, 0xc3, 0x98, 0xfe, 0xff, 0xff, 0xff, 0x01];
    const created = (time: readonly number[]) => configMap(part(1, part(8, time))).metadata;
    expect(created([...tag(1, 0), ...yearOne, ...number(2, 0)])).toEqual({});
    expect(created([...number(1, 0), ...number(2, 0)])).toEqual({ creationTimestamp: '1970-01-01T00:00:00Z' });
  });

  test('a map entry without key or value has the empty ones', () => {
    expect(configMap([...part(2, part(1, 'k')), ...part(2, part(2, 'v'))])['data']).toEqual({ k: '', '': 'v' });
    expect(configMap(part(3, part(1, 'k')))['binaryData']).toEqual({ k: '' });
  });

  test('options come in the name of any group', () => {
    const options = decodeProtobuf(body('example.io/v7', 'DeleteOptions', number(1, 0)));
    expect(options).toEqual({ apiVersion: 'example.io/v7', kind: 'DeleteOptions', gracePeriodSeconds: 0 });
  });

  test('a key that is called __proto__ is a key', () => {
    const decoded = configMap(part(2, [...part(1, '__proto__'), ...part(2, 'v')]));
    expect(Object.keys(decoded['data'] as object)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(decoded['data'])).toBe(Object.prototype);
  });
});

describe('a body that is no such message is a bad request', () => {
  const deepSchema = (levels: number): number[] => {
    let schema: number[] = part(5, 'object');
    for (let level = 0; level < levels; level++) schema = part(28, schema);
    return schema;
  };
  const crd = (schema: readonly number[]) =>
    body('apiextensions.k8s.io/v1', 'CustomResourceDefinition', part(2, part(7, part(4, part(1, schema)))));
  const revision = (json: string) => body('apps/v1', 'ControllerRevision', part(2, part(1, json)));
  const magic = bytesOf('k8s\0');

  test.each([
    { it: 'nothing', bytes: Uint8Array.from([]), says: 'expected prefix' },
    { it: 'JSON', bytes: Uint8Array.from(bytesOf('{"kind":"Pod"}')), says: 'expected prefix' },
    { it: 'the first bytes alone', bytes: Uint8Array.from(magic), says: "'Kind' is missing" },
    { it: 'an unknown kind', bytes: body('v1', 'Gadget', []), says: 'no kind "Gadget" is registered for version "v1"' },
    { it: 'an unknown version', bytes: body('apps/v9', 'Deployment', []), says: 'no kind "Deployment"' },
    { it: 'an unknown group', bytes: body('__proto__/v1', 'Pod', []), says: 'no kind "Pod"' },
    { it: 'a part of a kind', bytes: body('v1', 'PodSpec', []), says: 'no kind "PodSpec"' },
    { it: 'an enumeration', bytes: body('v1', 'Protocol', []), says: 'no kind "Protocol"' },
    { it: 'a cut tag', bytes: body('v1', 'Pod', [0x80]), says: 'ends in the middle' },
    { it: 'an endless number', bytes: body('v1', 'Pod', new Array<number>(12).fill(0xff)), says: '64 bits' },
    { it: 'a length beyond the end', bytes: body('v1', 'Pod', [...tag(1, 2), 5, 0]), says: 'ends in the middle' },
    {
      it: 'a length beyond the end of the part it is in',
      bytes: body('v1', 'Pod', [...part(1, [...tag(1, 2), 3, 0]), ...part(2, [])]),
      says: 'ends in the middle',
    },
    {
      it: 'a number with 65 bits',
      bytes: body('v1', 'Event', [...tag(8, 0), ...new Array<number>(9).fill(0xff), 0x02]),
      says: '64 bits',
    },
    {
      it: 'a moment with too many nanoseconds',
      bytes: body('coordination.k8s.io/v1', 'Lease', part(2, part(4, [...number(1, 1), ...number(2, 1e9)]))),
      says: 'out of range',
    },
    { it: 'a huge length', bytes: body('v1', 'Pod', [...tag(1, 2), ...varint(2 ** 40)]), says: 'ends in the middle' },
    { it: 'field zero', bytes: body('v1', 'Pod', [0x02, 0]), says: 'field number is zero' },
    { it: 'a huge field number', bytes: body('v1', 'Pod', varint(2 ** 40)), says: 'field number is out of range' },
    { it: 'a group', bytes: body('v1', 'Pod', tag(90, 3)), says: 'wire type 3' },
    { it: 'the end of a group', bytes: body('v1', 'Pod', tag(90, 4)), says: 'wire type 4' },
    { it: 'wire type 7', bytes: body('v1', 'Pod', tag(90, 7)), says: 'wire type 7' },
    { it: 'a group in a known field', bytes: body('v1', 'Pod', tag(1, 3)), says: 'wrong wire type' },
    { it: 'a number for a message', bytes: body('v1', 'Pod', number(1, 1)), says: 'wrong wire type' },
    { it: 'a number for a map entry', bytes: body('v1', 'ConfigMap', number(2, 1)), says: 'wrong wire type' },
    { it: 'a text for a number', bytes: body('v1', 'Event', part(8, 'x')), says: 'wrong wire type' },
    { it: 'a number in the envelope', bytes: Uint8Array.from([...magic, ...number(1, 1)]), says: 'wrong wire type' },
    { it: 'a cut skip', bytes: body('v1', 'Pod', [...tag(90, 1), 0, 0]), says: 'ends in the middle' },
    { it: 'schemas in a hundred levels', bytes: crd(deepSchema(100)), says: 'nested too deeply' },
    { it: 'raw JSON that is none', bytes: revision('{"a":'), says: 'should be JSON' },
    { it: 'raw JSON, too deep', bytes: revision('['.repeat(600) + ']'.repeat(600)), says: 'nested too deeply' },
    {
      it: 'a wrong quantity',
      bytes: body('v1', 'ResourceQuota', part(2, part(1, [...part(1, 'pods'), ...part(2, part(1, 'many'))]))),
      says: 'quantities must match',
    },
    {
      it: 'a moment in the year 200000',
      bytes: body('v1', 'Pod', part(1, part(8, number(1, 6.3e12)))),
      says: 'out of range',
    },
    {
      it: 'neither number nor string',
      bytes: body('v1', 'Service', part(2, part(1, part(4, number(1, 2))))),
      says: 'neither a number nor a string',
    },
    {
      it: 'a number that is not finite',
      bytes: crd([...tag(9, 1), 0, 0, 0, 0, 0, 0, 0xf0, 0x7f]),
      says: 'not finite',
    },
    {
      it: 'more parts than an object can have',
      bytes: body('v1', 'Pod', part(2, new Array<number[]>(200_001).fill(part(2, [])).flat())),
      says: 'too many parts',
    },
    {
      it: 'content that is encoded once more',
      bytes: Uint8Array.from([...body('v1', 'Pod', []), ...part(3, 'gzip')]),
      says: 'encoded once more',
    },
    {
      it: 'content of another type',
      bytes: Uint8Array.from([...body('v1', 'Pod', []), ...part(4, 'application/json')]),
      says: 'of another type',
    },
  ])('$it', ({ bytes, says }) => {
    expect(refusal(bytes)).toContain(says);
  });

  test('a schema in many levels that is still sane is read', () => {
    expect(JSON.stringify(decodeProtobuf(crd(deepSchema(80)))).match(/"not"/g)).toHaveLength(80);
  });

  test('what it echoes is bounded', () => {
    expect(refusal(body('v1', 'K'.repeat(1_000_000), [])).length).toBeLessThan(1000);
  });

  test('a real message that ends early at any byte is refused or read, never a crash', () => {
    for (const { bytes } of picked) {
      for (let length = 0; length < bytes.length; length++) decodeOrRefuse(bytes.subarray(0, length));
    }
  });

  test('random bytes and damaged messages are refused or read, never a crash', () => {
    const kinds = [...picked, ...everyKind];
    const damaged = fc
      .record({
        sample: fc.nat(kinds.length - 1),
        edits: fc.array(
          fc.record({ at: fc.nat(), byte: fc.nat(255), how: fc.constantFrom('set', 'insert', 'remove') }),
          {
            minLength: 1,
            maxLength: 8,
          },
        ),
      })
      .map(({ sample, edits }) => {
        const bytes = [...kinds[sample]!.bytes];
        for (const { at, byte, how } of edits) {
          const place = at % bytes.length;
          if (how === 'set') bytes[place] = byte;
          else if (how === 'insert') bytes.splice(place, 0, byte);
          else if (bytes.length > 1) bytes.splice(place, 1);
        }
        return Uint8Array.from(bytes);
      });
    const random = fc.uint8Array({ maxLength: 200 });
    const ofKind = fc
      .tuple(fc.nat(kinds.length - 1), random)
      .map(([index, raw]) => body(kinds[index]!.json.apiVersion, kinds[index]!.json.kind, [...raw]));
    fc.assert(fc.property(fc.oneof(damaged, random, ofKind), decodeOrRefuse));
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

function decodeOrRefuse(bytes: Uint8Array): void {
  let decoded: unknown;
  try {
    decoded = decodeProtobuf(bytes);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 400) throw error;
    return;
  }
  expect(Object.getPrototypeOf(decoded)).toBe(Object.prototype);
  JSON.stringify(decoded);
}
