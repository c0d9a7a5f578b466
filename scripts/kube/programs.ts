// Where the programs of a real control plane are: in the folder that KUBEBUILDER_ASSETS names, else in a cache outside of the checkout, keyed by
// version. Building what is missing stands in build.ts.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const KUBERNETES_VERSION = '1.34.4';
const ETCD_VERSION = '3.6.16';
const HELM_VERSION = '3.19.5';

export interface Program {
  readonly version: string;
  /** The Go module beside this file that pins it, and the package to build in it. */
  readonly module: string;
  readonly package: string;
  /** Packages whose version variables are set: clients complain about a server that does not know its own. */
  readonly versioned: readonly string[];
  /** Further variables that its release sets. */
  readonly variables?: Readonly<Record<string, string>>;
}

const versioned = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'];

const kubernetes = (name: string): Program => ({
  version: KUBERNETES_VERSION,
  module: 'kube/kubernetes',
  package: `k8s.io/kubernetes/cmd/${name}`,
  versioned,
});

export const PROGRAMS = {
  // A module of its own: whoever needs only kubectl does not wait for the servers.
  kubectl: { version: KUBERNETES_VERSION, module: 'kubectl', package: '.', versioned },
  etcd: { version: ETCD_VERSION, module: 'kube/etcd', package: 'go.etcd.io/etcd/server/v3', versioned: [] },
  'kube-controller-manager': kubernetes('kube-controller-manager'),
  'kube-apiserver': kubernetes('kube-apiserver'),
  // No part of a control plane: the full proof renders charts with it.
  helm: {
    version: HELM_VERSION,
    module: 'helm',
    package: 'helm.sh/helm/v3/cmd/helm',
    versioned,
    variables: {
      'helm.sh/helm/v3/internal/version.version': `v${HELM_VERSION}`,
      // What charts are told of Kubernetes; without them it is 1.20.
      'helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor': KUBERNETES_VERSION.split('.')[0] as string,
      'helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor': KUBERNETES_VERSION.split('.')[1] as string,
    },
  },
} satisfies Readonly<Record<string, Program>>;

export type ProgramName = keyof typeof PROGRAMS;
export type Programs = Readonly<Record<PlaneProgram, string>>;
type PlaneProgram = Exclude<ProgramName, 'helm'>;

/** Of a control plane, from the shortest to build to the longest, so that whatever was built before an interruption is much of it. */
export const ALL_PROGRAMS: readonly PlaneProgram[] = ['kubectl', 'etcd', 'kube-controller-manager', 'kube-apiserver'];

export const isProgramName = (name: string): name is ProgramName => Object.hasOwn(PROGRAMS, name);

export const cacheFolder = (env: NodeJS.ProcessEnv = process.env): string =>
  join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'flotilla');

export const cachedPath = (name: ProgramName, env?: NodeJS.ProcessEnv): string =>
  join(cacheFolder(env), `${name}-${PROGRAMS[name].version}`);

/** The program's path, or undefined when nobody has provided it and it has not been built yet. */
export function findProgram(name: ProgramName, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const assets = env['KUBEBUILDER_ASSETS'];
  const places = [...(assets ? [join(assets, name)] : []), cachedPath(name, env)];
  return places.find((path) => existsSync(path));
}

export const missingPrograms = (env?: NodeJS.ProcessEnv): readonly PlaneProgram[] =>
  ALL_PROGRAMS.filter((name) => findProgram(name, env) === undefined);

/** All of them, or undefined when one is missing. */
export function findPrograms(env?: NodeJS.ProcessEnv): Programs | undefined {
  const found = ALL_PROGRAMS.map((name) => [name, findProgram(name, env)] as const);
  return found.every(([, path]) => path !== undefined) ? (Object.fromEntries(found) as Programs) : undefined;
}
