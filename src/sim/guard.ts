// Guards a simulated world against the machine's time, timers and randomness. While the guard is active, each use
// throws, so that the first run finds it, and not a trace that is not reproducible.
//
// Microtasks (the world waits for all of them) and hashing are allowed. process.nextTick is counted, not forbidden:
// Node's own event targets use it.
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/** A simulated world touched the machine's time, timers or randomness. */
export class ForbiddenInWorld extends Error {
  override readonly name = 'ForbiddenInWorld';
  constructor(what: string) {
    super(`${what} was used inside a simulated world: use the injected Clock and Random`);
  }
}

export interface Guard extends Disposable {
  /** Waits until no microtask is left: everything that can happen without another event has happened. */
  drained(): Promise<void>;
}

type Holder = Record<string, unknown>;

const RANDOM_FUNCTIONS = [
  'randomBytes',
  'randomUUID',
  'randomInt',
  'randomFill',
  'randomFillSync',
  'pseudoRandomBytes',
  'generateKeyPair',
  'generateKeyPairSync',
  'generateKey',
  'generateKeySync',
];

/** Installs the guard. Dispose of it to restore everything; guards must end in reverse order. */
export function raiseGuard(): Guard {
  const undo: (() => void)[] = [];
  const replace = (holder: object, name: string, value: unknown) => {
    const old = Object.getOwnPropertyDescriptor(holder, name);
    Object.defineProperty(holder, name, {
      value,
      configurable: true,
      writable: true,
      enumerable: old?.enumerable ?? true,
    });
    undo.push(() => {
      if (old) Object.defineProperty(holder, name, old);
      else delete (holder as Holder)[name];
    });
  };
  const forbid = (holder: object, name: string, spelled: string) => {
    if (name in holder) replace(holder, name, forbidden(spelled));
  };

  for (const timer of ['setTimeout', 'setInterval', 'setImmediate']) forbid(globalThis, timer, timer);
  replace(globalThis, 'Date', guardedDate(Date));
  forbid(Math, 'random', 'Math.random');
  forbid(globalThis.performance, 'now', 'performance.now');
  const hrtime = forbidden('process.hrtime');
  replace(process, 'hrtime', Object.assign(hrtime, { bigint: hrtime }));
  forbid(AbortSignal, 'timeout', 'AbortSignal.timeout');
  for (const name of RANDOM_FUNCTIONS) forbid(crypto, name, `crypto.${name}`);
  // The global `crypto` object is not the module, which takes getRandomValues from it.
  for (const name of ['randomUUID', 'getRandomValues']) forbid(globalThis.crypto, name, `crypto.${name}`);
  // Named imports of the module must be updated explicitly.
  syncBuiltinESMExports();

  const tick = process.nextTick;
  let foreignTicks = 0;
  replace(process, 'nextTick', (run: (...args: unknown[]) => void, ...args: unknown[]) => {
    foreignTicks++;
    tick(() => {
      foreignTicks--;
      run(...args);
    });
  });

  return {
    // A tick scheduled in a microtask runs when the microtask queue is empty, before Node returns to its event loop. So
    // a step of a world neither waits for outside events nor allows them.
    async drained() {
      do await new Promise<void>((resolve) => tick(resolve));
      while (foreignTicks > 0);
    },
    [Symbol.dispose]() {
      if (undo.length === 0) return;
      for (const each of undo.splice(0).reverse()) each();
      syncBuiltinESMExports();
    },
  };
}

const forbidden = (what: string) => (): never => {
  throw new ForbiddenInWorld(what);
};

/** Dates with arguments are allowed; the current date is forbidden. */
function guardedDate(real: DateConstructor): DateConstructor {
  function Guarded(...args: unknown[]): Date {
    if (args.length === 0 || new.target === undefined) throw new ForbiddenInWorld('the present Date');
    return Reflect.construct(real, args, new.target === Guarded ? real : new.target) as Date;
  }
  Guarded.prototype = real.prototype;
  Guarded.now = forbidden('Date.now');
  Guarded.parse = real.parse;
  Guarded.UTC = real.UTC;
  return Guarded as unknown as DateConstructor;
}
