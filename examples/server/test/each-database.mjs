// Runs the tests of one idea on each database: a separate server, and its clients.

import { after, before, describe } from 'node:test';
import { Client, DATABASES, startServer } from './servers.mjs';

export const put = (key, value) => ({ op: 'put', key, value });
export const del = (key) => ({ op: 'del', key });
export const CLEAR = { op: 'clear' };

/** `define` gets `world`: a test may put another `server` into it. */
export function onEachDatabase(define) {
  for (const kind of DATABASES) {
    let clients = 0;
    let spaces = 0;
    const world = {
      kind,
      database: undefined,
      server: undefined,
      client: (options) => new Client(world.server.url, `client-${++clients}`, options),
      /** Each test has its own space. */
      newSpace: () => `space-${++spaces}`,
      audit: (who) =>
        world.database.query(
          `SELECT mutation, name FROM audit WHERE client = '${who.clientID}' ORDER BY at`,
        ),
    };
    describe(kind.name, () => {
      before(async () => {
        await kind.start();
        world.database = await kind.create();
        world.server = await startServer(world.database.args);
      });
      after(async () => {
        await world.server?.stop();
        await world.database?.drop();
        await kind.stop();
      });
      define(world);
    });
  }
}
