// Runs a command line, and turns errors into one sentence and an exit code.
import type { Command } from 'commander';
import { ApiError, LostError, messageOf, UserError } from '../base/errors.ts';

export async function run(program: Command): Promise<void> {
  // A reader that closes the pipe (`| head`) is no error.
  process.stdout.on('error', () => process.exit(0));
  // The timers of our clock do not keep a process alive, but a command that waits for one (an unreachable server, a
  // Retry-After) must not exit.
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
