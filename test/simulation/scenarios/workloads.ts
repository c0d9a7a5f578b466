// The Deployment controller of a member in a world: Deployments become available after a while, unless their image is
// bad. It is minimal, because the rules of a complete simulated cluster would cost most of a world's steps.
import type { Resource } from '../../../src/api/kind.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { patchStatus, seen } from '../../../src/runtime/actions.ts';
import { keyOf, partsOf } from '../../../src/runtime/cache.ts';
import { type Controller, idle, type Source } from '../../../src/runtime/controller.ts';
import type { Deps } from '../../../src/runtime/deps.ts';
import { startManager } from '../../../src/runtime/manager.ts';
import type { Stop } from '../../../src/sim/world.ts';

export const deployments: Resource = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};

const READY_MS = 2000;
const source: Source<KubeObject> = { on: 'member', resource: deployments };

interface Spec {
  readonly replicas?: number;
  readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } };
}
interface Status {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly updatedReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly unavailableReplicas?: number;
}

export const imageOf = ({ spec }: KubeObject): string => (spec as Spec).template.spec.containers[0]?.image ?? '';
export const isBad = (image: string): boolean => image.includes('bad');

/** Its newest spec is rolled out completely and available. */
export function isUp({ metadata, spec, status }: KubeObject): boolean {
  const { replicas = 1 } = spec as Spec;
  const { observedGeneration, updatedReplicas, availableReplicas, unavailableReplicas = 0 } = (status ?? {}) as Status;
  return (
    observedGeneration === metadata.generation &&
    updatedReplicas === replicas &&
    availableReplicas === replicas &&
    unavailableReplicas === 0
  );
}

function workloads(): Controller<{ readonly deployment: KubeObject; readonly since: number; readonly now: number }> {
  /** When each generation of a Deployment was first seen. */
  const begun = new Map<string, { readonly generation: number; readonly at: number }>();
  return {
    name: 'workloads',
    eventSource: 'workloads',
    watches: [{ source, toKeys: ({ metadata }) => [keyOf(metadata.namespace, metadata.name ?? '')] }],
    observe(view, key) {
      const { name, namespace } = partsOf(key);
      const deployment = view.get(source, name, namespace);
      if (deployment === undefined) return undefined;
      const { generation = 0 } = deployment.metadata;
      if (begun.get(key)?.generation !== generation) begun.set(key, { generation, at: view.now });
      return { deployment, since: begun.get(key)?.at ?? view.now, now: view.now };
    },
    decide({ deployment, since, now }) {
      const { replicas = 1 } = deployment.spec as Spec;
      const { observedGeneration = 0, availableReplicas = 0 } = (deployment.status ?? {}) as Status;
      const { generation = 0 } = deployment.metadata;
      const tell = (status: Status, because: string) => ({
        steps: [[patchStatus(seen(source, deployment), status, because)]],
        holds: [],
        because,
      });
      // The old Pods stay until the new ones are available.
      const rolling = {
        observedGeneration: generation,
        replicas,
        updatedReplicas: 0,
        readyReplicas: availableReplicas,
        availableReplicas,
        unavailableReplicas: 1,
      };
      if (observedGeneration !== generation) return tell(rolling, 'rolls');
      if (isUp(deployment) || isBad(imageOf(deployment))) return idle('nothing to do');
      if (now < since + READY_MS) return idle('gets ready', { wakeAt: since + READY_MS });
      return tell(
        {
          ...rolling,
          updatedReplicas: replicas,
          readyReplicas: replicas,
          availableReplicas: replicas,
          unavailableReplicas: 0,
        },
        'is available',
      );
    },
  };
}

export const workloadsActor = (deps: Deps): Stop => {
  const manager = startManager(deps, { controllers: [workloads()], manager: 'workloads' });
  return () => manager.stop();
};
