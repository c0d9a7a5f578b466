// One built-in kind as it is served. Schemas and their compiled forms are created on first use: a cluster without
// Ingresses pays nothing for them.
import { type BuiltinKind, typeNameOfKind } from '../../api/builtin/kinds.ts';
import { builtinSchema, resolveBuiltin } from '../../api/builtin/types.ts';
import { lazy } from '../../base/lazy.ts';
import type { Behaviour, Draft, ServedResource, ServedVersion, TableShape } from '../registry.ts';
import { structureOf } from '../schema/structure.ts';
import { autoscalerV1 } from './autoscaling.ts';
import { behaviourFor } from './behaviours.ts';
import { eventConversion } from './event.ts';
import { storeShaped } from './stored-shape.ts';

export type TableFor = (group: string, kind: string) => TableShape;

/** `convert` of versions whose fields differ from the storage version, by `group/version/kind`. */
const CONVERSIONS: Readonly<Record<string, NonNullable<ServedVersion['convert']>>> = {
  'autoscaling/v1/HorizontalPodAutoscaler': autoscalerV1,
  'events.k8s.io/v1/Event': eventConversion,
};

/** The warning for clients that use the version. */
const DEPRECATIONS: Readonly<Record<string, string>> = {
  '/v1/Endpoints': 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
};

/** Kinds whose objects are stored as another kind. */
const KEPT_AS: Readonly<Record<string, Pick<BuiltinKind, 'group' | 'plural' | 'kind'> & { readonly version: string }>> =
  {
    'events.k8s.io/Event': { group: '', plural: 'events', kind: 'Event', version: 'v1' },
  };

export function servedKind(kind: BuiltinKind, tableFor: TableFor): ServedResource {
  const { versions: names, subresources, ...facts } = kind;
  const versions = names.map((version) => servedVersion(kind, version, tableFor));
  const [preferred] = versions;
  if (preferred === undefined) throw new Error(`${kind.kind} has no version`);
  const kept = KEPT_AS[`${kind.group}/${kind.kind}`];
  const storedKind: BuiltinKind = kept === undefined ? kind : { ...kind, ...kept, versions: [kept.version] };
  const storedName = storedKind.versions[0] as string;
  const stored = kept === undefined ? preferred : servedVersion(storedKind, storedName, tableFor);
  return Object.freeze({
    ...facts,
    versions: Object.freeze(versions),
    stored,
    subresources,
    behaviour: shaped(behaviourFor(kind.group, kind.kind), typeNameOfKind(storedKind, storedName), stored),
    ...(kept === undefined ? {} : { keptAs: Object.freeze({ group: kept.group, plural: kept.plural }) }),
  });
}

function servedVersion(kind: BuiltinKind, version: string, tableFor: TableFor): ServedVersion {
  const schema = lazy(() => builtinSchema(typeNameOfKind(kind, version)));
  const structure = lazy(() => structureOf(schema(), { resolve: resolveBuiltin, builtin: true }));
  const table = lazy(() => tableFor(kind.group, kind.kind));
  const convert = CONVERSIONS[`${kind.group}/${version}/${kind.kind}`];
  const deprecationWarning = DEPRECATIONS[`${kind.group}/${version}/${kind.kind}`];
  return Object.freeze({
    version,
    served: true,
    get schema() {
      return schema();
    },
    get structure() {
      return structure();
    },
    get table() {
      return table();
    },
    ...(convert === undefined ? {} : { convert }),
    ...(deprecationWarning === undefined ? {} : { deprecationWarning }),
  });
}

/** Every write of a built-in kind is stored in the shape of a typed server. */
const shaped = (special: Behaviour, typeName: string, stored: ServedVersion): Behaviour => {
  const fill = (draft: Draft): void => {
    stored.structure.default(draft);
    special.default?.(draft);
  };
  return Object.freeze({ ...special, default: (draft) => storeShaped(typeName, draft, fill) } satisfies Behaviour);
};
