import type { Controller } from '../../src/runtime/controller.ts';

/** What the runtime would create for the first reconcile of a key. */
export function memoryOf<Observed, Memory>({ name, memory }: Controller<Observed, Memory>): Memory {
  if (memory === undefined) throw new Error(`${name} remembers nothing`);
  return memory();
}
