// `flotilla get`: the server's own table, or full objects as YAML or JSON.

import type { KubeObject } from '../../api/object.ts';
import type { Json } from '../../base/json.ts';
import { writeYaml } from '../../base/write-yaml.ts';
import type { Connected } from '../server/connect.ts';
import { namespaceFor, type Print, refer } from '../server/target.ts';
import { formatTable } from '../terminal/format-table.ts';

export interface GetOptions {
  readonly output?: string;
  readonly selector?: string;
  readonly fieldSelector?: string;
  readonly allNamespaces?: boolean;
}

interface TableObject extends KubeObject {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly Json[]; readonly object?: KubeObject }[];
}

const PAGE = 500;

export async function get(
  server: Connected,
  word: string,
  names: readonly string[],
  options: GetOptions,
  print: Print,
): Promise<void> {
  const resource = server.catalogue.byWord(word);
  const at = { resource, ...(options.allNamespaces ? {} : namespaceFor(server, resource)) };
  if (options.output === undefined || options.output === 'wide') {
    const tables =
      names.length > 0
        ? await Promise.all(names.map((name) => oneTable(server, { ...at, name })))
        : await allTables(server, at, options);
    const [first] = tables;
    const rows = tables.flatMap((table) => table.rows);
    if (!first || rows.length === 0) return print.warning(nothingFound(options, server, resource.namespaced));
    const withNamespace = resource.namespaced && options.allNamespaces === true;
    return print.line(formatTable({ ...first, rows }, { wide: options.output === 'wide', withNamespace }));
  }
  const objects =
    names.length > 0
      ? await Promise.all(names.map((name) => one(server, { ...at, name })))
      : await all(server, at, options);
  if (options.output === 'name') {
    for (const object of objects) print.line(refer({ resource, name: object.metadata.name as string }));
    return;
  }
  const shown =
    objects.length === 1 && names.length === 1 ? objects[0] : { apiVersion: 'v1', kind: 'List', items: objects };
  print.line(options.output === 'json' ? JSON.stringify(shown, undefined, 2) : writeYaml(shown).trimEnd());
}

type At = Parameters<typeof one>[1];

async function one(
  server: Connected,
  at: { readonly resource: Parameters<typeof namespaceFor>[1]; readonly namespace?: string; readonly name?: string },
): Promise<KubeObject> {
  return (await server.transport.call({ verb: 'get', at })).object as KubeObject;
}

async function oneTable(server: Connected, at: At): Promise<TableObject> {
  return (await server.transport.call({ verb: 'get', at, view: 'table' })).object as TableObject;
}

async function allTables(server: Connected, at: At, options: GetOptions): Promise<readonly TableObject[]> {
  const tables: TableObject[] = [];
  let next: string | undefined;
  do {
    const answer = await server.transport.call({
      verb: 'list',
      at,
      view: 'table',
      limit: PAGE,
      ...selection(options, next),
    });
    const table = answer.object as TableObject;
    tables.push(table);
    next = (table.metadata as { continue?: string }).continue;
  } while (next);
  return tables;
}

async function all(server: Connected, at: At, options: GetOptions): Promise<readonly KubeObject[]> {
  const objects: KubeObject[] = [];
  let next: string | undefined;
  do {
    const { list } = await server.transport.call({ verb: 'list', at, limit: PAGE, ...selection(options, next) });
    objects.push(...(list?.items ?? []));
    next = list?.metadata.continue;
  } while (next);
  return objects;
}

const selection = (options: GetOptions, next: string | undefined) => ({
  labels: options.selector,
  fields: options.fieldSelector,
  continue: next,
});

const nothingFound = (options: GetOptions, server: Connected, isNamespaced: boolean): string =>
  isNamespaced && !options.allNamespaces
    ? `No resources found in namespace ${server.namespace}.`
    : 'No resources found.';
