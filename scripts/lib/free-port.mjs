import { once } from 'node:events';
import { createServer } from 'node:net';

/** Returns a port of this machine without a listener: for servers that cannot report which one they took. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
