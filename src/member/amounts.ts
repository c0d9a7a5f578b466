// Amounts of CPU and memory as plain numbers, so that ten thousand Pods can be added up at every heartbeat.
// Guarantee: text that is not a quantity counts as 0; a value too fine for a number is rounded up, as in Kubernetes.
import type { Container, Draft, PodSpec, Quantities } from '../api/builtin/shapes.ts';
import { formatQuantity, parseQuantity } from '../base/quantity.ts';

export interface Amounts {
  /** Billionths of a core. */
  readonly cpu: number;
  /** Bytes. */
  readonly memory: number;
}

export const NOTHING: Amounts = { cpu: 0, memory: 0 };

const NANO = 1_000_000_000n;

const nanoOf = (quantity: string | number | undefined): bigint =>
  quantity === undefined ? 0n : (parseQuantity(quantity)?.nano ?? 0n);

export const amountsOf = (quantities: Quantities | undefined): Amounts =>
  quantities === undefined
    ? NOTHING
    : {
        cpu: Number(nanoOf(quantities['cpu'])),
        memory: Number((nanoOf(quantities['memory']) + NANO - 1n) / NANO),
      };

/** In the format of a status. */
export const formatAmounts = ({ cpu, memory }: Amounts): { readonly cpu: string; readonly memory: string } => ({
  cpu: formatQuantity({ nano: BigInt(Math.round(cpu)), format: 'decimal' }),
  memory: formatQuantity({ nano: BigInt(Math.round(memory)) * NANO, format: 'binary' }),
});

export const plus = (a: Amounts, b: Amounts): Amounts => ({ cpu: a.cpu + b.cpu, memory: a.memory + b.memory });

const larger = (a: Amounts, b: Amounts): Amounts => ({
  cpu: Math.max(a.cpu, b.cpu),
  memory: Math.max(a.memory, b.memory),
});

/** Never below 0: the Pods of a node may use more than the node still has after it shrank. */
export const minus = (a: Amounts, b: Amounts): Amounts => ({
  cpu: Math.max(0, a.cpu - b.cpu),
  memory: Math.max(0, a.memory - b.memory),
});

export const sum = (all: readonly Amounts[]): Amounts => all.reduce(plus, NOTHING);

// ---- Pods

const requestsOf = (container: Draft<Container>): Amounts => amountsOf(container.resources?.requests);

/**
 * What the scheduler reserves for a Pod. Init containers run one after the other before the containers, so the largest
 * sum at any moment counts; sidecars (init containers that always restart) keep running.
 * Differs from KubeFleet: it adds up only the containers, and only of the first hundred Pods.
 */
export function podRequests({ containers = [], initContainers = [], overhead, resources }: Draft<PodSpec>): Amounts {
  let sidecars = NOTHING;
  let starting = NOTHING;
  for (const container of initContainers) {
    const wants = requestsOf(container);
    if (container.restartPolicy === 'Always') {
      sidecars = plus(sidecars, wants);
      starting = larger(starting, sidecars);
    } else {
      starting = larger(starting, plus(sidecars, wants));
    }
  }
  const running = plus(sum(containers.map(requestsOf)), sidecars);
  const ofContainers = larger(running, starting);
  const ofPod = resources?.requests;
  const wanted = {
    cpu: ofPod?.['cpu'] === undefined ? ofContainers.cpu : amountsOf(ofPod).cpu,
    memory: ofPod?.['memory'] === undefined ? ofContainers.memory : amountsOf(ofPod).memory,
  };
  return plus(wanted, amountsOf(overhead));
}
