// `flotilla crds`: the CustomResourceDefinitions as YAML for `kubectl apply -f -`.
import { crdYaml } from '../../api/crd.ts';
import { hubKinds, memberKinds } from '../../api/kinds.ts';

export const CRD_TARGETS = ['hub', 'member'] as const;
export type CrdTarget = (typeof CRD_TARGETS)[number];

export interface CrdsOptions {
  /** Where they are installed. Absent = for both. */
  readonly target?: CrdTarget;
}

export function crds(options: CrdsOptions = {}): string {
  const { target } = options;
  const kinds = [...(target === 'member' ? [] : hubKinds), ...(target === 'hub' ? [] : memberKinds)];
  return kinds.map((kind) => `---\n${crdYaml(kind)}`).join('');
}
