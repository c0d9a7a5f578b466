// `flotilla crds`: the CustomResourceDefinitions as YAML, ready for `kubectl apply -f -`.
import { crdYaml } from '../api/crd.ts';
import { hubKinds, memberKinds, nextKinds } from '../api/kinds.ts';

export const CRD_TARGETS = ['hub', 'member'] as const;
export type CrdTarget = (typeof CRD_TARGETS)[number];

export interface CrdsOptions {
  /** Where they shall go. Absent = for both. */
  readonly target?: CrdTarget;
  /** Also the next generation of placement types, which no controller acts on. */
  readonly next?: boolean;
}

export function crds(options: CrdsOptions = {}): string {
  const { target, next } = options;
  const kinds = [
    ...(target === 'member' ? [] : hubKinds),
    ...(target === 'hub' ? [] : memberKinds),
    ...(next ? nextKinds : []),
  ];
  return kinds.map((kind) => `---\n${crdYaml(kind)}`).join('');
}
