/**
 * Several devices and one remote that fails as networks and stores do, by a seed: latency, cuts, flipped bits, refused
 * and lost requests, lost answers to writes, stale heads. A device may crash at any write of its own storage, too. When
 * the faults end and all have synced, all have one state; each edit is in it, is overwritten by a later edit whose
 * author had seen it, or is in a log of conflicts.
 */
import { expect, it } from 'vitest';
import { remoteKeys } from '../../../src/sync/encryption/remote-keys.js';
import type { BucketOptions } from '../../../src/sync/link/open-bucket-connection.js';
import { memoryRemote, type Remote } from '../../../src/sync/remote/index.js';
import { faultyRemote } from '../../support/doubles/faulty-remote.js';
import { simulateInTurn } from '../../support/doubles/in-turn.js';
import { type BeginStep, forSeeds, hasAllSeeds } from '../../support/property.js';
import type { Random } from '../../support/random.js';
import { keyOf } from '../../support/remote-scopes.js';
import { PRIVATE, signedBy } from '../../support/signed-keys.js';
import {
  Device,
  deviceTotals,
  Edits,
  rowsOf,
  type Value,
} from '../../support/worlds/sync-simulated.js';

simulateInTurn();

const totals = {
  ...{ edits: 0, faults: 0, races: 0, conflicts: 0 },
  ...{ logsPut: 0, logsRead: 0, checkpoints: 0, encrypted: 0, signed: 0 },
};

/** Returns the kind of an object, by its first bytes. */
const kindOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes.subarray(0, 4));

/** Counts the logs and packs that travel. */
function counted(remote: Remote): Remote {
  return {
    ...remote,
    async put(name, bytes, ...rest) {
      if (kindOf(bytes) === 'HDGL') totals.logsPut += 1;
      if (kindOf(bytes) === 'HDGP') totals.checkpoints += 1;
      return remote.put(name, bytes, ...rest);
    },
    async get(...call) {
      const bytes = await remote.get(...call);
      if (bytes && kindOf(bytes) === 'HDGL') totals.logsRead += 1;
      return bytes;
    },
  };
}

/** Every third remote is encrypted, and in half of these some devices change the key. */
function encryptionOf(seed: number, nth: number): BucketOptions {
  if (seed % 3 > 0) return {};
  totals.encrypted += nth === 0 ? 1 : 0;
  return {
    encryption: remoteKeys({ place: 'room', keys: keyOf, epoch: seed % 2 ? 1 : 1 + (nth % 2) }),
  };
}

async function simulate(from: Random, seed: number, begin: BeginStep): Promise<void> {
  const inner = counted(memoryRemote());
  const chance = from.pick([0, 0.03, 0.12]);
  const chances = {
    ...{ offline: chance, cut: chance, flipped: chance, refused: chance, conflict: chance },
    ...{ lost: chance, landed: chance, stale: chance, missing: chance },
  };
  const faulty = faultyRemote(inner, { seed, chances });
  const isSigned = seed % 5 === 0;
  totals.signed += isSigned ? 1 : 0;
  const remote = isSigned ? signedBy(PRIVATE)(faulty) : faulty;
  const devices = Array.from({ length: 2 + from.below(3) }, (_, nth) => {
    return new Device(`device-${seed}-${nth}`, remote, from, encryptionOf(seed, nth));
  });
  for (const device of devices) await device.start();
  const edits = new Edits();
  // Many short histories, some with a long tail, and some of rows that fill heads, which have checkpoints.
  const isLong = from.below(40) === 0;
  const steps = isLong ? 200 + from.below(200) : 8 + from.below(from.pick([12, 24, 72]));
  // One may be away for a while, so that the others make logs and checkpoints.
  const back = from.pick([0, 0.7, 1]) * steps;
  const fillerBytes = isLong ? 2500 : from.pick([20, 400, 2500]);
  for (let step = 0; step < steps; step++) {
    const isAway = step < back && from.below(20) > 0;
    const nth = from.below(devices.length - (isAway ? 1 : 0));
    const device = devices[nth] as Device;
    const what = from.pick(['edit', 'edit', 'push', 'pull'] as const);
    begin({ step, nth, what, chance, policy: device.policy });
    if (what === 'edit') await edits.edit(device, from, fillerBytes);
    else await device.tries(() => device.link[what]());
  }
  faulty.heal();
  begin('all sync without faults');
  // Each pushes its edits; then each pulls the edits of the last one.
  for (const { link } of devices) totals.races += (await link.push()).races;
  for (const { link } of devices) await link.pull();
  const [first = [], ...others] = await Promise.all(devices.map(({ db }) => rowsOf(db)));
  for (const rows of others) expect(rows).toEqual(first);
  const accounted = new Set([...edits.seen, ...first.map(([, { id }]) => id)]);
  for (const { link } of devices) {
    for await (const { ours, theirs } of link.conflicts()) {
      totals.conflicts += 1;
      for (const side of [ours, theirs]) if (side !== undefined) accounted.add((side as Value).id);
    }
  }
  for (const [id, key] of edits.all)
    if (!accounted.has(id)) throw new Error(`edit ${id} of ${key} is lost`);
  totals.edits += edits.all.size;
  for (const count of faulty.counts.values()) totals.faults += count;
  for (const { db } of devices) {
    expect(await db.health.verify()).toMatchObject({ ok: true });
    await db.close();
  }
}

it('devices of all seeds lose no edit and end equal', async () => {
  const seeds = await forSeeds(500, simulate);
  const all = { ...totals, ...deviceTotals };
  console.log(`sync, ${seeds.length} seeds: ${JSON.stringify(all)}`);
  // Without each of these the simulation is meaningless.
  if (hasAllSeeds(500)) for (const total of Object.values(all)) expect(total).toBeGreaterThan(5);
});
