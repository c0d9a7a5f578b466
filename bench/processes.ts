// The processes of a benchmark: servers and load run apart, talk over IPC and end with the parent.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';

export interface Worker extends Disposable {
  readonly process: ChildProcess;
  /** First line of standard output. */
  readonly firstLine: Promise<string>;
  ask<T>(message: Readonly<Record<string, unknown>>): Promise<T>;
}

export function start(
  file: string,
  args: readonly string[],
  options: { readonly imports?: readonly string[]; readonly flags?: readonly string[]; readonly cwd?: string } = {},
): Worker {
  const execArgv = [...(options.imports ?? []).flatMap((each) => ['--import', each]), ...(options.flags ?? [])];
  const child = fork(file, [...args], {
    execArgv,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    ...(options.cwd ? { cwd: options.cwd } : {}),
  });
  const firstLine = new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code} before it was ready`)));
  });
  firstLine.catch(() => {});
  let next = 0;
  return {
    process: child,
    firstLine,
    async ask<T>(message: Readonly<Record<string, unknown>>) {
      const id = next++;
      child.send({ id, ...message });
      for (;;) {
        const [answer] = (await once(child, 'message')) as [{ id?: number; result?: T; error?: string }];
        if (answer.error !== undefined) throw new Error(answer.error);
        if (answer.id === id) return answer.result as T;
        if (answer.id === undefined) return answer as T;
      }
    },
    [Symbol.dispose]: () => {
      child.kill();
    },
  };
}

/**
 * For servers that outlive whoever started them: Ctrl-C must not leave them behind. Returns a `stop` that is the same and lets go of the signals.
 */
export function stoppedBySignals(stop: () => Promise<void>): () => Promise<void> {
  const signals = ['SIGINT', 'SIGTERM'] as const;
  const onSignal = (signal: (typeof signals)[number]) => {
    void stop().finally(() => process.exit(128 + constants.signals[signal]));
  };
  for (const signal of signals) process.once(signal, onSignal);
  return async () => {
    for (const signal of signals) process.off(signal, onSignal);
    await stop();
  };
}
