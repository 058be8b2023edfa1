// Malformed requests, values and tombstones, tokens, events, and servers that end, on each database.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CLEAR, onEachDatabase, put } from './each-database.mjs';
import { Client, post, startServer } from './servers.mjs';

onEachDatabase((world) => {
  const { client, newSpace } = world;

  test('malformed requests are refused with a code', async () => {
    const push = `${world.server.url}/push`;
    const refused = async (answer, status, error) => {
      const { status: got, body } = await answer;
      assert.deepEqual([got, body.error], [status, error]);
    };
    await refused(post(push, '{'), 400, 'invalid-json');
    await refused(post(push, '{}', { 'content-type': 'text/plain' }), 415, 'not-json');
    await refused(post(push, `"${'x'.repeat(16 * 2 ** 20)}"`), 413, 'body-too-large');
    await refused(post(`${world.server.url}/elsewhere`, '{}'), 404, 'not-found');
    await refused(post(`${push}?space=a/b`, '{}'), 400, 'invalid-space');
    for (const body of ['null', '[]', '1']) {
      await refused(post(push, body), 200, 'VersionNotSupported');
    }
    const who = client();
    for (const bad of [null, {}, 'x', [null], [{}], [{ ...who.mutation('put', {}, 1), id: 0 }]]) {
      await refused(who.send(bad), 400, 'invalid-request');
    }
    for (const id of [1.5, '1', 2 ** 53, -1]) {
      await refused(who.send([who.mutation('put', {}, id)]), 400, 'invalid-request');
    }
    for (const clientGroupID of [undefined, '', 'a\0', 'x'.repeat(129), 7]) {
      await refused(who.ask({ clientGroupID }), 400, 'invalid-request');
    }
  });

  test('any JSON comes back unchanged, with its members in their order', async () => {
    const who = client({ space: newSpace() });
    const values = [
      { z: 1, a: [null, true, 1e21, -0.1, 5e-324, 2 ** 70] },
      { text: '\0\u001f"\\\u2028é😀\ud800' },
      JSON.parse('{"__proto__": 1, "10": 1, "9": 2}'),
      '',
      null,
      0,
      'x'.repeat(1e6),
    ];
    for (const [i, value] of values.entries()) {
      assert.equal((await who.push('put', { key: `k${i}`, value })).status, 200);
    }
    const { patch } = await who.pull();
    const given = values.map((value, i) => put(`k${i}`, value));
    assert.equal(JSON.stringify(patch.slice(1)), JSON.stringify(given));
  });

  test('all rows come in the order of the bytes of their keys', async () => {
    const who = client({ space: newSpace() });
    const keys = ['Z', 'a', 'B', 'é', 'z', '\uffee', '😀', 'a b', 'a-b', 'a/b', '_', "'"];
    await who.send(keys.map((key) => who.mutation('put', { key, value: 1 })));
    const got = (await who.pull()).patch.slice(1).map(({ key }) => key);
    const sorted = keys.map((key) => Buffer.from(key)).sort(Buffer.compare);
    assert.deepEqual(got, sorted.map(String));
  });

  test('tombstones before the horizon can be forgotten', async () => {
    const space = newSpace();
    const [old, recent, writer] = [client({ space }), client({ space }), client({ space })];
    await writer.push('put', { key: 'gone', value: 1 });
    await writer.push('put', { key: 'kept', value: 1 });
    await old.pull();
    await writer.push('del', { key: 'gone' });
    await recent.pull();
    const horizon = recent.cookie.order;
    // As the README says.
    await world.database.query(
      `UPDATE hedgerow_space SET horizon = ${horizon} WHERE id = '${space}'`,
    );
    await world.database.query(
      `DELETE FROM hedgerow_row WHERE space = '${space}' AND value IS NULL AND version <= ${horizon}`,
    );
    await writer.push('put', { key: 'new', value: 1 });
    assert.deepEqual((await recent.pull()).patch, [put('new', 1)]);
    assert.deepEqual((await old.pull()).patch, [CLEAR, put('kept', 1), put('new', 1)]);
  });

  test('it requires a token, and pages of other origins may send it', async () => {
    const guarded = await startServer(world.database.args, { token: 'secret' });
    try {
      const who = new Client(guarded.url, 'client-of-token');
      assert.deepEqual((await who.ask()).status, 401);
      const url = `${guarded.url}/pull`;
      const body = { pullVersion: 1, schemaVersion: '', clientGroupID: 'g', cookie: null };
      assert.equal((await post(url, body, { authorization: 'Bearer wrong' })).status, 401);
      const right = await post(url, body, {
        authorization: 'Bearer secret',
        origin: 'https://app',
      });
      assert.equal(right.status, 200);
      assert.equal(right.headers.get('access-control-allow-origin'), '*');
      assert.equal((await fetch(`${guarded.url}/events`)).status, 401);
      const preflight = await fetch(url, { method: 'OPTIONS' });
      assert.equal(preflight.status, 204);
      const allowed = preflight.headers.get('access-control-allow-headers');
      for (const name of ['authorization', 'content-type', 'x-replicache-requestid']) {
        assert.ok(allowed.includes(name), name);
      }
    } finally {
      await guarded.stop();
    }
  });

  test('without a token it answers to its own address, and to no unnamed page', async () => {
    const { port } = new URL(world.server.url);
    const named = await startServer([
      ...world.database.args,
      '--origin',
      'https://a.example,https://b.example',
    ]);
    try {
      const status = async (url, headers) => {
        const of = (method, path) => statusOf(url, method, path, headers);
        const all = [
          await of('OPTIONS', '/push'),
          await of('POST', '/push'),
          await of('POST', '/pull'),
          await of('GET', '/events'),
        ];
        const [{ allowed }] = all;
        assert.ok(all.every((one) => one.allowed === allowed));
        return [all.map((one) => one.status).join(' '), allowed];
      };
      const [refused, answered] = ['403 403 403 403', '204 415 415 200'];
      const own = { host: `127.0.0.1:${port}` };
      assert.deepEqual(await status(world.server.url, {}), [answered, undefined]);
      for (const host of [own.host, `localhost:${port}`, '[::1]', 'LOCALHOST'])
        assert.deepEqual(await status(world.server.url, { host }), [answered, undefined]);
      for (const host of [
        'evil.example',
        `evil.example:${port}`,
        '127.0.0.1.evil.example',
        '10.0.0.1',
      ])
        assert.deepEqual(await status(world.server.url, { host }), [refused, undefined]);
      const origin = `http://${own.host}`;
      assert.deepEqual(await status(world.server.url, { ...own, origin }), [answered, undefined]);
      for (const origin of ['https://evil.example', 'http://localhost:5173', 'null'])
        for (const { url } of [world.server, named])
          assert.deepEqual(await status(url, { origin }), [refused, undefined]);
      for (const origin of ['https://a.example', 'https://b.example'])
        assert.deepEqual(await status(named.url, { origin }), [answered, origin]);
    } finally {
      await named.stop();
    }
  });

  test('events report commits, in this space alone', async () => {
    const space = newSpace();
    const events = await listenTo(`${world.server.url}/events?space=${space}`);
    const [who, other] = [client({ space }), client({ space: newSpace() })];
    await other.push('put', { key: 'k', value: 1 });
    await who.push('put', { key: 'k', value: 1 });
    assert.deepEqual(await events.next(), { version: 1 });
    await who.pull();
    assert.equal(who.cookie.order, 1);
    await who.send([who.mutation('put', { key: 'k', value: 2 }, 1)]); // Known, so there is no event.
    await who.send([who.mutation('put', { key: 'k', value: 2 }, 2)]);
    assert.deepEqual(await events.next(), { version: 2 });
    events.close();
  });

  test('a client that goes away in the middle of a pull releases its snapshot', async () => {
    const space = newSpace();
    const who = client({ space });
    await who.push('fill', { from: 0, to: 5000 });
    for (let i = 0; i < 40; i++) {
      const stop = new AbortController();
      const body = { pullVersion: 1, schemaVersion: '', clientGroupID: 'g', cookie: null };
      const response = await fetch(`${world.server.url}/pull?space=${space}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: stop.signal,
      });
      await response.body.getReader().read();
      stop.abort();
    }
    // More than the pool has connections: all of them came back.
    assert.equal((await who.pull()).patch.length, 5001);
    if (world.kind.name === 'Postgres') {
      const idle = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'`;
      for (let i = 0; i < 50 && (await world.database.query(idle))[0].n > 0; i++) await sleep(100);
      assert.equal((await world.database.query(idle))[0].n, 0);
    }
  });

  if (world.kind.name === 'Postgres') {
    test("a server hears of another one's commits", async () => {
      const space = newSpace();
      const second = await startServer(world.database.args);
      const events = await listenTo(`${second.url}/events?space=${space}`);
      await client({ space }).push('put', { key: 'k', value: 1 });
      assert.deepEqual(await events.next(), { version: 1 });
      events.close();
      await second.stop();
    });

    test('connections that break are made again, and events go on', async () => {
      const space = newSpace();
      const who = client({ space });
      await who.push('count', { id: 'x' });
      const events = await listenTo(`${world.server.url}/events?space=${space}`);
      await world.database.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()',
      );
      const mutation = who.mutation('count', { id: 'x' });
      // Each connection of the pool may fail a request before the pool knows that it is broken.
      for (let i = 0; (await who.send([mutation])).status !== 200; i++) {
        assert.ok(i < 200);
        await sleep(50);
      }
      assert.deepEqual((await who.pull()).patch, [CLEAR, put('counter/x', { n: 2 })]);
      const told = events.next();
      let isOver = false;
      const end = () => {
        isOver = true;
      };
      told.then(end, end);
      // The server listens again a second later, or as soon as it can.
      for (let i = 0; !isOver; i++) {
        assert.ok(i < 600, 'no event comes');
        await who.push('count', { id: 'x' });
        await sleep(100);
      }
      assert.ok((await told).version > 2);
      events.close();
    });
  }

  test('a restarted server goes on', async () => {
    const space = newSpace();
    const who = client({ space });
    await who.push('put', { key: 'k', value: 1 });
    await who.pull();
    await world.server.stop();
    world.server = await startServer(world.database.args);
    who.url = world.server.url;
    await who.push('put', { key: 'k', value: 2 });
    assert.deepEqual((await who.pull()).patch, [put('k', 2)]);
  });
});

/**
 * Returns the status of a request with headers that `fetch` does not let a program set, and the origin that may read
 * the answer.
 */
async function statusOf(url, method, path, headers) {
  const asked = request(new URL(path, url), { method, headers, agent: false });
  asked.end();
  const [response] = await once(asked, 'response');
  // A stream of events has no end.
  response.destroy();
  return {
    status: response.statusCode,
    allowed: response.headers['access-control-allow-origin'],
  };
}

/** Yields the events of a stream, one by one. */
async function listenTo(url) {
  const stop = new AbortController();
  const response = await fetch(url, { signal: stop.signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = (await reader.read()).value;
  async function next() {
    for (;;) {
      const [found, data] = /^data: (.*)\n\n/m.exec(text) ?? [];
      if (found !== undefined) {
        text = text.slice(text.indexOf(found) + found.length);
        return JSON.parse(data);
      }
      const { value, done } = await reader.read();
      if (done) throw new Error('the stream has ended');
      text += value;
    }
  }
  return { next, close: () => stop.abort() };
}
