// The instances of a definition that goes: those that nothing holds are deleted, the others marked, each looked at once and a slice at
// a time, for there may be any number of them.
import { kubeTime } from '../../base/clock.ts';
import { inSlices } from '../../base/slices.ts';
import type { Cluster } from '../cluster.ts';
import type { Store } from '../store/store.ts';

export interface InstanceRemoval {
  /** Looks at all instances under a prefix. Nothing new may come under it any more. Once begun, it is not begun again. */
  begin(prefix: string): void;
  /** True when all were looked at and none is left. */
  isOver(prefix: string): boolean;
  /** Nothing is removed any more. */
  forget(prefix: string): void;
}

/** `onDone` hears of a removal that took more than one slice when its last one is over; `onError`, when it failed. */
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
        begun.delete(prefix); // to be tried again
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

/** Whether the write is durable is reported to the client that waits for it; no client waits for ours. */
function write(store: Store, what: Parameters<Store['commit']>[0]): void {
  store.commit(what).durable.catch(() => {});
}
