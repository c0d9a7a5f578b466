// The title of an object in messages.
import { refText } from '../api/object.ts';
import type { Target } from '../api/transport.ts';

export type Named = Target & { readonly name: string };

/** `ResourcePlacement "team/web"` */
export const titled = ({ resource, name, namespace }: Named): string =>
  refText({ kind: resource.kind, name, namespace });
