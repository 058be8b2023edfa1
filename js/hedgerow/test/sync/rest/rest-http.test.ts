/** A server of plain rows over HTTP. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';
import { rest } from '../../../src/sync/rest/index.js';
import { RestDouble } from '../../support/doubles/rest-server.js';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A server of HTTP that answers by a function. */
async function served(
  answer: (body: unknown, request: IncomingMessage, response: ServerResponse) => void,
) {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => answer(JSON.parse(body), request, response));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  ends.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('addresses get POSTs, with a token that is renewed once', async () => {
  const double = new RestDouble();
  double.set({ a: 1 });
  const seen: string[] = [];
  const url = await served(async (body, { method, url: path, headers }, response) => {
    seen.push(`${method} ${path} ${headers.authorization} ${headers['content-type']}`);
    if (headers.authorization !== 'Bearer 2') return response.writeHead(401).end();
    if (path === '/push') {
      const answer = double.push(body as never);
      return response.writeHead(answer.status).end(await answer.text());
    }
    const pulled = double.pull(body as never);
    return pulled ? response.end(JSON.stringify(pulled)) : response.writeHead(204).end();
  });
  const db = await open('app', { storage: memory() });
  ends.push(() => db.close());
  let token = 0;
  const link = await db.connect(
    rest({
      pull: { url: `${url}/pull` },
      push: { url: `${url}/push` },
      auth: () => `Bearer ${++token}`,
    }),
  );
  expect(await link.pull()).toMatchObject({ rows: 1 });
  expect(await link.pull()).toMatchObject({ rows: 0 });
  await db.put('b', { text: 'ä' });
  await link.push();
  expect(double.rows).toEqual({ a: 1, b: { text: 'ä' } });
  expect(seen).toEqual([
    'POST /pull Bearer 1 application/json',
    'POST /pull Bearer 2 application/json',
    'POST /pull Bearer 2 application/json',
    'POST /push Bearer 2 application/json',
  ]);
});
