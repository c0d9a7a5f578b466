// Runs a command line and turns what goes wrong into one sentence and an exit code.
import type { Command } from 'commander';
import { ApiError, LostError, messageOf, UserError } from '../base/errors.ts';

export async function run(program: Command): Promise<void> {
  // A reader that goes away (`| head`) is no fault of ours.
  process.stdout.on('error', () => process.exit(0));
  // Our clock's timers do not keep a process alive, and a command that waits for one (a server that is down, or asked us to come back
  // later) must not just end.
  const alive = setInterval(() => {}, 2 ** 31 - 1);
  try {
    await program.parseAsync();
  } catch (error) {
    if (error instanceof UserError || error instanceof ApiError || error instanceof LostError) {
      console.error(`error: ${messageOf(error)}`);
    } else console.error(error);
    process.exitCode = 1;
  } finally {
    clearInterval(alive);
  }
}
