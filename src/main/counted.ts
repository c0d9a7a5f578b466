// A Transport that counts its calls by server, verb, resource and outcome. Several may share a registry.
import type { Registry } from 'prom-client';
import type { Target, Transport } from '../api/transport.ts';
import { AbortError, ApiError } from '../base/errors.ts';
import { tally } from '../runtime/tally.ts';

export function counted(transport: Transport, server: 'hub' | 'member', registry: Registry): Transport {
  const calls = tally({
    registry,
    name: 'flotilla_requests_total',
    help: 'Calls to API servers by outcome; a watch counts when it is opened.',
    labelNames: ['server', 'verb', 'resource', 'code'],
  });
  const count = (verb: string, { resource, subresource }: Target, code: string) =>
    calls([server, verb, subresource === undefined ? resource.plural : `${resource.plural}/${subresource}`, code]);
  return {
    async call(request, signal) {
      try {
        const answer = await transport.call(request, signal);
        count(request.verb, request.at, '2xx');
        return answer;
      } catch (error) {
        count(request.verb, request.at, codeOf(error));
        throw error;
      }
    },
    watch(request, signal, onOpen) {
      count('watch', request.at, '');
      return transport.watch(request, signal, onOpen);
    },
  };
}

const codeOf = (error: unknown): string =>
  error instanceof ApiError ? String(error.code) : error instanceof AbortError ? 'given up' : 'lost';
