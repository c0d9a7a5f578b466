// Tables of custom resources, from the columns of a CRD. A missing value, a wrong type and an invalid path all print an
// empty cell: a list must not fail because of a column.
import type { Column } from '../../../api/kind.ts';
import type { KubeObject } from '../../../api/object.ts';
import { canonicalJson, type Json } from '../../../base/json.ts';
import { compileFirst } from '../../../base/json-path.ts';
import type { TableColumn, TableShape } from '../../registry.ts';
import { NAME, nameOf, since } from './table.ts';

type Cell = (object: KubeObject, now: number) => Json;

const AGE: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** Name and the columns of the CRD; without columns, Name and Age. */
export function customTable(columns: readonly Column[]): TableShape {
  const shown = columns.length === 0 ? [AGE] : columns;
  const cells = shown.map(cellOf);
  return {
    columns: [NAME, ...shown.map(columnOf)],
    cells(object, now) {
      const row: Json[] = [nameOf(object)];
      for (const cell of cells) row.push(cell(object, now));
      return row;
    },
  };
}

const columnOf = ({ name, type, format, description, priority, jsonPath }: Column): TableColumn => ({
  name,
  type,
  format: format ?? '',
  description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
  priority: priority ?? 0,
});

function cellOf({ type, jsonPath }: Column): Cell {
  let first: (value: unknown) => unknown;
  try {
    first = compileFirst(jsonPath);
  } catch {
    return () => null;
  }
  switch (type) {
    case 'string':
      return (object) => textCell(first(object));
    case 'integer':
      return (object) => {
        const value = first(object);
        return typeof value === 'number' ? Math.trunc(value) : null;
      };
    case 'number':
      return (object) => {
        const value = first(object);
        return typeof value === 'number' ? value : null;
      };
    case 'boolean':
      return (object) => {
        const value = first(object);
        return typeof value === 'boolean' ? value : null;
      };
    case 'date':
      return (object, now) => {
        const value = first(object);
        return typeof value === 'string' ? since(value, now) : null;
      };
    default:
      return () => null;
  }
}

function textCell(value: unknown): Json {
  switch (typeof value) {
    case 'string':
      return value;
    case 'undefined':
      return null;
    case 'object':
      return value === null ? '<no value>' : canonicalJson(value);
    default:
      return String(value);
  }
}
