// The npm package `replicache` against the server, by seeds: clients that are offline at times, requests and answers
// that get lost, come twice or are cut off, and a server that is killed. All clients end equal to the rows of the
// database, and each mutation took effect once, though pulls report refusals, which Replicache does not know. `SEED=n`
// runs one seed, `SEEDS=n` the seeds from 1 to n.

import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Replicache } from 'replicache';
import { mutators as issues, Rejected } from '../mutators.mjs';
import { DATABASES, startServer } from './servers.mjs';

const { SEED, SEEDS = '3' } = process.env;
const seeds = SEED ? [Number(SEED)] : Array.from({ length: Number(SEEDS) }, (_, i) => i + 1);
// Replicache waits on one signal at many places, and Node would warn of it.
EventEmitter.defaultMaxListeners = 100;
const STEPS = 120;
const CLIENTS = ['ann', 'ben', 'ben', 'cem']; // The two of one name share a client group.

/** Returns a source of numbers from 0 to 1 from a seed (mulberry32). */
function randomOf(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The clients' mutators: the server's, and a count that no rule rejects. A rule's no is not an error here. */
const clientMutators = Object.fromEntries(
  Object.entries({
    ...issues,
    async count(tx, { id }) {
      const { n } = (await tx.get(`counter/${id}`)) ?? { n: 0 };
      await tx.set(`counter/${id}`, { n: n + 1 });
    },
  }).map(([name, mutator]) => [
    name,
    async (tx, args) => {
      try {
        await mutator(tx, args);
      } catch (error) {
        if (!(error instanceof Rejected)) throw error;
      }
    },
  ]),
);

/** A network between the clients and the server. Replicache's own pusher and puller call `fetch`. */
class Network {
  faults = { offline: 0, lostRequest: 0, lostAnswer: 0, twice: 0, cut: 0 };
  isFaulty = true;
  offline = new Set();
  #fetch = globalThis.fetch;

  constructor(random) {
    this.random = random;
    globalThis.fetch = (input) => this.#send(input);
  }
  restore() {
    globalThis.fetch = this.#fetch;
  }
  #lose(kind) {
    this.faults[kind] += 1;
    throw new TypeError(`network: ${kind}`);
  }
  async #send(request) {
    const url = new URL(request.url);
    const name = url.searchParams.get('client');
    const body = await request.text();
    const headers = Object.fromEntries(request.headers);
    // The server may have come back at another port.
    const go = () =>
      this.#fetch(`${this.server.url}${url.pathname}`, { method: 'POST', headers, body });
    if (this.offline.has(name)) this.#lose('offline');
    if (!this.isFaulty) return go();
    const dice = this.random();
    await sleep(this.random() * 5);
    if (dice < 0.1) this.#lose('lostRequest');
    if (dice < 0.2) {
      this.faults.twice += 1;
      // The first of them may take effect after the second.
      go()
        .then((response) => response.text())
        .catch(() => {});
    }
    const response = await go();
    if (dice >= 0.2 && dice < 0.35) {
      await response.text();
      this.#lose('lostAnswer');
    }
    if (dice >= 0.35 && dice < 0.4 && url.pathname === '/pull') {
      this.faults.cut += 1;
      const text = await response.text();
      return new Response(text.slice(0, Math.floor(text.length * this.random())), response);
    }
    return response;
  }
}

const rowsOf = (rep) => rep.query((tx) => tx.scan().entries().toArray());

async function serverRows(database) {
  const rows = await database.query('SELECT key, value FROM hedgerow_row WHERE value IS NOT NULL');
  const entries = rows.map(({ key, value }) => [key, JSON.parse(value)]);
  return entries.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Replays the noted effects, one after the other, on a map. */
async function replay(effects) {
  const rows = new Map();
  const tx = {
    get: async (key) => structuredClone(rows.get(key)),
    has: async (key) => rows.has(key),
    set: async (key, value) => void rows.set(key, value),
    del: async (key) => rows.delete(key),
  };
  const own = { ...clientMutators, ...issues };
  for (const { name, args } of effects) await own[name](tx, JSON.parse(args));
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1));
}

async function until(what, isTrue) {
  const end = Date.now() + 60_000;
  while (!(await isTrue())) {
    if (Date.now() > end) throw new Error(`in vain: ${what()}`);
    await sleep(20);
  }
}

async function run(seed, database) {
  const random = randomOf(seed);
  const pick = (list) => list[Math.floor(random() * list.length)];
  // With its own numbers, since the number of requests depends on time: the steps of a seed are always the same.
  const network = new Network(randomOf(seed + 1_000_000));
  network.server = await startServer(database.args);
  const clients = CLIENTS.map((name, i) => {
    const at = (path) => `http://replicache.test/${path}?client=${i}`;
    return new Replicache({
      name: `${name}-${seed}-${database.args[1]}`,
      kvStore: 'mem',
      logLevel: 'error',
      logSinks: [{ log: () => {} }],
      mutators: clientMutators,
      pushURL: at('push'),
      pullURL: at('pull'),
      pullInterval: null,
      pushDelay: 2,
      requestOptions: { minDelayMs: 5, maxDelayMs: 40 },
    });
  });
  for (const rep of clients) {
    rep.onClientStateNotFound = () => assert.fail('the server has lost a client');
    rep.onUpdateNeeded = () => assert.fail('the server refuses a version');
  }
  const made = new Map(clients.map(({ clientID }) => [clientID, []]));
  let kills = 0;
  try {
    for (let step = 0; step < STEPS; step++) {
      const i = Math.floor(random() * clients.length);
      const rep = clients[i];
      const dice = random();
      if (dice < 0.08) network.offline.add(String(i));
      else if (dice < 0.18) network.offline.delete(String(i));
      else if (dice < 0.2) {
        kills += 1;
        await network.server.stop('SIGKILL');
        network.server = await startServer(database.args);
      } else if (dice < 0.3) rep.pull().catch(() => {});
      else {
        const id = `i${Math.floor(random() * 6)}`;
        const names = [
          'count',
          'count',
          'createIssue',
          'updateIssue',
          'updateIssue',
          'closeIssue',
          'deleteIssue',
        ];
        const name = pick(names);
        const args = name === 'count' ? { id: pick(['x', 'y']) } : { id, title: `${name} ${step}` };
        await rep.mutate[name](args);
        made.get(rep.clientID).push(name);
      }
      if (random() < 0.3) await sleep(random() * 30);
    }
    network.isFaulty = false;
    network.offline.clear();
    const pending = () => Promise.all(clients.map((rep) => rep.experimentalPendingMutations()));
    let last = '';
    await until(
      () => `seed ${seed}: ${last}`,
      async () => {
        await Promise.all(clients.map((rep) => rep.push({ now: true }).catch(() => {})));
        await Promise.all(clients.map((rep) => rep.pull({ now: true }).catch(() => {})));
        const counts = (await pending()).map(({ length }) => length);
        const all = await Promise.all(clients.map(rowsOf));
        const expected = JSON.stringify(await serverRows(database));
        last = `pending ${counts}; ${expected} and ${JSON.stringify(all)}`;
        return counts.every((n) => n === 0) && all.every((rows) => same(rows, expected));
      },
    );
    return { made, kills, faults: network.faults };
  } finally {
    network.restore();
    await Promise.all(clients.map((rep) => rep.close()));
    await network.server.stop();
  }
}

/** Members of objects in one order: Replicache keeps no order of its own. */
const same = (rows, expected) => {
  try {
    assert.deepEqual(rows, JSON.parse(expected));
    return true;
  } catch {
    return false;
  }
};

for (const kind of DATABASES) {
  describe(`Replicache, ${kind.name}`, () => {
    before(() => kind.start());
    after(kind.stop);
    for (const seed of seeds) {
      test(`clients end equal to the server, and each mutation counts once (SEED=${seed})`, async () => {
        const database = await kind.create();
        try {
          const { made, kills, faults } = await run(seed, database);
          const effects = await database.query(
            'SELECT client, mutation, name, args FROM audit ORDER BY at',
          );
          const ids = effects.map(({ client, mutation }) => `${client} ${mutation}`);
          assert.equal(new Set(ids).size, ids.length, `seed ${seed}: a mutation has two effects`);
          // No rule rejects a count, so each one has its effect.
          for (const [clientID, names] of made) {
            const counted = effects.filter(
              ({ client, name }) => client === clientID && name === 'count',
            );
            const expected = names.flatMap((name, i) => (name === 'count' ? [i + 1] : []));
            assert.deepEqual(
              counted.map(({ mutation }) => Number(mutation)),
              expected,
            );
          }
          const clients = await database.query('SELECT id, last_mutation_id FROM hedgerow_client');
          const acknowledged = new Map(
            clients.map((row) => [row.id, Number(row.last_mutation_id)]),
          );
          for (const [clientID, names] of made)
            assert.equal(acknowledged.get(clientID) ?? 0, names.length);
          assert.deepEqual(await serverRows(database), await replay(effects));
          assert.ok(faults.lostAnswer + faults.twice > 0, 'nothing was sent again');
          const total = [...made.values()].flat().length;
          console.log(
            `seed ${seed}: ${total} mutations, ${effects.length} effects, ${kills} kills, ${JSON.stringify(faults)}`,
          );
        } finally {
          await database.drop();
        }
      });
    }
  });
}
