/** An HTTP server that gives the answers of a test, and a remote that asks it. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';
import { httpRemote } from '../../../src/sync/remote/index.js';

export type Answer = (request: IncomingMessage, response: ServerResponse, at: number) => void;
/** Cleanups that run after each test. */
export const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** Returns a remote whose server gives the answers of `answer`; `seen` gets the requests. */
export async function answering(answer: Answer) {
  const seen: IncomingMessage[] = [];
  const listener: RequestListener = (request, response) => {
    seen.push(request);
    request.resume().on('end', () => answer(request, response, seen.length));
  };
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  ends.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { remote: httpRemote({ url }), seen, url };
}
export const always = (
  status: number,
  headers: Record<string, string> = {},
  body: string | Uint8Array = '',
) => answering((_, response) => response.writeHead(status, headers).end(body));
