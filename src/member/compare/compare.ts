// How an object on a member differs from its manifest (PartialComparison, FullComparison): pure.
//
// Guarantee: what Kubernetes, the cluster or Flotilla itself writes into an object is no difference, nor is another spelling of the same
// value; the content of a Secret never leaves this file.
import type { ApplyStrategy } from '../../api/apply-strategy.ts';
import { typeNameOf } from '../../api/builtin/types.ts';
import { groupVersionOf, type KubeObject } from '../../api/object.ts';
import type { FieldDifference } from '../../api/selected-resource.ts';
import type { JsonObject } from '../../base/json.ts';
import { comparable } from '../apply/spec-hash.ts';
import { sanitised } from '../apply/wanted.ts';
import { differences } from './details.ts';
import { overlaid, shapeOf } from './overlay.ts';

export type Comparison = ApplyStrategy['comparisonOption'];

const REDACTED = '(redacted for security reasons)';

export function compared(
  manifest: KubeObject,
  live: KubeObject | undefined,
  option: Comparison,
): readonly FieldDifference[] {
  if (live === undefined) return [{ path: '/', valueInHub: '(the whole object)' }];
  const { group, version } = groupVersionOf(manifest.apiVersion);
  const typeName = typeNameOf(group, version, manifest.kind);
  const wanted = comparable(sanitised(manifest)) as JsonObject;
  const present = comparable(live) as JsonObject;
  const hub = option === 'FullComparison' ? wanted : overlaid(wanted, present, typeName);
  const found = differences(hub, present, shapeOf(typeName));
  return manifest.apiVersion === 'v1' && manifest.kind === 'Secret' ? found.map(redacted) : found;
}

/** A field that only one side has still shows that, and on which. */
function redacted(each: FieldDifference): FieldDifference {
  const { path, valueInHub, valueInMember } = each;
  if (!SECRET.test(path)) return each;
  return {
    path,
    ...(valueInHub === undefined ? {} : { valueInHub: valueInHub === '' ? '' : REDACTED }),
    ...(valueInMember === undefined ? {} : { valueInMember: valueInMember === '' ? '' : REDACTED }),
  };
}

const SECRET = /^\/(?:data|stringData)(?:\/|$)/;
