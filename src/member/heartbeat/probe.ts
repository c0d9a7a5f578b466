// Asking an API server how it is, through the Transport that the agent uses anyway: for servers in the same process, and where /readyz cannot
// be reached. Any answer but a refusal of service shows that it works.
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
