// The parts of a CustomResourceDefinition that the server reads. All may be missing: an object that validation rejects
// today may have been stored before.
import type { Column } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Schema } from '../../api/schema.ts';

export interface CrdNames {
  readonly plural: string;
  readonly singular?: string;
  readonly kind: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

export interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: Schema };
  readonly subresources?: {
    readonly status?: object;
    readonly scale?: {
      readonly specReplicasPath: string;
      readonly statusReplicasPath: string;
      readonly labelSelectorPath?: string;
    };
  };
  readonly additionalPrinterColumns?: readonly Column[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

export interface CrdSpec {
  readonly group: string;
  readonly scope: 'Cluster' | 'Namespaced';
  readonly names: CrdNames;
  readonly versions: readonly CrdVersion[];
  readonly conversion?: { readonly strategy?: string; readonly webhook?: unknown };
  readonly preserveUnknownFields?: boolean;
}

export interface CrdCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface CrdStatus {
  readonly conditions?: readonly CrdCondition[] | null;
  readonly acceptedNames?: CrdNames;
  readonly storedVersions?: readonly string[];
}

export type Crd = KubeObject<CrdSpec, CrdStatus> & { readonly spec: CrdSpec };

export const CRD_PREFIX = 'apiextensions.k8s.io/customresourcedefinitions/';

/** Keeps a CRD until its instances are deleted. Set when its deletion begins. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

export const hasCondition = (crd: Crd, type: string): boolean =>
  (crd.status?.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True');

/** The conditions with one of them set; lastTransitionTime changes only with the status. */
export function withCondition(
  conditions: readonly CrdCondition[],
  next: Omit<CrdCondition, 'lastTransitionTime'>,
  time: string,
): readonly CrdCondition[] {
  const old = conditions.find((condition) => condition.type === next.type);
  const lastTransitionTime = old?.status === next.status ? (old.lastTransitionTime ?? time) : time;
  const { type, status, ...rest } = next;
  const condition: CrdCondition = { type, status, lastTransitionTime, ...rest };
  return old === undefined ? [...conditions, condition] : conditions.map((each) => (each === old ? condition : each));
}
