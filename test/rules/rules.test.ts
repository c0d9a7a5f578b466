// Every CEL rule of every kind refuses what it should, for the reason it should, and nothing else.
import { describe, expect, test } from 'vitest';
import type { Kind } from '../../src/api/kind.ts';
import { hubKinds, memberKinds, nextKinds } from '../../src/api/kinds.ts';
import { apiVersionOf, type KubeObject } from '../../src/api/object.ts';
import type { Schema } from '../../src/api/schema.ts';
import type { Draft } from '../../src/apiserver/registry.ts';
import { structureOf } from '../../src/apiserver/schema/structure.ts';
import { brokenRules } from './plain-cel.ts';
import { type Row, table, type Write } from './table.ts';

const kinds = [...hubKinds, ...memberKinds, ...nextKinds];

function objectOf(kind: Kind, spec: unknown, name = 'sample'): KubeObject {
  const draft = JSON.parse(
    JSON.stringify({
      apiVersion: apiVersionOf(kind.group, kind.version),
      kind: kind.kind,
      metadata: { name, ...(kind.namespaced ? { namespace: 'team' } : {}) },
      spec,
    }),
  ) as Draft;
  const structure = structureOf(kind.schema);
  structure.default(draft);
  expect(structure.prune(draft), 'fields that the schema does not know').toEqual([]);
  return draft as KubeObject;
}

const judge = (kind: Kind, write: Write): readonly string[] =>
  brokenRules(
    kind.schema,
    objectOf(kind, write.spec, write.name),
    write.from === undefined ? undefined : objectOf(kind, write.from, write.name),
  );

function* rulesIn(schema: Schema): Generator<string> {
  for (const rule of schema['x-kubernetes-validations'] ?? []) yield rule.message ?? rule.rule;
  for (const property of Object.values(schema.properties ?? {})) yield* rulesIn(property);
  if (schema.items !== undefined) yield* rulesIn(schema.items);
  if (typeof schema.additionalProperties === 'object') yield* rulesIn(schema.additionalProperties);
}

const rows: readonly (Row & { readonly kind: Kind })[] = table.flatMap((row) =>
  row.kinds.map((kind) => ({ ...row, kind })),
);

describe('the rules of the kinds', () => {
  test.each(rows.map((row) => ({ ...row, it: `${row.kind.kind}: ${row.message}` })))(
    '$it',
    ({ kind, message, also = [], accepted, refused }) => {
      for (const write of accepted) expect(judge(kind, write), JSON.stringify(write)).toEqual([]);
      for (const write of refused) {
        const causes = judge(kind, write);
        const others = causes.filter((cause) => ![message, ...also].some((text) => cause.endsWith(text)));
        expect(others, JSON.stringify(write)).toEqual([]);
        expect(
          causes.some((cause) => cause.endsWith(message)),
          `${JSON.stringify(write)} gives ${JSON.stringify(causes)}`,
        ).toBe(true);
      }
    },
  );

  test('have an accepted and a refused object each', () => {
    const covered = new Set(rows.filter((row) => row.accepted.length > 0 && row.refused.length > 0).map(nameOf));
    const missing = kinds.flatMap((kind) =>
      [...new Set(rulesIn(kind.schema))]
        .map((message) => nameOf({ kind, message }))
        .filter((name) => !covered.has(name)),
    );
    expect(missing).toEqual([]);
  });

  test('exist for every row of the table', () => {
    const existing = new Set(
      kinds.flatMap((kind) => [...rulesIn(kind.schema)].map((message) => nameOf({ kind, message }))),
    );
    expect([...new Set(rows.map(nameOf))].filter((name) => !existing.has(name))).toEqual([]);
  });
});

function nameOf(row: { readonly kind: Kind; readonly message: string }): string {
  return `${row.kind.group}/${row.kind.kind}: ${row.message}`;
}
