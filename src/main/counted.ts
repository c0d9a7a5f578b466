// A Transport whose calls are counted, by server, verb, resource and what came of them. Several may share a registry.
import { Counter, type Registry } from 'prom-client';
import type { Transport } from '../api/transport.ts';
import { AbortError, ApiError } from '../base/errors.ts';

const NAME = 'flotilla_requests_total';
const LABELS = ['server', 'verb', 'resource', 'code'] as const;

export function counted(transport: Transport, server: 'hub' | 'member', registry: Registry): Transport {
  const requests =
    (registry.getSingleMetric(NAME) as Counter<(typeof LABELS)[number]> | undefined) ??
    new Counter({
      name: NAME,
      help: 'Calls to API servers, by what came of them; a watch counts when it is opened.',
      labelNames: LABELS,
      registers: [registry],
    });
  return {
    async call(request, signal) {
      const { subresource, resource } = request.at;
      const labels = {
        server,
        verb: request.verb,
        resource: subresource === undefined ? resource.plural : `${resource.plural}/${subresource}`,
      };
      try {
        const answer = await transport.call(request, signal);
        requests.inc({ ...labels, code: '2xx' });
        return answer;
      } catch (error) {
        requests.inc({ ...labels, code: codeOf(error) });
        throw error;
      }
    },
    watch(request, signal) {
      requests.inc({ server, verb: 'watch', resource: request.at.resource.plural, code: '' });
      return transport.watch(request, signal);
    },
  };
}

const codeOf = (error: unknown): string =>
  error instanceof ApiError ? String(error.code) : error instanceof AbortError ? 'given up' : 'lost';
