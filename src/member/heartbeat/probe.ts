// Probes an API server through the agent's own Transport: for servers in the same process, and where /readyz is not
// reachable. Any response except a refusal of service counts as healthy.
import { namespaceResource } from '../../api/resources.ts';
import type { Transport } from '../../api/transport.ts';
import { ApiError, messageOf } from '../../base/errors.ts';
import type { Probe } from './pulse.ts';

export const transportProbe =
  (transport: Transport): Probe =>
  async (signal) => {
    try {
      await transport.call({ verb: 'get', at: { resource: namespaceResource, name: 'kube-system' } }, signal);
      return { ok: true };
    } catch (error) {
      if (error instanceof ApiError && error.code < 500) return { ok: true };
      return { ok: false, cause: messageOf(error) };
    }
  };
