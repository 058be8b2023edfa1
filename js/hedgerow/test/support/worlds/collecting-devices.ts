/** Devices in the tests of collections: they push garbage and collect until no garbage is left. */
import { hex } from '../../../src/base/hex.js';
import type { Clock } from '../doubles/collected-remote.js';
import { DAY } from '../doubles/collected-remote.js';
import { random } from '../random.js';
import type { Device } from './sync-devices.js';

export const WEEK = 7 * DAY;
const from = random(9);

/** Pushes edits that become an object of their own, about 6 KB. */
export async function pushLong({ db, link }: Device, key = `k${from.below(20)}`): Promise<void> {
  await db.put(key, { text: hex(from.bytes(6000)) });
  await link.push();
}

/** Makes garbage: logs, deltas and packs of many pushes. */
export async function pushMany(one: Device, clock: Clock, pushes = 150): Promise<void> {
  for (let nth = 0; nth < pushes; nth++) {
    await pushLong(one);
    clock.pass(60_000);
  }
}

/** Collects until no garbage is left; returns the last result. */
export async function collectAll({ link }: Device, clock: Clock) {
  let deleted = 0;
  for (let days = 0; days < 20; days++) {
    clock.pass(DAY);
    const result = await link.collect();
    deleted += result.deleted.objects;
    if (result.waiting.objects + result.kept.objects === 0) return { ...result, all: deleted };
  }
  throw new Error('the garbage does not end');
}
