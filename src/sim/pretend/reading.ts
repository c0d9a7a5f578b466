// Accessors that the rules use beyond plain fields.
import type { Condition } from '../../api/builtin/shapes.ts';
import type { KubeObject, OwnerReference } from '../../api/object.ts';

/** The owner reference of the controller that manages an object. */
export const controllerOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata.ownerReferences?.find((owner) => owner.controller === true);

export const isDeleting = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

export const conditionOf = <C extends Condition>(conditions: readonly C[] | undefined, type: string): C | undefined =>
  conditions?.find((condition) => condition.type === type);

/** Epoch milliseconds of a Kubernetes time; 0 if absent. */
export const timeOf = (text: string | undefined): number => (text === undefined ? 0 : Date.parse(text));
