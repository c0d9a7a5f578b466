// Tables as text, split so that the rows of a long list can be written one after the other.
import type { KubeObject } from '../../api/object.ts';
import type { TableShape } from '../registry.ts';
import type { IncludeObject } from './options.ts';
import { type TableMeta, tableOf } from './table.ts';

export interface HeadOptions {
  readonly metadata: TableMeta;
  /** Version of the table: v1 or v1beta1. */
  readonly version: string;
  /** False: the client keeps the columns that it already has. */
  readonly withColumns: boolean;
}

/** Everything up to the first row; the caller closes it with `]}`. */
export function tableHead(shape: TableShape, { metadata, version, withColumns }: HeadOptions): string {
  const table = { ...tableOf([], shape, { now: 0, metadata, withColumns }), apiVersion: `meta.k8s.io/${version}` };
  return JSON.stringify(table).slice(0, -']}'.length);
}

export const tableRow = (
  object: KubeObject,
  shape: TableShape,
  options: { readonly now: number; readonly include: IncludeObject },
): string => JSON.stringify(tableOf([object], shape, { ...options, withColumns: false }).rows[0]);
