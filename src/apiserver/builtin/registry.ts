// All built-in resources, the same value for every cluster of the process.
import { builtinKinds } from '../../api/builtin/kinds.ts';
import { lazy } from '../../base/lazy.ts';
import type { ServedResource } from '../registry.ts';
import { servedKind } from './served-kind.ts';
import { tableFor } from './tables/for-kind.ts';

export const builtinResources: () => readonly ServedResource[] = lazy(() =>
  Object.freeze(builtinKinds.map((kind) => servedKind(kind, tableFor))),
);
