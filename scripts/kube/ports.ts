// Ports that nobody listens on, below those that the system gives to outgoing connections: a server that is stopped for a while finds its port
// free again.
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const FIRST = 20_000;
const BEYOND = 32_000;
const ATTEMPTS = 200;

export async function freePorts(count: number): Promise<readonly number[]> {
  const found = new Set<number>();
  for (let attempt = 0; found.size < count && attempt < ATTEMPTS; attempt++) {
    const port = randomInt(FIRST, BEYOND);
    if (await isFree(port)) found.add(port);
  }
  if (found.size < count) throw new Error(`found no ${count} free ports from ${FIRST} to ${BEYOND}`);
  return [...found];
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
