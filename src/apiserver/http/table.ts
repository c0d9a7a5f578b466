// The Table for `kubectl get`: converts objects to columns and rows. The input is frozen, the output plain data; all
// tables of a kind share its columns.
import type { KubeObject, ObjectMeta } from '../../api/object.ts';
import type { Json } from '../../base/json.ts';
import type { TableColumn, TableShape } from '../registry.ts';
import type { IncludeObject } from './options.ts';

export interface TableRow {
  readonly cells: readonly Json[];
  readonly object: KubeObject | null;
}

export interface TableMeta {
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface Table extends KubeObject {
  readonly kind: 'Table';
  readonly metadata: ObjectMeta & TableMeta;
  readonly columnDefinitions: readonly TableColumn[] | null;
  readonly rows: readonly TableRow[];
}

export interface TableOptions {
  readonly now: number;
  /** Which part of the object each row contains; absent = Metadata. `--sort-by` needs the whole object. */
  readonly include?: IncludeObject;
  /** Of a list; absent = that of the only object. */
  readonly metadata?: TableMeta;
  /** False for all events of a watch except the first: clients remember the columns. */
  readonly withColumns?: boolean;
}

export function tableOf(objects: readonly KubeObject[], shape: TableShape, options: TableOptions): Table {
  const { now, include = 'Metadata', withColumns = true } = options;
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: options.metadata ?? versionOf(objects[0]),
    columnDefinitions: withColumns ? shape.columns : null,
    rows: objects.map((object) => rowOf(object, shape, now, include)),
  };
}

const rowOf = (object: KubeObject, shape: TableShape, now: number, include: IncludeObject): TableRow => ({
  cells: shape.cells(object, now),
  object: include === 'Metadata' ? partialMetadata(object) : include === 'Object' ? object : null,
});

/** The metadata of an object. */
const partialMetadata = (object: KubeObject): KubeObject => ({
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata: object.metadata,
});

const versionOf = (object: KubeObject | undefined): TableMeta =>
  object?.metadata.resourceVersion === undefined ? {} : { resourceVersion: object.metadata.resourceVersion };
