/**
 * All layers at once, by a seed: devices with two tabs, whose app has one of two versions, call mutators on a table,
 * while live lists, counts and watches are open. The network and the disk have faults; a tab restarts, sometimes with
 * the newer app, which migrates the rows; the server changes rows itself, and its upgrade is late, early or missing.
 * When the faults end, each accepted call has taken effect at the server exactly once or was refused there, and each
 * tab reads, shows and reports the server's rows.
 */
import { isDeepStrictEqual } from 'node:util';
import { expect, it, vi } from 'vitest';
import { pause } from '../../../src/base/pauses.js';
import { turn } from '../../../src/base/slice-queue.js';
import { ServerDouble } from '../../support/doubles/mutators-server.js';
import { kindOf, ofKind } from '../../support/error-kind.js';
import { type BeginStep, forSeeds, hasAllSeeds } from '../../support/property.js';
import type { Random } from '../../support/random.js';
import {
  type Args,
  mutatorsOf,
  type Row,
  serverMutators,
  stateOf,
  Tab,
  totals,
  toV2,
  type Version,
} from '../../support/worlds/layers-world.js';
import { Disk, Network } from '../../support/worlds/mutators-world.js';

const SEEDS = 200;
/** The time in which a tab shows the commits of others, and has migrated all rows: at most turns, then milliseconds. */
const [MOST_TURNS, MOST_MS] = [300, 30_000];
const NAMES = Object.keys(mutatorsOf(1)) as (keyof ReturnType<typeof mutatorsOf>)[];
const STEPS = [
  ...(['call', 'call', 'call', 'push', 'pull', 'pull'] as const),
  ...(['plain', 'server', 'late', 'restart'] as const),
];
/** The errors of mutators themselves. */
const REFUSALS = ['it is there', 'it is gone'];

/** Returns the rows of the server as the app has them. */
function rowsOf({ rows }: ServerDouble): Row[] {
  return Object.values(rows as Record<string, Row & { '~v'?: number }>).map(
    ({ '~v': version, ...row }) => (version === 2 ? row : (toV2(row as never) as Row)),
  );
}

const byRank = (a: Row, b: Row) => a.rank - b.rank || (a.id < b.id ? -1 : 1);

/** Returns all rows that a tab of version 2 reads, shows and reports, and the expected ones. */
async function seen(tab: Tab) {
  const { tasks } = tab.db;
  return {
    read: await tasks.toArray(),
    found: await tasks.where({ state: 'open' }).orderBy('rank').toArray(),
    lists: tab.lists.map((list) => [...list.get().rows]),
    count: tab.count.get().count,
    told: [...tab.watched.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
    migration: await tasks.migration().then(({ remaining, refused }) => [remaining, refused]),
    pending: tab.app.calls().length,
  };
}

function wanted(server: ServerDouble): Awaited<ReturnType<typeof seen>> {
  const all = rowsOf(server);
  const open = all.filter(({ state }) => state === 'open').sort(byRank);
  return {
    read: all,
    found: open,
    lists: [open, [...all].sort(byRank).slice(0, 3), all],
    count: open.length,
    told: all,
    migration: [0, 0],
    pending: 0,
  };
}

/** Polls until `isDone`, quickly at first: work that waits for a timer comes later. */
async function polled<T>(look: () => Promise<T>, isDone: (found: T) => boolean): Promise<T> {
  const startMs = performance.now();
  for (let turns = 0; ; turns++) {
    const found = await look();
    if (isDone(found) || performance.now() - startMs > MOST_MS) return found;
    await (turns < MOST_TURNS ? turn() : pause(10));
  }
}

/** Runs `work` again during a migration: a transaction does not wait for an index. */
async function ready<T>(work: () => Promise<T>): Promise<T> {
  const codeOf = (cause: unknown) => kindOf(cause);
  const [result] = await polled(
    () => Promise.allSettled([work()]),
    ([one]) => one.status === 'fulfilled' || codeOf(one.reason) !== 'not-ready',
  );
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}

/** The next pull would undo a write outside the mutators. */
async function refused({ db, version }: Tab, from: Random): Promise<void> {
  const row = { id: `t${from.below(5)}`, [stateOf(version)]: 'plain', rank: 0, calls: [] };
  const write = from.pick([
    () => db.tasks.put(row),
    () => db.putMany([[`tasks/${row.id}`, row]]),
    () => db.deleteMany({ prefix: 'tasks/' }),
    () => db.clear(),
    () => db.transaction((tx) => tx.put(`tasks/${row.id}`, row)),
  ]);
  await expect((async () => write())()).rejects.toMatchObject(ofKind('invalid-argument'));
  totals.plain += 1;
}

async function settles(tab: Tab, server: ServerDouble): Promise<void> {
  const expected = wanted(server);
  const look = () => ready(() => seen(tab));
  expect(await polled(look, (found) => isDeepStrictEqual(found, expected))).toEqual(expected);
}

async function simulate(from: Random, seed: number, begin: BeginStep): Promise<void> {
  const ofServer: { version: Version } = { version: 1 };
  const server = new ServerDouble(serverMutators(ofServer) as never);
  const network = new Network(server, from, from.pick([0, 0.05, 0.2]));
  const tabs: Tab[] = [];
  for (let device = 0; device < 1 + from.below(2); device++) {
    const disk = new Disk();
    const version = from.pick([1, 1, 2] as const);
    for (let at = 0; at < 2; at++)
      tabs.push(new Tab(`layers-${seed}-${device}`, disk.tab(), network, version));
  }
  server.set(
    Array.from({ length: from.below(8) }, (_, at) => {
      const row: Row = { id: `s${at}`, status: 'open', rank: from.below(9), calls: [] };
      return [`tasks/${row.id}`, row] as const;
    }),
  );
  for (const tab of tabs) await tab.start();
  const called = new Set<number>();
  const open = new Set<number>();
  let calls = 0;
  const call = async (tab: Tab) => {
    const name = from.pick(NAMES);
    const args: Args = { call: ++calls, id: `t${from.below(5)}`, rank: from.below(9) };
    totals.calls += 1;
    let isDone = false;
    const isKnown = await tab.tries(from, async () => {
      try {
        await tab.app.mutate[name](args as never);
        isDone = true;
      } catch (cause) {
        if (!REFUSALS.includes((cause as Error).message)) throw cause;
      }
    });
    if (isDone) called.add(args.call);
    else if (!isKnown) open.add(args.call);
  };
  const upgrade = () => {
    // A server of version 2 is for apps of version 2.
    if (ofServer.version === 2 || tabs.some(({ version }) => version === 1)) return;
    ofServer.version = 2;
    totals.upgrades += 1;
    if (from.below(2) === 0) return;
    const { rows } = server;
    server.set(
      Object.entries(rows).map(([key, row]) => [key, { ...toV2(row as never), '~v': 2 }] as const),
    );
  };
  for (let step = 0, steps = 10 + from.below(40); step < steps; step++) {
    const tab = from.pick(tabs);
    const what = from.pick(STEPS);
    begin({ step, what, tab: tabs.indexOf(tab), version: tab.version, server: ofServer.version });
    if (what === 'call') await call(tab);
    else if (what === 'plain') await refused(tab, from);
    else if (what === 'late') network.deliver();
    else if (what === 'restart') await tab.restart(from.below(3) === 0 ? 2 : tab.version);
    else if (what === 'server') {
      if (from.below(3) === 0) upgrade();
      const args = { call: 0, id: `t${from.below(5)}`, rank: from.below(9) };
      const { version } = ofServer;
      const row = { id: args.id, [stateOf(version)]: 'open', rank: args.rank, calls: [] };
      const value = version === 1 ? row : { ...row, '~v': 2 };
      server.set([[`tasks/${args.id}`, from.below(3) === 0 ? undefined : value]]);
    } else await tab.tries(from, () => tab.app[what]());
  }
  begin('all end without faults, with the newer app');
  network.chance = 0;
  network.deliver();
  for (const tab of tabs) if (tab.version === 1) await tab.restart(2);
  for (let round = 0; round < 2; round++) {
    for (const { app } of tabs) {
      await ready(() => app.push());
      await ready(() => app.pull());
    }
  }
  const count = new Map<number, number>();
  for (const { args } of [...server.done, ...server.refused]) {
    const { call } = args as Args;
    count.set(call, (count.get(call) ?? 0) + 1);
  }
  const told = new Set(tabs.flatMap(({ rejected }) => [...rejected]));
  for (const call of called) {
    const times = count.get(call) ?? 0;
    if (times !== 1) expect([times, told.has(call)], `the call ${call}`).toEqual([0, true]);
  }
  for (const call of open) expect(count.get(call) ?? 0, `the call ${call}`).toBeLessThan(2);
  totals.refused += server.refused.length;
  for (const tab of tabs) {
    begin(`tab ${tabs.indexOf(tab)} settles`);
    await settles(tab, server);
    expect(await tab.db.health.verify({ checkIndexes: true })).toMatchObject({ ok: true });
  }
  for (const { db } of tabs) await db.close();
}

it('calls of all seeds take effect once or are reported, and each tab ends with the rows of the server', async () => {
  // A watch reports rows that it cannot read.
  const reports: unknown[] = [];
  const reporting = vi.spyOn(console, 'error').mockImplementation((cause) => reports.push(cause));
  const seeds = await forSeeds(SEEDS, simulate);
  reporting.mockRestore();
  for (const report of reports) {
    // Several rows of one call are one report, with the error of the first row.
    const { message, cause } = report as Error;
    const first = /^\d+ rows cannot be read$/.test(message) ? cause : report;
    expect(first).toMatchObject({ ...ofKind('newer-version/schema'), table: 'tasks' });
  }
  console.log(`${seeds.length} seeds: ${JSON.stringify(totals)}`);
  if (!hasAllSeeds(SEEDS)) return;
  for (const [name, total] of Object.entries(totals)) expect(total, name).toBeGreaterThan(0);
});
