// Push and pull by plain requests, on each database.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLEAR, del, onEachDatabase, put } from './each-database.mjs';
import { Client } from './servers.mjs';

const issue = (id, more = {}) =>
  put(`issue/${id}`, { id, title: `The ${id}`, status: 'open', edits: 0, ...more });

onEachDatabase((world) => {
  const { audit, client, newSpace } = world;

  test("one client pulls another's pushes, at first all of them and then the changes", async () => {
    const space = newSpace();
    const [a, b] = [client({ space }), client({ space })];
    assert.deepEqual((await b.pull()).patch, [CLEAR]);
    const answer = await a.push('createIssue', { id: 'gate', title: 'The gate' });
    assert.deepEqual([answer.status, answer.body], [200, {}]);
    assert.deepEqual(await b.pull(), {
      cookie: b.cookie,
      lastMutationIDChanges: {},
      refused: [],
      patch: [issue('gate')],
    });
    assert.deepEqual((await a.pull()).lastMutationIDChanges, { [a.clientID]: 1 });
    await a.push('createIssue', { id: 'hedge', title: 'The hedge' });
    await a.push('deleteIssue', { id: 'gate' });
    assert.deepEqual(await a.pull(), {
      cookie: a.cookie,
      lastMutationIDChanges: { [a.clientID]: 3 },
      refused: [],
      patch: [issue('hedge'), del('issue/gate')],
    });
    assert.deepEqual((await b.pull()).patch, [issue('hedge'), del('issue/gate')]);
    // No news: the same cookie, and an empty patch.
    const { cookie } = b;
    assert.deepEqual(await b.pull(), { cookie, lastMutationIDChanges: {}, refused: [], patch: [] });
    assert.deepEqual((await client({ space }).pull()).patch, [CLEAR, issue('hedge')]);
  });

  test('a row that was deleted and made again is one put', async () => {
    const who = client({ space: newSpace() });
    await who.push('put', { key: 'k', value: 1 });
    await who.pull();
    await who.push('del', { key: 'k' });
    await who.push('put', { key: 'k', value: 2 });
    assert.deepEqual((await who.pull()).patch, [put('k', 2)]);
  });

  test('a mutation that is sent again, at once or later, has one effect', async () => {
    const who = client({ space: newSpace() });
    const mutations = Array.from({ length: 250 }, () => who.mutation('count', { id: 'x' }));
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, i) => who.send(mutations.slice(0, 100 + 30 * i))),
    );
    answers.push(await who.send(mutations));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    const { patch, lastMutationIDChanges } = await who.pull();
    assert.deepEqual(patch, [CLEAR, put('counter/x', { n: 250 })]);
    assert.deepEqual(lastMutationIDChanges, { [who.clientID]: 250 });
    assert.equal((await audit(who)).length, 250);
  });

  test('many clients at once: each mutation once, and versions only rise', async () => {
    const space = newSpace();
    const all = Array.from({ length: 8 }, () => client({ space }));
    const reader = client({ space });
    await reader.pull();
    let isDone = false;
    const work = Promise.all(
      all.map(async (who) => {
        for (let i = 0; i < 25; i++)
          assert.equal((await who.push('count', { id: 'x' })).status, 200);
      }),
    ).finally(() => {
      isDone = true;
    });
    let n = 0;
    while (n < 200) {
      const wasDone = isDone; // Before the pull: what it misses may be committed while it runs.
      const { order } = reader.cookie;
      const { patch } = await reader.pull();
      assert.ok(reader.cookie.order >= order);
      if (patch.length > 0) {
        assert.ok(patch[0].value.n > n, 'what was seen is seen again');
        n = patch[0].value.n;
      } else if (wasDone) break;
    }
    await work;
    assert.equal(n, 200);
  });

  test('a pull is one state, though others write while it is streamed', async () => {
    const space = newSpace();
    const [writer, reader] = [client({ space }), client({ space })];
    await writer.push('both', { n: 0 });
    await writer.push('fill', { from: 0, to: 4500 });
    let isDone = false;
    const work = (async () => {
      for (let n = 1; !isDone; n++) assert.equal((await writer.push('both', { n })).status, 200);
    })();
    const seen = new Set();
    for (let i = 0; i < 15; i++) {
      const { body } = await reader.ask();
      assert.equal(body.patch.length, 4503);
      const [first, last] = [body.patch[1], body.patch.at(-1)];
      assert.deepEqual([first.key, last.key], ['a/first', 'z/last']);
      assert.deepEqual(first.value, last.value);
      seen.add(first.value.n);
    }
    isDone = true;
    await work;
    assert.ok(seen.size > 3, `only ${seen.size} states were seen`);
  });

  test('more changes than a page come whole, from one version and from many', async () => {
    const who = client({ space: newSpace() });
    await who.push('put', { key: 'before', value: 1 });
    await who.pull();
    await who.push('fill', { from: 0, to: 2500 });
    await who.push('put', { key: 'a', value: 1 });
    await who.push('fill', { from: 2500, to: 3000 });
    const { patch } = await who.pull();
    assert.equal(patch.length, 3001);
    assert.equal(new Set(patch.map(({ key }) => key)).size, 3001);
    assert.ok(patch.every(({ op, key }) => op === 'put' && key !== 'before'));
  });

  test('a refused mutation is acknowledged, without any effect, and reported once', async () => {
    const space = newSpace();
    const who = client({ space });
    await who.push('both', { n: 1 });
    await who.push('createIssue', { id: 'i', title: 'The i' });
    await who.push('closeIssue', { id: 'i' });
    await who.pull();
    const answer = await who.send([
      who.mutation('updateIssue', { id: 'i', title: 'late' }),
      who.mutation('halfThenReject', { key: 'half' }),
      who.mutation('createIssue', null),
      who.mutation('createIssue', undefined),
      who.mutation('createIssue', { id: 5, title: 'x' }),
      who.mutation('createIssue', { id: '\ud800', title: 'x' }),
      who.mutation('put', { key: '\ud800', value: 1 }),
      who.mutation('put', { key: 'k'.repeat(1025), value: 1 }),
      who.mutation('put', { key: '', value: 1 }),
      who.mutation('put', { key: 'no value' }),
      who.mutation('put', { key: 'last', value: 1 }),
    ]);
    assert.equal(answer.status, 200);
    const { patch, lastMutationIDChanges, refused } = await who.pull();
    assert.deepEqual(patch, [put('last', 1)]);
    assert.deepEqual(lastMutationIDChanges, { [who.clientID]: 14 });
    const { clientID } = who;
    refused.sort((one, other) => one.id - other.id);
    assert.deepEqual(
      refused.map(({ id }) => id),
      Array.from({ length: 10 }, (_, nth) => nth + 4),
    );
    const why = 'a closed issue is not edited';
    assert.deepEqual(refused[0], { clientID, id: 4, why });
    assert.deepEqual((await who.pull()).refused, []);
    assert.deepEqual((await client({ space }).pull()).refused, []);
    const names = (await audit(who)).map(({ name }) => name);
    assert.deepEqual(names, ['both', 'createIssue', 'closeIssue', 'put']);
  });

  test('keys of several members, which have U+0000 between them, are kept, and come in their order', async () => {
    const space = newSpace();
    const who = client({ space });
    const keys = [
      'a',
      'a\0',
      'a\0\0',
      'a\0b',
      'a\x01',
      'a\x01\x01',
      'a\x01\x02',
      'a\x02',
      'b\0\x01',
    ];
    await who.send(keys.toReversed().map((key, n) => who.mutation('put', { key, value: n })));
    const { patch } = await client({ space }).pull();
    assert.deepEqual(
      patch.filter(({ op }) => op === 'put').map(({ key }) => key),
      keys,
    );
    await who.push('del', { key: 'a\0b' });
    await who.pull();
    await who.push('put', { key: 'a\0', value: 'new' });
    const news = (await who.pull()).patch;
    assert.deepEqual(news, [put('a\0', 'new')]);
  });

  test('an error without a rule writes no row, and the mutation takes effect when it is sent again', async () => {
    const space = newSpace();
    const [who, other] = [client({ space }), client({ space })];
    await other.push('put', { key: 'broken', value: true });
    const mutations = [
      who.mutation('put', { key: 'before', value: 1 }),
      who.mutation('fragile', { key: 'f' }),
      who.mutation('put', { key: 'after', value: 1 }),
    ];
    const answer = await who.send(mutations);
    assert.deepEqual([answer.status, answer.body], [503, { error: 'failed' }]);
    const first = await who.pull();
    assert.deepEqual(first.patch, [CLEAR, put('before', 1), put('broken', true)]);
    assert.deepEqual(first.lastMutationIDChanges, { [who.clientID]: 1 });
    await other.push('del', { key: 'broken' });
    assert.equal((await who.send(mutations)).status, 200);
    const second = await who.pull();
    assert.deepEqual(second.patch, [del('broken'), put('after', 1), put('f', 'whole')]);
    assert.deepEqual(second.lastMutationIDChanges, { [who.clientID]: 3 });
  });

  test('a statement of a mutator that fails undoes that mutation alone', async () => {
    const who = client({ space: newSpace() });
    const [one, two] = [
      who.mutation('put', { key: 'one', value: 1 }),
      who.mutation('brokenSql', {}),
    ];
    assert.equal((await who.send([one, two])).status, 503);
    const { patch, lastMutationIDChanges } = await who.pull();
    assert.deepEqual(
      [patch, lastMutationIDChanges],
      [[CLEAR, put('one', 1)], { [who.clientID]: 1 }],
    );
  });

  test('a gap is refused, and the mutations before it stay', async () => {
    const who = client({ space: newSpace() });
    const [one, , three] = ['a', 'b', 'c'].map((key) => who.mutation('put', { key, value: 1 }));
    const answer = await who.send([one, three]);
    const { clientID } = who;
    const gap = { error: 'mutation-gap', clientID, expected: 2, id: 3 };
    assert.deepEqual([answer.status, answer.body], [409, gap]);
    const { patch, lastMutationIDChanges } = await who.pull();
    assert.deepEqual([patch, lastMutationIDChanges], [[CLEAR, put('a', 1)], { [clientID]: 1 }]);
  });

  test('a client that is no longer known gets an error', async () => {
    const space = newSpace();
    const who = client({ space });
    const lost = { error: 'ClientStateNotFound' };
    const { status, body } = await who.send([who.mutation('put', { key: 'k', value: 1 }, 7)]);
    assert.deepEqual([status, body], [200, lost]);
    await client({ space }).push('put', { key: 'k', value: 1 });
    await who.pull();
    const { order, stamp } = who.cookie;
    for (const cookie of [
      { order, stamp: 'another' },
      { order: order + 1, stamp },
      { order },
      { order, stamp: [stamp] },
      order,
      'x',
      {},
    ]) {
      assert.deepEqual((await who.ask({ cookie })).body, lost, JSON.stringify(cookie));
    }
    for (const bad of [1.5, '1', null, -1e300]) {
      assert.deepEqual((await who.ask({ cookie: { order: bad, stamp } })).body, lost);
    }
  });

  test('a client belongs to its group, and spaces are separate', async () => {
    const [space, otherSpace] = [newSpace(), newSpace()];
    const who = client({ space });
    await who.push('put', { key: 'k', value: 1 });
    const thief = new Client(world.server.url, who.clientID, { space, group: 'another' });
    thief.next = 2;
    const { status, body } = await thief.push('put', { key: 'k', value: 2 });
    assert.deepEqual([status, body], [403, { error: 'wrong-client-group' }]);
    assert.deepEqual((await thief.pull()).lastMutationIDChanges, {});
    const other = client({ space: otherSpace });
    assert.deepEqual((await other.pull()).patch, [CLEAR]);
    assert.deepEqual((await other.ask({ cookie: who.cookie })).body.patch, [CLEAR]);
    who.space = otherSpace;
    assert.deepEqual(
      (await who.push('put', { key: 'k', value: 2 })).body.error,
      'ClientStateNotFound',
    );
  });

  test('an unknown version is an error that names it', async () => {
    const who = client();
    const refused = (versionType) => ({ error: 'VersionNotSupported', versionType });
    assert.deepEqual((await who.ask({ pullVersion: 0 })).body, refused('pull'));
    assert.deepEqual((await who.ask({ schemaVersion: '9' })).body, refused('schema'));
    assert.deepEqual((await who.send([], { pushVersion: 0 })).body, refused('push'));
    assert.deepEqual((await who.send([], { schemaVersion: '9' })).body, refused('schema'));
  });

  test('a mutator that the server does not have yet keeps the mutation at the client', async () => {
    const who = client({ space: newSpace() });
    for (const name of ['inventedLater', 'toString', '__proto__']) {
      const { status, body } = await who.send([who.mutation(name, {}, 1)]);
      assert.deepEqual([status, body], [501, { error: 'unknown-mutator', name }]);
    }
    assert.deepEqual((await who.pull()).lastMutationIDChanges, {});
  });
});
