// Tables as text, cut so that the rows of a long list can be written one after the other.
import type { KubeObject } from '../../api/object.ts';
import type { TableShape } from '../registry.ts';
import type { IncludeObject } from './options.ts';

/** Everything up to the first row; the caller closes it with `]}`. Without columns the client keeps those that it has. */
export function tableHead(shape: TableShape | undefined, meta: object, version: string): string {
  const columns = shape === undefined ? 'null' : JSON.stringify(shape.columns);
  return `{"kind":"Table","apiVersion":"meta.k8s.io/${version}","metadata":${JSON.stringify(meta)},"columnDefinitions":${columns},"rows":[`;
}

export function tableRow(
  object: KubeObject,
  shape: TableShape,
  options: { readonly now: number; readonly include: IncludeObject; readonly version: string },
): string {
  return JSON.stringify({ cells: shape.cells(object, options.now), object: included(object, options) });
}

function included(
  object: KubeObject,
  { include, version }: { readonly include: IncludeObject; readonly version: string },
): unknown {
  if (include === 'None') return null;
  if (include === 'Object') return object;
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata: object.metadata };
}
