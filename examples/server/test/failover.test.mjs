// A database that comes back without its last second, as after a failover to a replica that was behind, or from a
// backup. However much other clients write first, a client that has seen a lost row hears of it, and ends at the rows
// of the server.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memory, open } from '../../../js/hedgerow/dist/index.js';
import { mutators } from '../../../js/hedgerow/dist/sync/index.js';
import { CLEAR, onEachDatabase, put } from './each-database.mjs';

const TABLES = ['space', 'stamp', 'client', 'refusal', 'row'].map((name) => `hedgerow_${name}`);
const LOST = { error: 'ClientStateNotFound' };

onEachDatabase((world) => {
  const { client, newSpace } = world;
  const query = (sql) => world.database.query(sql);

  /** Keeps the state of all spaces; returns a function that restores it. */
  async function kept() {
    for (const table of TABLES) {
      await query(`DROP TABLE IF EXISTS kept_${table}`);
      await query(`CREATE TABLE kept_${table} AS SELECT * FROM ${table}`);
    }
    return async () => {
      for (const table of TABLES) {
        await query(`DELETE FROM ${table}`);
        await query(`INSERT INTO ${table} SELECT * FROM kept_${table}`);
      }
    };
  }

  const one = (n) => ({ key: `k${n}`, value: n });

  for (const [lost, more] of [
    [3, 0],
    [3, 1],
    [3, 2],
    [3, 3],
    [3, 5],
    [1, 1],
  ]) {
    test(`a client hears by its pull that ${lost} commits are lost, after ${more} others`, async () => {
      const space = newSpace();
      const [who, other] = [client({ space }), client({ space })];
      await other.push('put', one(0));
      await who.push('put', one(1));
      await other.pull();
      await who.pull();
      const fallBack = await kept();
      for (let n = 0; n < lost; n++) await who.push('put', { key: `lost${n}`, value: n });
      await who.pull();
      await fallBack();
      for (let n = 0; n < more; n++)
        assert.equal((await other.push('put', one(2 + n))).status, 200);
      assert.deepEqual((await who.ask()).body, LOST);
      // The number of its next mutation is too high, too.
      assert.deepEqual((await who.push('put', one(9))).body, LOST);
      // A client that has seen none of the lost rows goes on.
      const { patch } = await other.pull();
      assert.deepEqual(
        patch,
        Array.from({ length: more }, (_, n) => put(`k${2 + n}`, 2 + n)),
      );
      who.cookie = null;
      assert.deepEqual((await who.pull()).patch.slice(0, 3), [CLEAR, put('k0', 0), put('k1', 1)]);
    });
  }

  test('a pushed mutation that no pull has returned is sent again, and takes effect once', async () => {
    const space = newSpace();
    const who = client({ space });
    await who.push('count', { id: 'x' });
    await who.pull();
    const fallBack = await kept();
    const waiting = [who.mutation('count', { id: 'x' })];
    await who.send(waiting);
    await fallBack();
    waiting.push(who.mutation('count', { id: 'x' }));
    assert.deepEqual((await who.send(waiting)).body, {});
    assert.deepEqual((await who.pull()).patch, [put('counter/x', { n: 3 })]);
  });

  test('stamps before the horizon can be forgotten', async () => {
    const space = newSpace();
    const [old, who] = [client({ space }), client({ space })];
    await who.push('put', one(1));
    await old.pull();
    await who.push('put', one(2));
    await who.pull();
    const horizon = who.cookie.order;
    // As the README says.
    await query(`UPDATE hedgerow_space SET horizon = ${horizon} WHERE id = '${space}'`);
    await query(`DELETE FROM hedgerow_stamp WHERE space = '${space}' AND version < ${horizon}`);
    assert.deepEqual((await who.pull()).patch, []);
    assert.deepEqual((await old.pull()).patch, [CLEAR, put('k1', 1), put('k2', 2)]);
  });

  for (const more of [0, 2, 5]) {
    test(`stores end at the rows of the server, after ${more} commits of others, with all waiting calls`, async () => {
      const at = `?space=${newSpace()}`;
      const put = (tx, { key, value }) => tx.put(key, value);
      const device = async () => {
        const db = await open('app', { storage: memory() });
        const [pull, push] = ['pull', 'push'].map((name) => ({
          url: `${world.server.url}/${name}${at}`,
        }));
        const resets = [];
        const onReset = (calls) => resets.push(calls);
        return {
          db,
          resets,
          app: await db.connect(mutators({ mutators: { put }, pull, push, onReset })),
        };
      };
      const sync = async ({ app }) => {
        await app.push();
        await app.pull();
      };
      const [a, b] = [await device(), await device()];
      for (const [n, one] of [a, b, a].entries()) {
        await one.app.mutate.put({ key: `before/${n}`, value: n });
        await sync(one);
      }
      const fallBack = await kept();
      for (let n = 0; n < 3; n++) {
        await a.app.mutate.put({ key: `lost/${n}`, value: n });
        await sync(a);
      }
      await fallBack();
      for (let n = 0; n < more; n++) {
        await b.app.mutate.put({ key: `others/${n}`, value: n });
        await sync(b);
      }
      await a.app.mutate.put({ key: 'waiting', value: 1 });
      for (const one of [a, a, b]) await sync(one);
      const keys = async ({ db }) => (await db.scan().toArray()).map(([key]) => key);
      const others = Array.from({ length: more }, (_, n) => `others/${n}`);
      const expected = ['before/0', 'before/1', 'before/2', ...others, 'waiting'];
      assert.deepEqual([await keys(a), await keys(b)], [expected, expected]);
      assert.deepEqual([a.app.calls(), a.resets.length, b.resets.length], [[], 1, 0]);
      for (const { db } of [a, b]) await db.close();
    });
  }
});
