/**
 * The simulation of sync, with collections: devices collect at any time, while others work, with clocks that are wrong
 * by years, and end at any request; pushes and reads take longer than the grace; and the bucket serves older and mixed
 * states. The simulation checks each deletion: no head names the object, or named it within the grace. In the end all
 * devices have one state, and the rest of the garbage goes.
 */
import { afterEach, expect, it, vi } from 'vitest';
import { hex } from '../../../src/base/hex.js';
import { HedgerowError } from '../../../src/index.js';
import { remoteKeys } from '../../../src/sync/encryption/remote-keys.js';
import {
  type ListPrefix,
  memoryRemote,
  type Remote,
  type RemoteObject,
} from '../../../src/sync/remote/index.js';
import {
  BEGIN,
  Clock,
  checkLive,
  copyRemote,
  DAY,
  HOUR,
  judged,
  liveNames,
  objectsOf,
} from '../../support/doubles/collected-remote.js';
import { faultyRemote } from '../../support/doubles/faulty-remote.js';
import { simulateInTurn } from '../../support/doubles/in-turn.js';
import { type BeginStep, forSeeds, hasAllSeeds } from '../../support/property.js';
import { type Random, random } from '../../support/random.js';
import { keyOf } from '../../support/remote-scopes.js';
import {
  Device,
  deviceTotals,
  Edits,
  rowsOf,
  type Value,
} from '../../support/worlds/sync-simulated.js';

simulateInTurn();

afterEach(() => vi.restoreAllMocks());

const totals = {
  ...{ edits: 0, collections: 0, collected: 0, deleted: 0, waited: 0, meetings: 0, ended: 0 },
  ...{ slow: 0, oldLists: 0, encrypted: 0, faults: 0, left: 0, branches: 0 },
};

/** An action of a device while another one waits for its remote. */
type Meanwhile = () => Promise<void>;

/** The remote in the view of a device: requests take long, end early, or meet the actions of others. */
class Line {
  readonly #from: Random;
  readonly #clock: Clock;
  readonly #graceMs: number;
  /** The number of requests until the device is gone. */
  left = Number.POSITIVE_INFINITY;
  meanwhile: Meanwhile | undefined;
  /** The current action of others. An action of several requests may end before. */
  met: Promise<void> | undefined;
  isHealed = false;

  constructor(from: Random, clock: Clock, graceMs: number) {
    this.#from = from;
    this.#clock = clock;
    this.#graceMs = graceMs;
  }

  async #step(): Promise<void> {
    if (this.isHealed) return;
    if (this.left-- <= 0) {
      totals.ended += 1;
      throw new HedgerowError('unavailable/disconnected', 'the page is gone');
    }
    if (this.#from.below(60) === 0) {
      // From half of the grace to twice.
      this.#clock.pass(this.#graceMs * (0.5 + 1.5 * this.#from.next()));
      totals.slow += 1;
    }
    const { meanwhile } = this;
    if (meanwhile === undefined || this.#from.below(12) > 0) return;
    // Others do not act during its action.
    this.meanwhile = undefined;
    totals.meetings += 1;
    this.met = meanwhile();
    await this.met;
    this.meanwhile = meanwhile;
  }

  over(inner: Remote): Remote {
    const calls = Object.entries(inner).filter(([, run]) => typeof run === 'function');
    return Object.fromEntries(
      calls.map(([name, run]) => [
        name,
        async (...args: unknown[]) => {
          await this.#step();
          const answer = await run(...args);
          await this.#step();
          return answer;
        },
      ]),
    ) as unknown as Remote;
  }
}

/** A remote whose lists may be old, each with its own age. */
function hostile(inner: Remote, from: Random, chance: number, isHealed: () => boolean): Remote {
  const before = new Map<ListPrefix, (readonly RemoteObject[])[]>();
  return {
    ...inner,
    async list(prefix, options) {
      const now = await inner.list(prefix, options);
      const known = before.get(prefix) ?? [];
      before.set(prefix, [...known.slice(-6), now]);
      if (isHealed() || from.next() >= chance) return now;
      const old = from.pick([now, ...known]);
      if (old !== now) totals.oldLists += 1;
      return old;
    },
  };
}

/** Remotes whose main branch has a nearly full tail after many pushes, each after some more pushes. */
const grown: Remote[] = [];

async function growRemotes(): Promise<void> {
  const from = random(23);
  const remote = memoryRemote({ now: () => BEGIN });
  const device = new Device('grown', remote, from, { policy: 'fields' });
  await device.start();
  for (let pushes = 1; pushes <= 130; pushes++) {
    const filler = hex(from.bytes(from.pick([200, 2500])));
    await device.db.put(`grown${from.below(30)}`, { id: 0, filler });
    await device.link.push();
    if (pushes < 58 || pushes % 9 > 0) continue;
    const copy = memoryRemote({ now: () => BEGIN });
    await copyRemote(remote, copy);
    grown.push(copy);
  }
  await device.db.close();
}

async function simulate(from: Random, seed: number, begin: BeginStep): Promise<void> {
  const clock = new Clock();
  const graceMs = from.pick([HOUR, DAY, 7 * DAY]);
  // In many the first pushes drop logs, deltas and packs from the head.
  const isGrown = from.below(3) > 0;
  // Some remotes are encrypted.
  const encryption =
    isGrown || from.below(2) > 0 ? undefined : remoteKeys({ place: 'room', keys: keyOf, epoch: 1 });
  const scope = encryption && { ...encryption, contextBytes: new Uint8Array() };
  const store = judged(clock, graceMs, scope);
  if (isGrown) await copyRemote(from.pick(grown), store.inner);
  const chance = from.pick([0, 0, 0.02, 0.08]);
  const chances = {
    ...{ offline: chance, cut: chance, flipped: chance, refused: chance, conflict: chance },
    ...{ lost: chance, landed: chance, stale: chance, missing: chance },
  };
  const faulty = faultyRemote(store, { seed, chances });
  let isHealed = false;
  const remote = hostile(faulty, from, from.pick([0, 0.3]), () => isHealed);
  const lines: Line[] = [];
  const skews: number[] = [];
  const isTwo = from.below(3) === 0;
  if (isTwo) totals.branches += 1;
  if (encryption) totals.encrypted += 1;
  const branchOf = (nth: number) => (isTwo && nth % 2 === 1 ? 'other' : 'main');
  const devices = Array.from({ length: 2 + from.below(3) }, (_, nth) => {
    const line = new Line(from, clock, graceMs);
    lines.push(line);
    skews.push((from.next() - 0.5) * 20 * 365 * DAY);
    const options = { remoteBranch: branchOf(nth), encryption };
    return new Device(`collect-${seed}-${nth}`, line.over(remote), from, options);
  });
  const clocks = vi.spyOn(Date, 'now');
  const withClockOf = (nth: number) => {
    clocks.mockImplementation(() => clock.nowMs + (skews[nth] ?? 0));
  };
  for (const [nth, device] of devices.entries()) {
    withClockOf(nth);
    await device.start();
  }
  const edits = new Map<string, Edits>([
    ['main', new Edits()],
    ['other', new Edits()],
  ]);
  const editsOf = (nth: number) => edits.get(branchOf(nth)) as Edits;
  /** Long rows: deltas are objects, and logs soon full. */
  const fillerBytes = from.pick([400, 2500, 5000]);
  const collectBy = async (nth: number) => {
    const { deleted, waiting, kept } = await (devices[nth] as Device).link.collect({ graceMs });
    totals.collected += 1;
    totals.deleted += deleted.objects;
    totals.waited += waiting.objects;
    return waiting.objects + kept.objects === 0;
  };
  const act = async (nth: number, what: 'edit' | 'push' | 'pull' | 'collect', isMet: boolean) => {
    const device = devices[nth] as Device;
    const line = lines[nth] as Line;
    withClockOf(nth);
    if (what === 'edit') return editsOf(nth).edit(device, from, fillerBytes);
    if (what === 'collect') totals.collections += 1;
    line.left = from.below(8) === 0 ? from.below(60) : Number.POSITIVE_INFINITY;
    line.meanwhile = isMet
      ? async () => {
          const other = (nth + 1 + from.below(devices.length - 1)) % devices.length;
          if (from.below(2) === 0) await act(other, 'edit', false);
          await act(other, from.pick(['push', 'pull', 'collect'] as const), false);
          // It waits so long that its new objects are old, marked and, if the collection is wrong, deleted.
          for (let days = from.pick([0, 0, 0, 4]); days > 0; days--) {
            await act(other, 'collect', false);
            clock.pass(graceMs * (0.2 + from.next()));
          }
          withClockOf(nth);
        }
      : undefined;
    await device.tries(() => (what === 'collect' ? collectBy(nth) : device.link[what]()));
    await line.met;
    line.left = Number.POSITIVE_INFINITY;
    line.meanwhile = undefined;
    return undefined;
  };
  const steps = 20 + from.below(from.pick([40, 80, 160]));
  for (let step = 0; step < steps; step++) {
    const nth = from.below(devices.length);
    const what = from.pick(['edit', 'edit', 'push', 'push', 'pull', 'collect'] as const);
    begin({ step, nth, what, chance, graceMs, at: clock.nowMs - BEGIN });
    // The first push of a branch meets others more often.
    await act(nth, what, from.below(3) === 0 || (what === 'push' && step < 20));
    clock.pass(from.pick([0, 1000, graceMs / 50, graceMs / 10, graceMs / 3]));
  }
  await checkLive(store.inner, scope);
  faulty.heal();
  isHealed = true;
  for (const line of lines) line.isHealed = true;
  begin('all sync without faults');
  for (const { link } of devices) await link.push();
  for (const { link } of devices) await link.pull();
  const accounted = new Set<string>();
  const rows = await Promise.all(devices.map(({ db }) => rowsOf(db)));
  for (const [nth, { link }] of devices.entries()) {
    const branch = branchOf(nth);
    expect(rows[nth]).toEqual(rows[branch === 'main' ? 0 : 1]);
    const seen = (value: unknown) => accounted.add(`${branch}/${(value as Value).id}`);
    for (const [, value] of rows[nth] ?? []) seen(value);
    for await (const { ours, theirs } of link.conflicts()) {
      for (const side of [ours, theirs]) if (side !== undefined) seen(side);
    }
  }
  for (const [branch, { all, seen }] of edits) {
    totals.edits += all.size;
    for (const [id, key] of all) {
      if (seen.has(id) || accounted.has(`${branch}/${id}`)) continue;
      throw new Error(`edit ${id} of ${key} in ${branch} is lost`);
    }
  }
  for (const count of faulty.counts.values()) totals.faults += count;
  begin('what is left of garbage goes');
  for (let [round, quiet] = [0, 0]; quiet < 2 && round < 60; round++) {
    clock.pass(graceMs / 4);
    quiet = (await collectBy(round % devices.length)) ? quiet + 1 : 0;
  }
  const [live, there] = [await liveNames(store.inner, scope), await objectsOf(store.inner)];
  await checkLive(store.inner, scope);
  totals.left += there.size;
  expect(there.size).toBe(live.size);
  for (const [nth, { db }] of devices.entries()) {
    expect(await db.health.verify()).toMatchObject({ ok: true });
    await db.close();
    if (nth > 1) continue;
    const fresh = new Device(`fresh-${seed}-${nth}`, store, from, {
      remoteBranch: branchOf(nth),
      encryption,
    });
    await fresh.start();
    await fresh.link.pull();
    expect(await rowsOf(fresh.db)).toEqual(rows[nth]);
    await fresh.db.close();
  }
}

it('collections of all seeds delete no live object, and no object within the grace', async () => {
  await growRemotes();
  const seeds = await forSeeds(80, simulate);
  const all = { ...totals, ...deviceTotals };
  console.log(`collect, ${seeds.length} seeds: ${JSON.stringify(all)}`);
  // Without each of these the simulation is meaningless.
  if (hasAllSeeds(80)) for (const total of Object.values(all)) expect(total).toBeGreaterThan(0);
});
