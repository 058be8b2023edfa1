/** The parts of the simulation of mutators: an app, disks, a network, and tabs, with their faults. */
import { expect } from 'vitest';
import type { Transaction } from '../../../src/engine/transaction/transaction.js';
import { HedgerowError, memory, open, type Storage, type Store } from '../../../src/index.js';
import {
  type MutatorConnection,
  mutators,
  type PullRequest,
  type PushRequest,
  type SentCall,
} from '../../../src/sync/mutators/index.js';
import { json, type ServerDouble } from '../doubles/mutators-server.js';
import { kindOf } from '../error-kind.js';
import type { Random } from '../random.js';
import { takeRejected } from './rejected-calls.js';

export const totals = {
  ...{
    calls: 0,
    refused: 0,
    unknown: 0,
    rejected: 0,

    dropped: 0,
    resets: 0,
    told: 0,
    twice: 0,
  },
  ...{
    crashes: 0,
    unsent: 0,
    lostRequests: 0,
    lostAnswers: 0,
    duplicates: 0,
    late: 0,
    failures: 0,
  },
};

export interface Args {
  /** The number of the call in the whole simulation. */
  readonly call: number;
  readonly key: string;
}

type Row = { readonly calls: readonly number[] };

export const mine = {
  /** Adds the call to a row, which then shows repeated and misplaced effects. */
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

export const theirs = {
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
export class Disk {
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
          if (tab.left-- <= 0)
            throw new HedgerowError('unavailable/disconnected', 'the tab has crashed');
          return write.call(opened, batch);
        };
        return opened;
      },
    };
    return tab;
  }
}

/** A tab whose work may fail in the ways that it names. */
interface Doomed {
  readonly disk: { left: number };
  readonly codes: readonly string[];
  readonly totals: { failures: number; crashes: number };
  restart(): Promise<void>;
}

/** Returns whether the work of a tab succeeded. After it, the tab may have crashed and started again. */
export async function tryWork(
  { disk, codes, totals, restart }: Doomed,
  from: Random,
  work: () => Promise<unknown>,
): Promise<boolean> {
  const isDoomed = from.below(7) === 0;
  if (isDoomed) disk.left = from.below(7);
  try {
    await work();
    return true;
  } catch (cause) {
    if (!(cause instanceof HedgerowError)) throw cause;
    expect(codes, String(cause)).toContain(kindOf(cause));
    totals.failures += 1;
    return false;
  } finally {
    if (isDoomed) {
      totals.crashes += disk.left < 0 ? 1 : 0;
      await restart();
    }
  }
}

export type App = MutatorConnection<typeof mine>;

export class Network {
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

  /** Sends a request. Only a push has `calls`: it may arrive twice, or late. */
  #send(arrive: () => object, calls?: readonly SentCall[]): Response {
    if (this.#has()) {
      totals.unsent += 1;
      const cause = Object.assign(new Error('no connection'), { syscall: 'connect' });
      throw new TypeError('nothing has left', { cause });
    }
    if (this.#has()) {
      totals.lostRequests += 1;
      // Its answer is lost, and it may arrive after later requests.
      if (calls && this.#from.below(2) === 0) {
        totals.late += 1;
        this.#late.push({ calls, arrive });
      }
      throw new TypeError('Failed to fetch: lost');
    }
    const answer = arrive();
    if (calls && this.#has()) {
      totals.duplicates += 1;
      arrive();
    }
    if (this.#has()) {
      totals.lostAnswers += 1;
      throw new TypeError('Failed to fetch: the answer is lost');
    }
    if (this.#has()) return json({ message: 'busy' }, this.#from.pick([409, 500, 503]));
    return json(answer);
  }

  /** Drops the delayed requests, when the server they were sent to is replaced. */
  forget(): void {
    this.#late.length = 0;
  }

  /** Delivers the delayed requests in any order; returns their calls. */
  deliver(): number[] {
    const late = this.#from.shuffle(this.#late.splice(0));
    for (const { arrive } of late) {
      try {
        arrive();
      } catch (cause) {
        // The ids have a gap: a server answers such a request with an error, which is lost.
        if (!String(cause).includes('comes after')) throw cause;
      }
    }
    return late.flatMap(({ calls }) => calls.map(({ args }) => (args as Args).call));
  }
}

export class Tab {
  readonly #name: string;
  readonly #disk: ReturnType<Disk['tab']>;
  readonly #network: Network;
  readonly #onReset: (sent: readonly number[]) => void;
  readonly #onRejected: (call: number, by: 'here' | 'server') => void;
  #db: Store | undefined;
  #app: App | undefined;

  constructor(
    name: string,
    disk: ReturnType<Disk['tab']>,
    network: Network,
    onReset: (sent: readonly number[]) => void,
    onRejected: (call: number, by: 'here' | 'server') => void,
  ) {
    this.#name = name;
    this.#disk = disk;
    this.#network = network;
    this.#onReset = onReset;
    this.#onRejected = onRejected;
  }

  async start(): Promise<void> {
    this.#disk.left = Number.POSITIVE_INFINITY;
    const db = await open(this.#name, { storage: this.#disk.storage });
    this.#db = db;
    this.#app = await db.connect(
      mutators({
        mutators: mine,
        pull: (request) => this.#network.pull(request),
        push: (request) => this.#network.push(request),
        onReset: ({ sent }) => {
          totals.resets += 1;
          this.#onReset(sent.map(({ args }) => (args as Args).call));
        },
      }),
    );
    takeRejected(this.#app, ({ args, isPending, why }) => {
      if (isPending) return;
      totals.rejected += 1;
      this.#onRejected((args as Args).call, why === undefined ? 'here' : 'server');
    });
  }

  get db(): Store {
    return this.#db as Store;
  }

  get app(): App {
    return this.#app as App;
  }

  /** Returns whether the work succeeded. After it, the tab may have crashed and started again. */
  tries(from: Random, work: () => Promise<unknown>): Promise<boolean> {
    const restart = async () => {
      await this.db.close().catch(() => {});
      await this.start();
    };
    const codes = ['offline', 'remote/status', 'unavailable/disconnected', 'conflict'];
    return tryWork({ disk: this.#disk, codes, totals, restart }, from, work);
  }
}
