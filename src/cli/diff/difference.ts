// One object in two states, as `flotilla diff` prints it. Pure.
import { type KubeObject, refText } from '../../api/object.ts';
import { canonicalJson } from '../../base/json.ts';
import { writeYaml } from '../../base/write-yaml.ts';
import { unifiedDiff } from './line-diff.ts';

export interface ObjectDifference {
  readonly object: string;
  readonly change: 'added' | 'changed' | 'removed';
  readonly lines: readonly string[];
}

export const nameOf = ({ kind, metadata }: KubeObject): string =>
  refText({
    kind,
    name: metadata.name ?? '',
    namespace: metadata.namespace,
  });

/** Empty if they are equal. Keys are sorted, so that only values differ. */
export function differenceOf(
  object: string,
  before: object | undefined,
  after: object | undefined,
  titles: { readonly before: string; readonly after: string },
): readonly ObjectDifference[] {
  const lines = unifiedDiff(textOf(before), textOf(after));
  if (lines.length === 0) return [];
  const change = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
  return [{ object, change, lines: [`--- ${object} (${titles.before})`, `+++ ${object} (${titles.after})`, ...lines] }];
}

const textOf = (object: object | undefined): string =>
  object === undefined ? '' : writeYaml(JSON.parse(canonicalJson(object)));
