/**
 * Devices with tabs and one server, over a network that loses requests and answers, sends requests twice and late, by a
 * seed. A tab crashes at any write of its storage. The server refuses some calls, does not know the names of others, and
 * forgets its clients now and then. When the faults end: each call that was accepted here took effect at the server
 * exactly once, or was refused there; every device has the server's rows, and an empty queue.
 */
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import { turn } from '../src/base/scheduler.js';
import { HedgerowError, memory, open, type Storage, type Store } from '../src/index.js';
import {
  mutators,
  type PullRequest,
  type PushRequest,
  type SentCall,
  type ServerLink,
} from '../src/mutators/index.js';
import type { Transaction } from '../src/transaction/transaction.js';
import { json, ServerDouble } from './mutators-server.js';
import { type BeginStep, forSeeds, seedCount, seedsTo } from './property.js';
import type { Random } from './random.js';

/** Within so many turns of the event loop a tab hears of a commit of another one. */
const MAX_TURNS = 1000;

const totals = {
  ...{ calls: 0, refused: 0, unknown: 0, rejected: 0, dropped: 0, resets: 0, told: 0, twice: 0 },
  ...{ crashes: 0, lostRequests: 0, lostAnswers: 0, duplicates: 0, late: 0, failures: 0 },
};

interface Args {
  /** Of the call, in the whole simulation. */
  readonly call: number;
  readonly key: string;
}

type Row = { readonly calls: readonly number[] };

const mine = {
  /** Adds the call to a row: what took effect twice, or not in order, shows. */
  async append(tx: Transaction, { call, key }: Args) {
    const row = (await tx.get<Row>(key)) ?? { calls: [] };
    tx.put(key, { calls: [...row.calls, call] });
  },
  async remove(tx: Transaction, { key }: Args) {
    if ((await tx.get(key)) === undefined) throw new Error('nothing to remove');
    tx.delete(key);
  },
  async count(tx: Transaction, { key }: Args) {
    let rows = 0;
    for await (const _ of tx.scan({ prefix: 'k' })) rows += 1;
    tx.put(`n${key}`, rows);
  },
  /** The server refuses it, or does not know it. */
  refused(tx: Transaction, { call }: Args) {
    tx.put(`r${call}`, true);
  },
  unknown(tx: Transaction, { call }: Args) {
    tx.put(`u${call}`, true);
  },
};

const theirs = {
  append(rows: Map<string, unknown>, { call, key }: Args) {
    rows.set(key, { calls: [...((rows.get(key) as Row | undefined)?.calls ?? []), call] });
  },
  remove(rows: Map<string, unknown>, { key }: Args) {
    if (!rows.delete(key)) throw new Error('nothing to remove');
  },
  count(rows: Map<string, unknown>, { key }: Args) {
    rows.set(`n${key}`, [...rows.keys()].filter((one) => one.startsWith('k')).length);
  },
  refused() {
    throw new Error('refused');
  },
};

/** A disk that several tabs share. Each tab may crash at a write. */
class Disk {
  readonly #inner = memory();

  tab(): { readonly storage: Storage; left: number } {
    const inner = this.#inner;
    const tab = { left: Number.POSITIVE_INFINITY, storage: inner };
    tab.storage = {
      ...inner,
      open: async (...call) => {
        const opened = await inner.open(...call);
        const { write } = opened;
        opened.write = async (batch) => {
          if (tab.left-- <= 0) throw new HedgerowError('disconnected', 'the tab has crashed');
          return write.call(opened, batch);
        };
        return opened;
      },
    };
    return tab;
  }
}

type App = ServerLink<typeof mine>;

class Network {
  readonly #server: ServerDouble;
  readonly #from: Random;
  chance: number;
  readonly #late: { readonly calls: readonly SentCall[]; arrive(): object }[] = [];

  constructor(server: ServerDouble, from: Random, chance: number) {
    this.#server = server;
    this.#from = from;
    this.chance = chance;
  }

  #has(): boolean {
    return this.#from.next() < this.chance;
  }

  push(request: PushRequest): Response {
    return this.#send(() => this.#server.push(request), request.mutations);
  }

  pull(request: PullRequest): Response {
    return this.#send(() => this.#server.pull(request));
  }

  /** Only a push has calls: it may arrive twice, or late. */
  #send(arrive: () => object, calls?: readonly SentCall[]): Response {
    if (this.#has()) {
      totals.lostRequests += 1;
      // Nobody hears of it, and it may arrive when others have come.
      if (calls && this.#from.below(2) === 0) {
        totals.late += 1;
        this.#late.push({ calls, arrive });
      }
      throw new TypeError('lost');
    }
    const answer = arrive();
    if (calls && this.#has()) {
      totals.duplicates += 1;
      arrive();
    }
    if (this.#has()) {
      totals.lostAnswers += 1;
      throw new TypeError('the answer is lost');
    }
    if (this.#has()) return json({ message: 'busy' }, this.#from.pick([409, 500, 503]));
    return json(answer);
  }

  /** What was delayed for a server of before never arrives. */
  forget(): void {
    this.#late.length = 0;
  }

  /** What was delayed arrives, in any order. Returns its calls. */
  deliver(): number[] {
    const late = this.#from.shuffle(this.#late.splice(0));
    for (const { arrive } of late) {
      try {
        arrive();
      } catch (cause) {
        // A gap of ids: a server answers such a request with an error, which nobody hears.
        if (!String(cause).includes('comes after')) throw cause;
      }
    }
    return late.flatMap(({ calls }) => calls.map(({ args }) => (args as Args).call));
  }
}

class Tab {
  readonly #name: string;
  readonly #disk: ReturnType<Disk['tab']>;
  readonly #network: Network;
  readonly #onReset: (sent: readonly number[]) => void;
  #db: Store | undefined;
  #app: App | undefined;

  constructor(
    name: string,
    disk: ReturnType<Disk['tab']>,
    network: Network,
    onReset: (sent: readonly number[]) => void,
  ) {
    this.#name = name;
    this.#disk = disk;
    this.#network = network;
    this.#onReset = onReset;
  }

  async start(): Promise<void> {
    this.#disk.left = Number.POSITIVE_INFINITY;
    const db = await open(this.#name, { storage: this.#disk.storage });
    this.#db = db;
    this.#app = await mutators(db, {
      mutators: mine,
      pull: (request) => this.#network.pull(request),
      push: (request) => this.#network.push(request),
      onRejected: () => {
        totals.rejected += 1;
      },
      onReset: ({ sent }) => {
        totals.resets += 1;
        this.#onReset(sent.map(({ args }) => (args as Args).call));
      },
    });
  }

  get db(): Store {
    return this.#db as Store;
  }

  get app(): App {
    return this.#app as App;
  }

  /** Whether the work succeeded. After it, the tab may have crashed and started again. */
  async tries(from: Random, work: () => Promise<unknown>): Promise<boolean> {
    const isDoomed = from.below(7) === 0;
    if (isDoomed) this.#disk.left = from.below(7);
    try {
      await work();
      return true;
    } catch (cause) {
      if (!(cause instanceof HedgerowError)) throw cause;
      expect(['offline', 'remote', 'disconnected', 'conflict']).toContain(cause.code);
      totals.failures += 1;
      return false;
    } finally {
      if (isDoomed) {
        totals.crashes += this.#disk.left < 0 ? 1 : 0;
        await this.db.close().catch(() => {});
        await this.start();
      }
    }
  }
}

async function rowsOf(db: Store): Promise<Record<string, unknown>> {
  const rows: [string, unknown][] = [];
  for await (const row of db.scan()) rows.push(row);
  return Object.fromEntries(rows);
}

/**
 * Expects the rows of the server, and an empty queue, once the tab has heard of what others committed. Not by
 * `expect.poll`: it waits for 50 ms, and keeps each store in memory until all seeds have run.
 */
async function heard({ rows }: ServerDouble, db: Store, app: App): Promise<void> {
  for (let turns = 0; ; turns++) {
    const found = [await rowsOf(db), app.pending()];
    if (turns >= MAX_TURNS || isDeepStrictEqual(found, [rows, []])) {
      expect(found).toEqual([rows, []]);
      return;
    }
    await turn();
  }
}

async function simulate(from: Random, seed: number, begin: BeginStep): Promise<void> {
  const server = new ServerDouble(theirs);
  const network = new Network(server, from, from.pick([0, 0.05, 0.2]));
  /** Calls that were sent to a server that has forgotten them: they may take effect twice. */
  const maybeTwice = new Set<number>();
  /** Those that an app was told of. */
  const told = new Set<number>();
  const onReset = (sent: readonly number[]) => {
    for (const call of sent) told.add(call);
  };
  const tabs: Tab[] = [];
  for (let device = 0; device < 1 + from.below(3); device++) {
    const disk = new Disk();
    for (let tab = 0; tab < 1 + from.below(2); tab++) {
      tabs.push(new Tab(`app-${seed}-${device}`, disk.tab(), network, onReset));
    }
  }
  for (const tab of tabs) await tab.start();
  /** Calls that succeeded here, those that were dropped, and those of which nobody knows. */
  const called = new Set<number>();
  const dropped = new Set<number>();
  const open = new Set<number>();
  let calls = 0;
  const mayForget = from.below(3) === 0;
  let hasForgotten = false;
  const deliver = () => {
    const late = network.deliver();
    // The client may have begun anew since it sent them, and the server knows nothing of before.
    if (hasForgotten) for (const call of late) maybeTwice.add(call);
  };
  const steps = 8 + from.below(40);
  for (let step = 0; step < steps; step++) {
    const tab = from.pick(tabs);
    const what = from.pick([
      'call',
      'call',
      'call',
      'push',
      'push',
      'pull',
      'pull',
      'drop',
      'server',
      'late',
    ] as const);
    begin({ step, what, tab: tabs.indexOf(tab), chance: network.chance });
    if (what === 'call') {
      const name = from.pick([
        'append',
        'append',
        'append',
        'remove',
        'count',
        'refused',
        'unknown',
      ] as const);
      const args = { call: ++calls, key: `k${from.below(3)}` };
      let isRefusal = false;
      const isDone = await tab.tries(from, () =>
        tab.app.mutate[name](args).catch((cause: unknown) => {
          if (!String(cause).includes('nothing to remove')) throw cause;
          isRefusal = true;
        }),
      );
      if (isRefusal) continue;
      totals.calls += 1;
      (isDone ? called : open).add(args.call);
    } else if (what === 'drop') {
      const pending = tab.app.pending();
      if (pending.length === 0) continue;
      const one = from.pick(pending);
      const { call } = one.args as Args;
      let isDropped: boolean | undefined;
      const isKnown = await tab.tries(from, async () => {
        isDropped = await tab.app.drop(one);
      });
      if (isDropped === true) dropped.add(call);
      if (!isKnown) {
        called.delete(call);
        open.add(call);
      }
    } else if (what === 'server') {
      server.set([[`k${from.below(3)}`, from.below(2) === 0 ? undefined : { calls: [] }]]);
      if (mayForget && from.below(3) === 0) {
        const waiting = tabs.flatMap(({ app }) =>
          app.pending().map(({ args }) => (args as Args).call),
        );
        const reached = [...server.done, ...server.refused].map(({ args }) => (args as Args).call);
        for (const call of waiting) if (reached.includes(call)) maybeTwice.add(call);
        server.forget();
        network.forget();
        hasForgotten = true;
      }
    } else if (what === 'late') deliver();
    else await tab.tries(from, () => tab.app[what]());
  }
  begin('all end without faults');
  network.chance = 0;
  deliver();
  for (let round = 0; round < 2; round++) {
    for (const { app } of tabs) {
      await app.push();
      await app.pull();
    }
  }
  // A crash between may swallow what is told, and what is told of may never have arrived.
  totals.told += told.size;
  const count = new Map<number, number>();
  for (const { args } of [...server.done, ...server.refused]) {
    const { call } = args as Args;
    count.set(call, (count.get(call) ?? 0) + 1);
  }
  for (const call of dropped) {
    totals.dropped += 1;
    expect(count.get(call) ?? 0, `the call ${call}, which was dropped`).toBe(0);
  }
  for (const call of called) {
    if (dropped.has(call)) continue;
    const times = count.get(call) ?? 0;
    if (maybeTwice.has(call) && times > 1) totals.twice += 1;
    else expect(times, `the call ${call}`).toBe(1);
  }
  for (const call of open) {
    if (!maybeTwice.has(call)) expect(count.get(call) ?? 0, `the call ${call}`).toBeLessThan(2);
  }
  totals.refused += server.refused.filter(({ name }) => name === 'refused').length;
  totals.unknown += server.refused.filter(({ name }) => name === 'unknown').length;
  for (const { db, app } of tabs) {
    await heard(server, db, app);
    expect(await db.verify()).toMatchObject({ ok: true });
  }
  for (const { db } of tabs) await db.close();
}

it('of all seeds each accepted call takes effect once, and all devices end at the rows of the server', async () => {
  const count = seedCount(2000);
  await forSeeds(count, simulate);
  console.log(`${seedsTo(count).length} seeds: ${JSON.stringify(totals)}`);
  if (seedsTo(count).length < 1000) return;
  for (const [name, total] of Object.entries(totals)) expect(total, name).toBeGreaterThan(0);
}, 600_000);
