// A Transport whose calls are counted, by server, verb, resource and what came of them. Several may share a registry.
import { Counter, type Registry } from 'prom-client';
import type { Target, Transport } from '../api/transport.ts';
import { AbortError, ApiError } from '../base/errors.ts';

const NAME = 'flotilla_requests_total';
const LABELS = ['server', 'verb', 'resource', 'code'] as const;

/** By the labels' values. Counted here and handed over when somebody reads the metrics: that is seldom, calls are not. */
type Tally = Map<string, number>;
const tallies = new WeakMap<Registry, Tally>();

function tallyIn(registry: Registry): Tally {
  const known = tallies.get(registry);
  if (known !== undefined) return known;
  const tally: Tally = new Map();
  tallies.set(registry, tally);
  new Counter({
    name: NAME,
    help: 'Calls to API servers, by what came of them; a watch counts when it is opened.',
    labelNames: LABELS,
    registers: [registry],
    collect() {
      this.reset();
      for (const [values, count] of tally) {
        const [server = '', verb = '', resource = '', code = ''] = values.split('|');
        this.inc({ server, verb, resource, code }, count);
      }
    },
  });
  return tally;
}

export function counted(transport: Transport, server: 'hub' | 'member', registry: Registry): Transport {
  const tally = tallyIn(registry);
  const count = (verb: string, { resource, subresource }: Target, code: string) => {
    const what = subresource === undefined ? resource.plural : `${resource.plural}/${subresource}`;
    const values = `${server}|${verb}|${what}|${code}`;
    tally.set(values, (tally.get(values) ?? 0) + 1);
  };
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
    watch(request, signal) {
      count('watch', request.at, '');
      return transport.watch(request, signal);
    },
  };
}

const codeOf = (error: unknown): string =>
  error instanceof ApiError ? String(error.code) : error instanceof AbortError ? 'given up' : 'lost';
