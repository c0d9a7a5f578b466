// What the rules read of objects beyond plain fields.
import type { Condition } from '../../api/builtin/shapes.ts';
import type { KubeObject, OwnerReference } from '../../api/object.ts';

/** Who manages an object: the one owner reference that says so. */
export const controllerOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata.ownerReferences?.find((owner) => owner.controller === true);

export const isDeleting = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

export const conditionOf = <C extends Condition>(conditions: readonly C[] | undefined, type: string): C | undefined =>
  conditions?.find((condition) => condition.type === type);

/** Epoch milliseconds of a Kubernetes time; an absent one is long ago. */
export const timeOf = (text: string | undefined): number => (text === undefined ? 0 : Date.parse(text));
