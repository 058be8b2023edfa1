/**
 * Damage in the storage of partial stores, plain and encrypted. Chunks that the remote has heal when they are read;
 * without a network such a read is `offline`; `repair` mends the damage that `verify` reports. No row is ever wrong.
 */
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import { HedgerowError } from '../../../src/index.js';
import { atRest } from '../../../src/sync/encryption/index.js';
import { copiedMemory } from '../../support/doubles/copied-memory.js';
import { simulateInTurn } from '../../support/doubles/in-turn.js';
import { type WatchedStorage, watched } from '../../support/doubles/watched-storage.js';
import { kindOf } from '../../support/error-kind.js';
import { forSampled, forSeeds, isDeep } from '../../support/property.js';
import { random } from '../../support/random.js';
import { chunksOfKind, Kind, middleOf } from '../../support/stored-chunks.js';
import { keyOf, lazy, published, rowOf, switched } from '../../support/worlds/lazy-devices.js';

simulateInTurn();

const ROWS = 8000;
const BYTES = 120;
const COMMIT = Kind.commit;
/** The bits that flip. */
const MASK = 0x10;
const LARGE = 2000;
const large = random(3).bytes(150_000);
const shared = published(ROWS, BYTES).then(async ({ remote, from, link }) => {
  await from.put(keyOf(LARGE), large);
  await link.push();
  return { remote, from };
});

/** The rows read before the damage: neighbours, rows of far leaves, and a value out of line. */
const READ = [100, 101, 1200, 1999, LARGE, 5000, 7900];
const wanted = (nth: number) => (nth === LARGE ? large : rowOf(nth, 'open', BYTES)[1]);

/** A wrong byte of a segment, by the part of the segment before it. */
interface Damage {
  readonly id: number;
  readonly share: number;
}

/** Changes the bytes at each read. */
function damage(storage: WatchedStorage, all: readonly Damage[]): void {
  storage.hooks.read = (read, bytes) => {
    for (const { id, share } of all) {
      const at = Math.floor(share * bytes.length);
      if (id === read) bytes[at] = (bytes[at] as number) ^ MASK;
    }
    return bytes;
  };
}

type Encryption = ReturnType<typeof atRest> | undefined;

const encryptionOf = (isEncrypted: boolean): Encryption =>
  isEncrypted ? atRest({ key: random(9).bytes(32) }) : undefined;

/** Makes a store with some rows here, one of them written here and not pushed. */
async function scene(encryption: Encryption) {
  const { remote } = await shared;
  const storage = copiedMemory();
  const options = { encryption };
  const { db, link } = await lazy(remote, storage, 'app', options);
  await link.pull();
  for (const nth of READ) await db.get(keyOf(nth));
  await db.put(keyOf(101), 'mine');
  const { root } = db;
  await db.close();
  const { ids = [] } = await (await storage.open('app')).load();
  return { remote, storage, options, root, ids };
}

type Made = Awaited<ReturnType<typeof scene>>;

/** Reads all rows that were read before; returns the error codes. A read that does not fail is right. */
async function readAll({ db }: Awaited<ReturnType<typeof lazy>>, mine: unknown = 'mine') {
  const codes: string[] = [];
  for (const nth of READ) {
    try {
      const value = await db.get(keyOf(nth));
      if (!isDeepStrictEqual(value, nth === 101 ? mine : wanted(nth)))
        throw new Error(`row ${nth} is another one`);
    } catch (cause) {
      if (!(cause instanceof HedgerowError)) throw cause;
      codes.push(kindOf(cause));
    }
  }
  return codes;
}

const tally = () => ({ sound: 0, healed: 0, repaired: 0, dropped: 0, refused: 0 });

/** Opens, reads, heals and repairs a damaged copy of a store; returns the necessary step. */
async function judge(made: Made, all: readonly Damage[]): Promise<keyof ReturnType<typeof tally>> {
  const storage = watched(made.storage.copy());
  damage(storage, all);
  const net = switched(made.remote);
  const open = () => lazy(net, storage, 'app', made.options);
  net.isOff = true;
  let off: Awaited<ReturnType<typeof lazy>> | undefined;
  try {
    off = await open();
  } catch (cause) {
    const { code } = cause as HedgerowError;
    // The commit or the top of the tree is damaged. The network brings both for the branch of the remote.
    expect(['corrupt-chunk', 'offline']).toContain(code);
    if (code === 'corrupt-chunk') return 'refused';
  }
  const alone = off === undefined ? ['offline'] : await readAll(off);
  const isOk = (await off?.db.health.verify())?.ok === true;
  for (const code of alone) expect(['offline', 'corrupt-chunk']).toContain(code);
  expect(alone.includes('corrupt-chunk') && isOk).toBe(false);
  await off?.db.close();
  net.isOff = false;
  const on = await open();
  const codes = await readAll(on);
  for (const code of codes) expect(code).toBe('corrupt-chunk');
  // A store that `verify` calls sound has no unreadable row.
  expect(codes.length > 0 && (await on.db.health.verify()).ok).toBe(false);
  let repair: Awaited<ReturnType<typeof on.link.repair>> | undefined;
  try {
    if (codes.length > 0) repair = await on.link.repair();
  } catch (cause) {
    // The commit that was never pushed is damaged, and the commit before it, too.
    expect(cause).toMatchObject({ code: 'corrupt-chunk' });
    expect(all.length).toBeGreaterThan(1);
    expect(all.some(({ id }) => id >= (made.ids.at(-2) as number))).toBe(true);
    await on.db.close();
    return 'refused';
  }
  // A commit that was never pushed exists only here.
  const dropped = repair?.commitsDropped ?? 0;
  const mine = dropped > 0 ? wanted(101) : 'mine';
  expect(await readAll(on, mine)).toEqual([]);
  expect(on.db.root).toBe(repair?.root ?? made.root);
  await on.db.close();
  // The fetched rows are here.
  net.isOff = true;
  const again = await open();
  expect(await readAll(again, mine)).toEqual([]);
  await again.db.close();
  if (repair === undefined) return alone.length > 0 ? 'healed' : 'sound';
  return dropped > 0 ? 'dropped' : 'repaired';
}

const KINDS: readonly [string, boolean][] = [
  ['that is not encrypted', false],
  ['that is encrypted', true],
];

it.each(KINDS)('a store %s survives damage to each segment', async (_, isEncrypted) => {
  const made = await scene(encryptionOf(isEncrypted));
  const counts = tally();
  expect(made.ids.length).toBeGreaterThan(10);
  const places = made.ids.flatMap((id) => [0.02, 0.6].map((share) => ({ id, share })));
  await forSampled(
    places,
    async (place) => {
      counts[await judge(made, [place])] += 1;
    },
    3,
  );
  const mended = [counts.healed, counts.repaired, counts.dropped];
  // Chance decides which kinds a sample contains.
  for (const count of isDeep ? mended : [Math.max(...mended)]) expect(count).toBeGreaterThan(0);
});

it.each(KINDS)('a store %s survives many damaged bytes', async (_, isEncrypted) => {
  const made = await scene(encryptionOf(isEncrypted));
  const counts = tally();
  await forSeeds(8, async (from, _seed, begin) => {
    const some = from.pick([made.ids, made.ids.slice(0, -2), made.ids.slice(-4)]);
    const all = Array.from({ length: from.pick([2, 6, 60]) }, () => {
      return { id: from.pick(some), share: from.next() };
    });
    begin(all);
    counts[await judge(made, all)] += 1;
  });
});

/** A row of a leaf that was read, and not written here. */
const FAR = 5000;

/** Damages the middle of each chunk of some kinds, by their first bytes, in a plain store. */
async function damagedKinds(...kinds: number[]) {
  const made = await scene(undefined);
  const stored = await made.storage.open('app');
  const { tables } = await stored.load();
  const read = await stored.read(made.ids);
  const segments = tables.map((table, nth) => {
    return { ...table, segmentBytes: read[nth] as Uint8Array };
  });
  const chunks = kinds.flatMap((kind) => chunksOfKind(segments, kind));
  const all = chunks.map((chunk): Damage => {
    const { id, segmentBytes } = chunk.segment;
    return { id, share: (chunk.start + middleOf(chunk, MASK) + 0.5) / segmentBytes.length };
  });
  const storage = watched(made.storage.copy());
  const net = switched(made.remote);
  return { all, storage, net, open: () => lazy(net, storage, 'app') };
}

it.each([
  ['internal nodes', [1]],
  ['leaves', [0]],
  ['leaves and all nodes above them but the top', [0, 1]],
])('%s heal after damage to a closed or open store', async (_, kinds) => {
  for (const isBefore of [false, true]) {
    const { all, storage, net, open } = await damagedKinds(...kinds);
    expect(all.length).toBeGreaterThan(4);
    if (isBefore) damage(storage, all);
    const { db } = await open();
    if (!isBefore) {
      // Nodes are in memory, and are not read again.
      await db.get(keyOf(FAR));
      damage(storage, all);
    }
    expect(await db.get(keyOf(FAR))).toEqual(wanted(FAR));
    // A leaf that was never here, below a node that was.
    expect(await db.get(keyOf(FAR + 300))).toEqual(wanted(FAR + 300));
    await db.close();
    // Chunks in memory were not read from storage.
    if (!isBefore) continue;
    net.isOff = true;
    const again = await open();
    for (const nth of [FAR, FAR + 300]) expect(await again.db.get(keyOf(nth))).toEqual(wanted(nth));
    await again.db.close();
  }
});

it('damage to the commits of the last checkpoint and of the last sync costs no read', async () => {
  const { all } = await damagedKinds(COMMIT);
  const found: string[] = [];
  for (const one of all) {
    const { storage, open } = await damagedKinds();
    damage(storage, [one]);
    const made = await open().catch((cause: HedgerowError) => kindOf(cause));
    if (typeof made === 'string') {
      // `repair` mends the commit of the branch.
      found.push(made);
      continue;
    }
    const { db, link } = made;
    found.push(link.reset.join());
    await link.pull();
    expect(await db.get(keyOf(FAR + 600))).toEqual(wanted(FAR + 600));
    expect(await db.get(keyOf(FAR))).toEqual(wanted(FAR));
    const logged: unknown[] = [];
    for await (const { key, ours } of link.conflicts()) logged.push([key, ours]);
    // A row that was written here and not pushed is here, or in the log because it lost against the row of the remote.
    const mine = await db.get(keyOf(101));
    expect(mine === 'mine' ? [] : logged).toEqual(mine === 'mine' ? [] : [[keyOf(101), 'mine']]);
    await db.close();
  }
  expect(found.sort()).toEqual(['checkpoint', 'corrupt-chunk', 'origin,fork']);
});
