import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { http1 } from './http1.ts';
import type { Packet } from './wire.ts';

const packet: Packet = { method: 'PATCH', path: '/', host: 'test', headers: {}, body: '{}', isWatch: false };

test('a connection that was idle for long is let go before the server closes it, one that was not is used again', async () => {
  const sockets: Socket[] = [];
  const server = createServer((request, response) => void text(request).then((body) => response.end(body)));
  server.on('connection', (socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const dial = async () => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  };
  const client = http1(dial, 100);
  const call = async () => text((await client.send(packet, new AbortController().signal)).body);
  try {
    await call();
    await new Promise((resolve) => setImmediate(resolve));
    await call();
    expect(sockets).toHaveLength(1);
    // Without this the server would keep it for five seconds.
    await once(sockets[0] as Socket, 'end');
    await call();
    expect(sockets).toHaveLength(2);
  } finally {
    client.destroy();
    server.close();
  }
});
