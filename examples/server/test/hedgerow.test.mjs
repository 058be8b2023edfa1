// Hedgerow's own client, `hedgerow/mutators`, against the server: what is queued offline takes effect once, also when
// answers get lost and requests come twice, and all clients end equal to the rows of the database.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { memory, open } from '../../../js/dist/index.js';
import { mutators } from '../../../js/dist/mutators/index.js';
import { DATABASES, startServer } from './servers.mjs';

const ours = {
  async count(tx, { id }) {
    const { n } = (await tx.get(`counter/${id}`)) ?? { n: 0 };
    tx.put(`counter/${id}`, { n: n + 1 });
  },
  async put(tx, { key, value }) {
    tx.put(key, value);
  },
  async del(tx, { key }) {
    tx.delete(key);
  },
};

const rowsOf = (db) => db.scan().toArray();

/** A client whose requests fail by turns: lost, answered in vain, or sent twice. */
async function client(url, isFaulty) {
  let turn = 0;
  const send = (path) => async (request) => {
    const go = () =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(request),
      });
    const now = isFaulty() ? turn++ % 4 : 3;
    if (now === 0) throw new TypeError('the request is lost');
    const answer = await go();
    if (now === 1) throw new TypeError('the answer is lost');
    return now === 2 ? go() : answer;
  };
  const db = await open('app', { storage: memory() });
  const app = await mutators(db, { mutators: ours, pull: send('/pull'), push: send('/push') });
  return { db, app };
}

for (const database of DATABASES) {
  describe(database.name, () => {
    before(() => database.start());
    after(() => database.stop());

    test('three clients end at the rows of the server, and each call took effect once', async () => {
      const made = await database.create();
      const server = await startServer(made.args);
      let isFaulty = true;
      const clients = [];
      for (let nth = 0; nth < 3; nth++) clients.push(await client(server.url, () => isFaulty));
      const offline = [];
      for (let round = 0; round < 12; round++) {
        for (const [nth, { app }] of clients.entries()) {
          await app.mutate.count({ id: 'all' });
          await app.mutate.put({ key: `row/${nth}/${round}`, value: { round } });
          if (round > 0) await app.mutate.del({ key: `row/${nth}/${round - 1}` });
          for (const work of [() => app.push(), () => app.pull()]) {
            await work().catch((cause) => offline.push(cause.code));
          }
        }
      }
      assert.ok(offline.length > 0);
      assert.deepEqual([...new Set(offline)], ['offline']);
      isFaulty = false;
      for (let round = 0; round < 2; round++) {
        for (const { app } of clients) {
          await app.push();
          await app.pull();
        }
      }
      const expected = [
        ['counter/all', { n: 36 }],
        ...[0, 1, 2].map((nth) => [`row/${nth}/11`, { round: 11 }]),
      ];
      for (const { db, app } of clients) {
        assert.deepEqual(await rowsOf(db), expected);
        assert.deepEqual(app.pending(), []);
        await db.close();
      }
      await server.stop();
      await made.drop();
    });
  });
}
