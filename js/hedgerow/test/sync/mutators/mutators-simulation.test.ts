/**
 * Devices with tabs and one server, by a seed. The network is away, loses requests and answers, or sends requests twice
 * and late. Calls run one by one or together. A tab crashes at any write of its storage. The server refuses some calls,
 * does not know the names of others, and sometimes forgets its clients. When the faults end: each accepted call took
 * effect at the server exactly once, or was refused there, or failed here and was never sent; the app has a report of
 * each call without an effect; every device has the server's rows, and an empty queue.
 */
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import { turn } from '../../../src/base/slice-queue.js';
import type { Store } from '../../../src/index.js';
import { ServerDouble } from '../../support/doubles/mutators-server.js';
import { type BeginStep, forSeeds, hasAllSeeds } from '../../support/property.js';
import type { Random } from '../../support/random.js';
import {
  type App,
  type Args,
  Disk,
  Network,
  Tab,
  theirs,
  totals,
} from '../../support/worlds/mutators-world.js';

/** The number of event loop turns within which a tab hears of a commit of another one. */
const MAX_TURNS = 1000;

const NAMES = ['append', 'append', 'append', 'remove', 'count', 'refused', 'unknown'] as const;

async function rowsOf(db: Store): Promise<Record<string, unknown>> {
  const rows: [string, unknown][] = [];
  for await (const row of db.scan()) rows.push(row);
  return Object.fromEntries(rows);
}

/**
 * Expects the rows of the server, and an empty queue, once the tab has heard the commits of others. It avoids
 * `expect.poll`, which waits for 50 ms, and keeps each store in memory until all seeds have run.
 */
async function heard({ rows }: ServerDouble, db: Store, app: App): Promise<void> {
  for (let turns = 0; ; turns++) {
    const found = [await rowsOf(db), app.calls()];
    if (turns >= MAX_TURNS || isDeepStrictEqual(found, [rows, []])) {
      expect(found).toEqual([rows, []]);
      return;
    }
    await turn();
  }
}

async function simulate(from: Random, seed: number, begin: BeginStep): Promise<void> {
  const server = new ServerDouble(theirs);
  server.tellsRefused = true;
  const network = new Network(server, from, from.pick([0, 0.05, 0.2]));
  /** Calls that were sent to a server that has forgotten them: they may take effect twice. */
  const maybeTwice = new Set<number>();
  /** Calls in reports to an app. */
  const told = new Set<number>();
  const onReset = (sent: readonly number[]) => {
    for (const call of sent) told.add(call);
  };
  /** Calls that were reported without an effect, by the reporting side. */
  const rejected = { here: new Set<number>(), server: new Set<number>() };
  const onRejected = (call: number, by: 'here' | 'server') => void rejected[by].add(call);
  const tabs: Tab[] = [];
  for (let device = 0; device < 1 + from.below(3); device++) {
    const disk = new Disk();
    for (let tab = 0; tab < 1 + from.below(2); tab++) {
      tabs.push(new Tab(`app-${seed}-${device}`, disk.tab(), network, onReset, onRejected));
    }
  }
  for (const tab of tabs) await tab.start();
  /** Calls that succeeded here, dropped calls, and calls with an unknown outcome. */
  const called = new Set<number>();
  const dropped = new Set<number>();
  const open = new Set<number>();
  let calls = 0;
  const mayForget = from.below(3) === 0;
  let hasForgotten = false;
  const deliver = () => {
    const late = network.deliver();
    // The client may have begun again since it sent them, and the server has lost its earlier records.
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
      // Often one, or some together.
      const made = Array.from({ length: from.pick([1, 1, 1, 3, 6]) }, () => {
        const name = from.pick(NAMES);
        return { name, args: { call: ++calls, key: `k${from.below(3)}` } };
      });
      await tab.tries(from, async () => {
        const one = async ({ name, args }: (typeof made)[0]) => {
          let isDone = false;
          try {
            await tab.app.mutate[name](args);
            isDone = true;
          } catch (cause) {
            if (String(cause).includes('nothing to remove')) return;
            throw cause;
          } finally {
            totals.calls += 1;
            (isDone ? called : open).add(args.call);
          }
        };
        const results = await Promise.allSettled(made.map(one));
        for (const result of results) if (result.status === 'rejected') throw result.reason;
      });
    } else if (what === 'drop') {
      const pending = tab.app.calls();
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
          app.calls().map(({ args }) => (args as Args).call),
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
  // A crash in between may swallow a report, and a reported call may never have arrived.
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
    if (rejected.here.has(call)) {
      expect(times, `the call ${call}, which failed here and was not sent`).toBe(0);
      continue;
    }
    if (maybeTwice.has(call) && times > 1) totals.twice += 1;
    else expect(times, `the call ${call}`).toBe(1);
  }
  for (const { args } of server.refused) {
    const { call } = args as Args;
    const isTold = rejected.server.has(call) || maybeTwice.has(call);
    expect(isTold, `the call ${call}, which was refused`).toBe(true);
  }
  for (const call of open) {
    if (!maybeTwice.has(call)) expect(count.get(call) ?? 0, `the call ${call}`).toBeLessThan(2);
  }
  totals.refused += server.refused.filter(({ name }) => name === 'refused').length;
  totals.unknown += server.refused.filter(({ name }) => name === 'unknown').length;
  for (const { db, app } of tabs) {
    await heard(server, db, app);
    expect(await db.health.verify()).toMatchObject({ ok: true });
  }
  for (const { db } of tabs) await db.close();
}

it('accepted calls of all seeds take effect once, and all devices end at the rows of the server', async () => {
  const seeds = await forSeeds(500, simulate);
  console.log(`${seeds.length} seeds: ${JSON.stringify(totals)}`);
  if (!hasAllSeeds(500)) return;
  for (const [name, total] of Object.entries(totals)) expect(total, name).toBeGreaterThan(0);
});
