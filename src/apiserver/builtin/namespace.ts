// Namespaces: labeled with their name, and kept by a finalizer in their spec until their content is deleted.
import type { KubeObject } from '../../api/object.ts';
import { forbidden } from '../../api/status.ts';
import type { Behaviour } from '../registry.ts';
import { specFinalizerCauses } from '../verbs/metadata.ts';
import { behaviour, labelName, specOf, textAt } from './behaviour.ts';

/** Namespaces that every cluster needs; kube-node-lease would be created again automatically. */
const IMMORTAL: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public']);
const NAME_LABEL = 'kubernetes.io/metadata.name';
const FINALIZER = 'kubernetes';

interface NamespaceSpec {
  finalizers?: readonly string[];
}

const finalizersOf = (object: KubeObject): readonly string[] =>
  (object.spec as NamespaceSpec | undefined)?.finalizers ?? [];

export const namespace: Behaviour = behaviour({
  nameError: labelName,
  returnsDeleted: true,
  default(draft) {
    if (draft.metadata.name) draft.metadata.labels = { ...draft.metadata.labels, [NAME_LABEL]: draft.metadata.name };
  },
  prepare(draft, old) {
    if (old === undefined) {
      const asked = specOf<NamespaceSpec>(draft).finalizers ?? [];
      draft.spec = { finalizers: asked.includes(FINALIZER) ? asked : [...asked, FINALIZER] };
      draft.status = { phase: 'Active' };
      return;
    }
    // Only /finalize changes the finalizers.
    draft.spec = finalizersOf(old).length > 0 ? { finalizers: finalizersOf(old) } : {};
  },
  validate: (object, old) => (old === undefined ? specFinalizerCauses('spec.finalizers', finalizersOf(object)) : []),
  refuseDelete(object) {
    const { name = '' } = object.metadata;
    if (IMMORTAL.has(name)) {
      throw forbidden({ group: '', plural: 'namespaces' }, name, 'this namespace may not be deleted');
    }
  },
  holdsDeletion: (object) => finalizersOf(object).length > 0,
  markTerminating(draft) {
    draft.status = { ...(draft.status as object | undefined), phase: 'Terminating' };
  },
  selectableFields: { 'status.phase': textAt('status', 'phase') },
});
