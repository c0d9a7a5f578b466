// `flotilla __members`: the child process that `flotilla up` starts for a large fleet, see members-process.ts. Users do
// not run it.
import { setMaxListeners } from 'node:events';
import { Registry } from 'prom-client';
import { wallClock } from '../base/clock.ts';
import { messageOf, UserError } from '../base/errors.ts';
import { httpTransport } from '../client/http.ts';
import { openEmbedded } from './embedded.ts';
import { jsonLog } from './log.ts';
import { startMembers, startServers } from './members.ts';
import type { AgentsOrder, Order, Report, ServeOrder } from './members-process.ts';
import { tellThrottling } from './throttling.ts';

export async function members(): Promise<void> {
  if (process.send === undefined) {
    throw new UserError(
      'BadCommand',
      'flotilla up runs this by itself for a large fleet; run flotilla up --members 100',
    );
  }
  const orders = ordersFromParent();
  try {
    await serve(await orders.serve, orders);
  } catch (error) {
    await tell({ failed: messageOf(error) });
    process.exitCode = 1;
  }
  process.channel?.unref();
}

async function serve(order: ServeOrder, { agents, stopped }: Orders): Promise<void> {
  const { fleet, dataDir, inMemory, port, keys, logLevel, bind, advertise } = order;
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  void stopped.then(() => stopping.abort());
  await using embedded = await openEmbedded(
    {
      ...{ dataDir, inMemory, port },
      ...(bind === undefined ? {} : { bind }),
      ...(advertise === undefined ? {} : { advertise }),
    },
    { membersOnly: true, ...(keys === undefined ? {} : { keys }) },
  );
  // Listen first: if the port is taken, nothing else has started.
  await using listening = await embedded.listen();
  await tell({ listening: listening.port });
  const servers = await startServers(embedded, fleet);
  const given = await Promise.race([agents, stopped]);
  if (given === undefined) return;
  const { hub, tokens } = given;
  const log = jsonLog(logLevel, { part: 'members' });
  const metrics = new Registry();
  const onThrottled = tellThrottling({ server: 'hub', clock: wallClock, log, metrics });
  const lines = new Map(
    fleet.map(({ name }) => {
      const connection = { ...hub, token: tokens[name] ?? '', insecure: false, namespace: 'default' };
      return [name, httpTransport(connection, { clock: wallClock, onThrottled })];
    }),
  );
  const running = await startMembers(
    {
      fleet,
      servers,
      endpointOf: (name) => embedded.endpoint(listening.port, name),
      hubFor: (name) => lines.get(name) as ReturnType<typeof httpTransport>,
      log,
      metrics,
    },
    stopping.signal,
  );
  await stopped;
  await running.stop();
  for (const line of lines.values()) line.close();
}

interface Orders {
  readonly serve: Promise<ServeOrder>;
  readonly agents: Promise<AgentsOrder>;
  /** Resolves on a message of the parent or on SIGTERM. */
  readonly stopped: Promise<undefined>;
}

function ordersFromParent(): Orders {
  const waiting: { [K in Order['order']]?: (order: never) => void } = {};
  const next = <T>(order: Order['order']) =>
    new Promise<T>((resolve) => {
      waiting[order] = resolve as (order: never) => void;
    });
  const orders = {
    serve: next<ServeOrder>('serve'),
    agents: next<AgentsOrder>('agents'),
    stopped: next<undefined>('stop'),
  };
  const stop = () => (waiting.stop as ((order: undefined) => void) | undefined)?.(undefined);
  process.on('message', (order: Order) =>
    order.order === 'stop' ? stop() : (waiting[order.order] as (order: Order) => void)(order),
  );
  // The parent has exited. Acknowledged writes are on disk, so exit at once: the next start of the fleet needs the
  // directory.
  process.once('disconnect', () => process.exit(1));
  // Ctrl-C reaches every process of a terminal, but the parent decides when to stop.
  process.on('SIGINT', () => {});
  process.once('SIGTERM', stop);
  return orders;
}

const tell = (report: Report): Promise<void> =>
  new Promise((resolve) => (process.send as NonNullable<typeof process.send>)(report, undefined, {}, () => resolve()));
