// A simulated cluster: rules that make the workloads of an API server progress, fail or hang according to a profile.
//
// There are two sets. `controllers` replaces kube-controller-manager (controllers.ts; without Pods: status-only/);
// `node` replaces kubelets, scheduler and cloud provider (node-controllers.ts), and is the only one used on a real API
// server. A rule is a pure function (rule.ts, rules/); the runtime watches and writes for it. An idle cluster writes
// only Node Leases and, rarely, a Node's status.
import type { Resource } from '../../api/kind.ts';
import type { Transport } from '../../api/transport.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { Deps, Log } from '../../runtime/deps.ts';
import { type Manager, startManager } from '../../runtime/manager.ts';
import { workloadControllers } from './controllers.ts';
import { asKubelet } from './kubelet-transport.ts';
import { nodeControllers } from './node-controllers.ts';
import type { Profile } from './profile.ts';
import type { NodeShape } from './rules/node.ts';
import { exportControllers, exportsServed } from './service-exports.ts';
import { statusControllers } from './status-only/controllers.ts';

export interface PretendDeps {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export interface PretendOptions {
  readonly sets: readonly ('controllers' | 'node')[];
  readonly profile: Profile;
  readonly nodes: readonly NodeShape[];
  /**
   * Workloads report their status as if they had Pods, with the same timing, but no Pods exist. For fleets that are too
   * large to have them.
   */
  readonly statusOnly?: boolean;
}

export interface Pretend {
  /** Resolves when all watches are synced. */
  readonly synced: Promise<void>;
  /** Resolves when all configured Nodes exist, or it was stopped before. */
  readonly registered: Promise<void>;
  /** No work is due now; future timers do not count. */
  idle(): boolean;
  stop(): Promise<void>;
}

const FIELD_MANAGER = 'pretend-cluster';

export function startPretend(deps: PretendDeps, options: PretendOptions): Pretend {
  const { profile, sets, nodes } = options;
  const managers: Manager[] = [];
  let isStopped = false;
  const missing = new Set(sets.includes('node') ? nodes.map(({ name }) => name) : []);
  let onRegistered = () => {};
  const registered = new Promise<void>((resolve) => {
    onRegistered = resolve;
  });
  if (missing.size === 0) onRegistered();
  if (sets.includes('controllers')) {
    const controllers = options.statusOnly === true ? statusControllers(profile) : workloadControllers(profile);
    managers.push(startManager(depsFor(deps, 'controllers', deps.transport), { controllers, manager: FIELD_MANAGER }));
  }
  // A separate manager, because its writes are those of a kubelet.
  const kubelet = asKubelet(deps.transport);
  const exported = followExports((resource) =>
    startManager(depsFor(deps, 'exports', kubelet), {
      controllers: exportControllers(resource, profile),
      manager: FIELD_MANAGER,
    }),
  );
  if (sets.includes('node')) {
    const controllers = [
      ...nodeControllers(profile, nodes, (name) => {
        if (missing.delete(name) && missing.size === 0) onRegistered();
      }),
      exportsServed((resource) => !isStopped && exported.serve(resource)),
    ];
    managers.push(startManager(depsFor(deps, 'node', kubelet), { controllers, manager: FIELD_MANAGER }));
  }
  return {
    synced: Promise.all(managers.map((manager) => manager.synced)).then(() => {}),
    registered,
    idle: () => managers.every((manager) => manager.idle()) && exported.idle(),
    async stop() {
      isStopped = true;
      onRegistered();
      await Promise.all([...managers.map((manager) => manager.stop()), exported.stop()]);
    },
  };
}

const depsFor = ({ clock, random, log }: PretendDeps, label: string, transport: Transport): Deps => ({
  clock,
  log,
  random: random.fork(`pretend/${label}`),
  servers: { member: transport },
});

/** At most one manager for ServiceExports, for the currently served version. */
function followExports(start: (resource: Resource) => Manager) {
  let version: string | undefined;
  let current: Manager | undefined;
  const stopping = new Set<Promise<void>>();
  const end = () => {
    if (current === undefined) return;
    const ended: Promise<void> = current.stop().finally(() => stopping.delete(ended));
    stopping.add(ended);
    current = undefined;
  };
  return {
    serve(resource: Resource | undefined) {
      if (resource?.version === version) return;
      version = resource?.version;
      end();
      if (resource !== undefined) current = start(resource);
    },
    idle: () => stopping.size === 0 && (current?.idle() ?? true),
    async stop() {
      end();
      await Promise.all(stopping);
    },
  };
}
