// Removes the instances of a CRD that is being deleted: deletes those without finalizers and marks the others. Each is
// handled once, in time slices, because there may be any number.
import { kubeTime } from '../../base/clock.ts';
import { inSlices } from '../../base/slices.ts';
import type { Cluster } from '../cluster.ts';
import type { Store } from '../store/store.ts';

export interface InstanceRemoval {
  /**
   * Starts to remove all instances under a prefix. New ones must be rejected from then on. A second call has no effect.
   */
  begin(prefix: string): void;
  /** True if all instances were handled and none is left. */
  isOver(prefix: string): boolean;
  /** Stops removing. */
  forget(prefix: string): void;
}

/** `onDone` is called after a removal that took several time slices; `onError`, if it failed. */
export function instanceRemoval(
  { store, clock }: Pick<Cluster, 'store' | 'clock'>,
  { onDone, onError }: { onDone(): void; onError(error: unknown): void },
): InstanceRemoval {
  const begun = new Map<string, { isDone: boolean }>();
  return {
    begin(prefix) {
      if (begun.has(prefix)) return;
      const time = kubeTime(clock.now());
      const removal = { isDone: false };
      begun.set(prefix, removal);
      const done = () => {
        removal.isDone = true;
      };
      const fail = (error: unknown) => {
        begun.delete(prefix); // retried later
        onError(error);
      };
      try {
        const going = inSlices(clock, 'CRD clean-up', store.range(prefix).items, ({ key }) => {
          if (begun.get(prefix) !== removal) return 'stop';
          removeInstance(store, key, time);
          return undefined;
        });
        if (going === undefined) done();
        else void going.then(done).then(onDone).catch(fail);
      } catch (error) {
        fail(error);
      }
    },
    isOver: (prefix) => begun.get(prefix)?.isDone === true && store.range(prefix, { limit: 1 }).items.length === 0,
    forget: (prefix) => void begun.delete(prefix),
  };
}

function removeInstance(store: Store, key: string, time: string): void {
  const stored = store.get(key, 'head');
  if (stored === undefined) return;
  const object = stored.object();
  const { generation, finalizers = [], deletionTimestamp } = object.metadata;
  if (finalizers.length === 0) write(store, { key, expect: stored.revision, value: undefined });
  else if (deletionTimestamp === undefined) {
    const metadata = {
      ...object.metadata,
      ...(generation === undefined ? {} : { generation: generation + 1 }),
      deletionTimestamp: time,
      deletionGracePeriodSeconds: 0,
    };
    write(store, { key, expect: stored.revision, value: { ...object, metadata } });
  }
}

/** No client waits for the durability of our own writes. */
function write(store: Store, what: Parameters<Store['commit']>[0]): void {
  store.commit(what).durable.catch(() => {});
}
