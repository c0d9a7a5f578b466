// The running parts of Flotilla, put together from controllers: the same in one process, in several, and in a simulated world.
import type { Registry } from 'prom-client';
import { membership } from '../hub/membership/controller.ts';
import type { Settings } from '../hub/membership/observed.ts';
import { heartbeat } from '../member/heartbeat/controller.ts';
import type { Probe } from '../member/heartbeat/pulse.ts';
import type { Deps } from '../runtime/deps.ts';
import { type Manager, startManager } from '../runtime/manager.ts';

export interface HubOptions extends Partial<Settings> {
  mayWrite?(): boolean;
  readonly metrics?: Registry;
}

export function startHub(deps: Deps, { mayWrite, metrics, ...settings }: HubOptions = {}): Manager {
  return startManager(deps, {
    controllers: [membership(settings)],
    manager: 'flotilla-hub',
    ...(mayWrite ? { mayWrite } : {}),
    ...(metrics ? { metrics } : {}),
  });
}

export interface AgentOptions {
  readonly cluster: string;
  readonly probe: Probe;
  mayWrite?(): boolean;
  readonly metrics?: Registry;
}

export function startAgent(deps: Deps, { cluster, probe, mayWrite, metrics }: AgentOptions): Manager {
  const { clock, random } = deps;
  return startManager(deps, {
    controllers: [heartbeat({ cluster, probe, clock, random: random.fork('heartbeat') })],
    manager: 'flotilla-member',
    ...(mayWrite ? { mayWrite } : {}),
    ...(metrics ? { metrics } : {}),
  });
}
