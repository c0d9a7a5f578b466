// Every CEL rule of every kind refuses what it should, for the reason it should, and nothing else.
import { describe, expect, test } from 'vitest';
import type { Kind } from '../../src/api/kind.ts';
import { hubKinds, memberKinds } from '../../src/api/kinds.ts';
import { apiVersionOf, type KubeObject } from '../../src/api/object.ts';
import type { Schema } from '../../src/api/schema.ts';
import type { Draft } from '../../src/apiserver/registry.ts';
import { structureOf } from '../../src/apiserver/schema/structure.ts';
import { brokenRules } from './plain-cel.ts';
import { type Row, table, type Write } from './table.ts';

const kinds = [...hubKinds, ...memberKinds];

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

type Judge = (kind: Kind, now: KubeObject, old: KubeObject | undefined) => readonly string[];

// Two judges that share no code: what we serve, and what the expressions mean to the CEL library alone.
const judges: Readonly<Record<string, Judge>> = {
  'the API server': (kind, now, old) =>
    structureOf(kind.schema)
      .validate(now, old)
      .map((cause) => cause.message),
  'plain CEL': (kind, now, old) => brokenRules(kind.schema, now, old),
};

const judge = (by: Judge, kind: Kind, write: Write): readonly string[] =>
  by(
    kind,
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

// Our server does not yet see, through dyn(), a field whose schema has no type; a real one does. Remove the entry when it does:
// the test below turns red then.
const unseen: Readonly<Record<string, readonly string[]>> = { 'the API server': ['op remove takes no value'] };

describe.each(Object.entries(judges))('to %s', (name, by) => {
  const cases = rows.map((row) => ({ ...row, it: `${row.kind.kind}: ${row.message}` }));
  const isUnseen = (row: Row) => unseen[name]?.includes(row.message) === true;

  const breaks = (row: (typeof cases)[number], write: Write) => {
    const causes = judge(by, row.kind, write);
    const others = causes.filter((cause) => ![row.message, ...(row.also ?? [])].some((text) => cause.endsWith(text)));
    expect(others, JSON.stringify(write)).toEqual([]);
    return causes.some((cause) => cause.endsWith(row.message));
  };

  test.each(cases)('$it', (row) => {
    for (const write of row.accepted) expect(judge(by, row.kind, write), JSON.stringify(write)).toEqual([]);
    for (const write of row.refused) expect(breaks(row, write), JSON.stringify(write)).toBe(!isUnseen(row));
  });
});

describe('the rules of the kinds', () => {
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
