/**
 * Several devices and a remote by a seed: its operator or its backups roll it back, fork it, delete its head, exchange
 * its branches and fake answers. No call takes a device's row, except by an edit whose author had seen the row, or with
 * an entry in a log of conflicts; otherwise the call ends with an error, and the rows stay. At the end each refused
 * device joins again, and all are equal.
 */
import { expect, it } from 'vitest';
import { HedgerowError } from '../../../src/index.js';
import { remoteKeys } from '../../../src/sync/encryption/remote-keys.js';
import type { BucketOptions } from '../../../src/sync/link/open-bucket-connection.js';
import { simulateInTurn } from '../../support/doubles/in-turn.js';
import { kindOf } from '../../support/error-kind.js';
import { type BeginStep, forSeeds, hasAllSeeds } from '../../support/property.js';
import type { Random } from '../../support/random.js';
import { keyOf } from '../../support/remote-scopes.js';
import { PRIVATE, signedBy } from '../../support/signed-keys.js';
import {
  copyOf,
  exchange,
  newWorld,
  View,
  type World,
} from '../../support/worlds/remote-worlds.js';
import { Device, Edits, rowsOf, type Value } from '../../support/worlds/sync-simulated.js';

simulateInTurn();

const totals = {
  ...{ edits: 0, pushes: 0, rollbacks: 0, others: 0, rejoined: 0, conflicts: 0 },
  ...{ restored: 0, forked: 0, deleted: 0, exchanged: 0, answeredInVain: 0, bursts: 0 },
  ...{ plain: 0, encrypted: 0, signed: 0 },
};

/** The errors of a remote that has changed its history. */
const REFUSALS = ['rollback', 'remote/gone', 'remote/data', 'conflict'];

class Scene {
  readonly #from: Random;
  readonly #seed: number;
  readonly views: View[] = [];
  readonly devices: Device[] = [];
  readonly edits = new Edits();
  /** The current worlds, and their backups. */
  readonly worlds: World[] = [newWorld()];
  readonly backups: World[] = [];
  isExchanged = false;

  constructor(from: Random, seed: number) {
    this.#from = from;
    this.#seed = seed;
  }

  async start(count: number): Promise<void> {
    const kind = this.#seed % 3;
    totals[(['plain', 'encrypted', 'signed'] as const)[kind] ?? 'plain'] += 1;
    const encryption: BucketOptions =
      kind === 0 ? {} : { encryption: remoteKeys({ place: 'worlds', keys: keyOf, epoch: 1 }) };
    for (let nth = 0; nth < count; nth++) {
      const view = new View(this.worlds[0] as World);
      const remote = kind === 2 ? signedBy(PRIVATE)(view.remote) : view.remote;
      // One works on another branch, so that there are two heads to exchange.
      const remoteBranch = nth === 2 ? 'other' : 'main';
      const name = `worlds-${this.#seed}-${nth}`;
      const device = new Device(name, remote, this.#from, { ...encryption, remoteBranch });
      await device.start();
      this.views.push(view);
      this.devices.push(device);
    }
  }

  /** The edits whose rows a device has. */
  async has({ db }: Device): Promise<ReadonlySet<number>> {
    return new Set((await rowsOf(db)).map(([, { id }]) => id));
  }

  async logged(): Promise<ReadonlySet<number>> {
    const found = new Set<number>();
    for (const { link } of this.devices) {
      for await (const { ours, theirs } of link.conflicts()) {
        for (const side of [ours, theirs]) if (side !== undefined) found.add((side as Value).id);
      }
    }
    return found;
  }

  /** Runs a call of a device, which may be refused, and checks that it takes no row without a report. */
  async call(nth: number, call: (device: Device) => Promise<unknown>): Promise<boolean> {
    const device = this.devices[nth] as Device;
    const before = await this.has(device);
    const isDone = await call(device).then(
      () => true,
      (cause: unknown) => {
        if (!(cause instanceof HedgerowError)) throw cause;
        expect(REFUSALS).toContain(kindOf(cause));
        totals[cause.code === 'rollback' ? 'rollbacks' : 'others'] += 1;
        return false;
      },
    );
    const after = await this.has(device);
    const gone = [...before].filter((id) => !after.has(id) && !this.edits.seen.has(id));
    if (gone.length === 0) return isDone;
    const logged = await this.logged();
    const lost = gone.filter((id) => !logged.has(id));
    if (lost.length > 0) throw new Error(`device ${nth} has lost the edits ${lost} in silence`);
    return isDone;
  }

  /** Changes the remote, or the view of a device. */
  async disturb(): Promise<string> {
    const from = this.#from;
    const what = from.pick([
      'backup',
      'backup',
      'restored',
      'forked',
      'deleted',
      'exchanged',
      'answeredInVain',
    ] as const);
    const view = from.pick(this.views);
    const world = view.world;
    if (what !== 'backup') totals[what] += 1;
    if (what === 'backup') this.backups.push(await copyOf(world));
    if (what === 'deleted') await world.remote.remove(['h/main']);
    if (what === 'exchanged') {
      await exchange(world, 'main', 'other');
      this.isExchanged = true;
    }
    if (what === 'answeredInVain') view.isLying = true;
    if (what === 'restored' && this.backups.length > 0) {
      const restored = await copyOf(from.pick(this.backups));
      for (const one of this.views) if (one.world === world) one.world = restored;
      this.worlds.push(restored);
    }
    if (what === 'forked') {
      const fork = from.next() < 0.5 ? await copyOf(world) : from.pick(this.worlds);
      this.worlds.push(fork);
      view.world = fork;
    }
    return what;
  }
}

async function simulate(from: Random, seed: number, begin: BeginStep): Promise<void> {
  const scene = new Scene(from, seed);
  const count = 2 + from.below(2);
  await scene.start(count);
  const { devices, views, edits } = scene;
  const steps = 6 + from.below(from.pick([10, 24]));
  const trouble = from.pick([8, 5, 3]);
  for (let step = 0; step < steps; step++) {
    const nth = from.below(count);
    const device = devices[nth] as Device;
    if (from.below(trouble) === 0) begin({ step, what: await scene.disturb() });
    // So many that the tail gets long, and has a checkpoint.
    const burst = from.below(60) === 0 ? 20 + from.below(80) : 1;
    if (burst > 1) totals.bursts += 1;
    const what = from.pick(['edit', 'push', 'push', 'pull'] as const);
    begin({ step, nth, what, burst });
    for (let turn = 0; turn < burst; turn++) {
      if (what !== 'pull' || burst > 1) await edits.edit(device, from, 20);
      if (what === 'edit') continue;
      totals.pushes += what === 'push' ? 1 : 0;
      if (!(await scene.call(nth, ({ link }) => link[what]()))) break;
    }
  }
  begin('all join one remote again');
  // A head in the place of another stays wrong: then they meet at a new place.
  const world = scene.isExchanged ? newWorld() : (views[0] as View).world;
  for (const view of views) Object.assign(view, { world, isLying: false });
  const mains = devices.map((_, nth) => nth).filter((nth) => nth !== 2);
  for (const round of [1, 2, 3]) {
    for (const nth of mains) {
      // A push without news sends no request.
      const isDone = await scene.call(nth, ({ link }) => link.pull());
      if (!isDone && round < 3) {
        totals.rejoined += 1;
        await scene.call(nth, ({ link }) => link.rejoin({ keep: 'union' }));
      }
      await scene.call(nth, ({ link }) => link.push());
    }
  }
  for (const nth of mains) expect(await scene.call(nth, ({ link }) => link.pull())).toBe(true);
  const [first, ...others] = await Promise.all(
    mains.map((nth) => rowsOf((devices[nth] as Device).db)),
  );
  for (const rows of others) expect(rows).toEqual(first);
  totals.edits += edits.all.size;
  totals.conflicts += (await scene.logged()).size;
  for (const { db } of devices) {
    expect(await db.health.verify()).toMatchObject({ ok: true });
    await db.close();
  }
}

it('calls of all seeds take no row without a report', async () => {
  const seeds = await forSeeds(400, simulate);
  console.log(`worlds, ${seeds.length} seeds: ${JSON.stringify(totals)}`);
  // Without each of these the simulation is meaningless.
  if (hasAllSeeds(400)) for (const total of Object.values(totals)) expect(total).toBeGreaterThan(5);
});
