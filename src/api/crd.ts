// Computes the CustomResourceDefinition of a kind, as an object and as YAML. Equal input gives equal text.
import { writeYaml } from '../base/write-yaml.ts';
import type { Column, Kind } from './kind.ts';
import type { KubeObject } from './object.ts';

export interface CustomResourceDefinitionSpec {
  readonly group: string;
  readonly names: {
    readonly kind: string;
    readonly listKind: string;
    readonly plural: string;
    readonly singular: string;
    readonly shortNames?: readonly string[];
    readonly categories?: readonly string[];
  };
  readonly scope: 'Cluster' | 'Namespaced';
  readonly versions: readonly {
    readonly name: string;
    readonly served: boolean;
    readonly storage: boolean;
    readonly schema: { readonly openAPIV3Schema: Kind['schema'] };
    readonly additionalPrinterColumns?: readonly Column[];
    readonly subresources?: { readonly status: Readonly<Record<string, never>> };
  }[];
}

export type CustomResourceDefinition = KubeObject<CustomResourceDefinitionSpec> & {
  readonly spec: CustomResourceDefinitionSpec;
};

export const crdName = (kind: { readonly plural: string; readonly group: string }): string =>
  `${kind.plural}.${kind.group}`;

export function crdOf(kind: Kind): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: crdName(kind) },
    spec: {
      group: kind.group,
      names: {
        kind: kind.kind,
        listKind: kind.listKind,
        plural: kind.plural,
        singular: kind.singular,
        ...(kind.shortNames.length === 0 ? {} : { shortNames: kind.shortNames }),
        ...(kind.categories.length === 0 ? {} : { categories: kind.categories }),
      },
      scope: kind.namespaced ? 'Namespaced' : 'Cluster',
      versions: kind.versions.map((version) => ({
        name: version.version,
        served: true,
        storage: version.version === kind.version,
        ...(version.columns.length === 0 ? {} : { additionalPrinterColumns: version.columns }),
        ...(kind.hasStatus ? { subresources: { status: {} } } : {}),
        schema: { openAPIV3Schema: version.schema },
      })),
    },
  };
}

/** The definition as a file. */
export const crdYaml = (kind: Kind): string => writeYaml(crdOf(kind));

/** The file under config/crd that holds a kind's definition. */
export const crdFile = (kind: Kind): string => `${kind.group}_${kind.plural}.yaml`;
