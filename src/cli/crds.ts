// `flotilla crds`: the CustomResourceDefinitions as YAML, ready for `kubectl apply -f -`.
import { crdYaml } from '../api/crd.ts';
import { hubKinds, memberKinds, nextKinds } from '../api/kinds.ts';

export interface CrdsOptions {
  /** Also the next generation of placement types, which no controller acts on. */
  readonly next?: boolean;
}

export function crds(options: CrdsOptions = {}): string {
  const kinds = [...hubKinds, ...memberKinds, ...(options.next ? nextKinds : [])];
  return kinds.map((kind) => `---\n${crdYaml(kind)}`).join('');
}
