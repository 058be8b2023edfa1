// Hedgerow's own client, `mutators` of `hedgerow/sync`, against the server: calls queued offline take effect once, also when
// answers get lost and requests come twice, and all clients end equal to the rows of the database.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { memory, open } from '../../../js/hedgerow/dist/index.js';
import { mutators } from '../../../js/hedgerow/dist/sync/index.js';
import { mutators as issues } from '../mutators.mjs';
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
  // The server's mutators, without its rules.
  async createIssue(tx, { id, title }) {
    tx.put(`issue/${id}`, { id, title, status: 'open', edits: 0 });
  },
  closeIssue: (tx, args) =>
    issues.closeIssue({ get: (key) => tx.get(key), set: (key, value) => tx.put(key, value) }, args),
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
    if (now === 0) throw new TypeError('fetch failed: the request is lost');
    const answer = await go();
    if (now === 1) throw new TypeError('fetch failed: the answer is lost');
    return now === 2 ? go() : answer;
  };
  const db = await open('app', { storage: memory() });
  const app = await db.connect(
    mutators({ mutators: ours, pull: send('/pull'), push: send('/push') }),
  );
  const rejected = () =>
    app.state.rejected.map(({ name, why, error }) => [name, why, error.message]);
  return { db, app, rejected };
}

for (const database of DATABASES) {
  describe(database.name, () => {
    before(() => database.start());
    after(() => database.stop());

    test('a call that the server refuses is reported with its reason, and an overtaken one is not sent', async () => {
      const made = await database.create();
      const server = await startServer(made.args);
      const [one, other] = [
        await client(server.url, () => false),
        await client(server.url, () => false),
      ];
      await one.app.mutate.createIssue({ id: 'a', title: 'The a' });
      await one.app.mutate.createIssue({ id: 'b', title: '' });
      await one.app.push();
      await one.app.pull();
      const why = 'a title has 1 to 200 characters';
      const refusal = ['createIssue', why, `the server refuses createIssue: ${why}`];
      assert.deepEqual(one.rejected(), [refusal]);
      await other.app.pull();
      await other.app.mutate.closeIssue({ id: 'a' });
      await one.app.mutate.del({ key: 'issue/a' });
      await one.app.push();
      other.app.start({ pauseMs: 0 });
      while (other.app.state.status !== 'synced')
        await new Promise((later) => setTimeout(later, 5));
      const overtaken = ['closeIssue', undefined, 'there is no such issue'];
      assert.deepEqual([other.rejected(), other.app.calls()], [[overtaken], []]);
      await one.app.pull();
      const effects = await made.query('SELECT name FROM audit ORDER BY at');
      assert.deepEqual(
        effects.map(({ name }) => name),
        ['createIssue', 'del'],
      );
      assert.deepEqual(one.rejected(), [refusal]);
      for (const { db } of [one, other]) await db.close();
      await server.stop();
      await made.drop();
    });

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
        assert.deepEqual(app.calls(), []);
        await db.close();
      }
      await server.stop();
      await made.drop();
    });
  });
}
