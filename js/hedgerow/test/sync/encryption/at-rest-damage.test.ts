/** Encrypted stores whose bytes have changed: each change is refused, or reported as damage as in plain stores. */
import { beforeAll, describe, expect, it } from 'vitest';
import { HedgerowError, memory, open, repairStore, verifyStore } from '../../../src/index.js';
import type { Ref, SegmentRecord, Storage } from '../../../src/storage/segment-store.js';
import { atRest } from '../../../src/sync/encryption/index.js';
import { flipped } from '../../support/damaged-bytes.js';
import { watched } from '../../support/doubles/watched-storage.js';
import { kindOf } from '../../support/error-kind.js';
import { all, type Entry, expectSame, failure, sorted } from '../../support/models/store-model.js';
import { partlyNoise } from '../../support/noise.js';
import { forSampled, forSeeds, hasAllSeeds, isDeep } from '../../support/property.js';
import { random } from '../../support/random.js';
import { type Dump, dumpOf, storageOf } from './at-rest-dump.js';

const key = random(1).bytes(32);
const encryption = atRest({ key });
const few: Entry[] = [
  ['ada', { born: 1815 }],
  ['grace', { born: 1906 }],
];

/** A small store with a branch: its stored form and its rows. */
let small: Dump;
let plain: Dump;
beforeAll(async () => {
  const storage = memory();
  const db = await open('test', { storage, encryption });
  await db.putMany(few);
  await db.branches.open('draft').then((draft) => draft.put('alan', { born: 1912 }));
  await db.close();
  small = await dumpOf(storage);
  plain = await dumpOf(encryption.over(storage));
});

const isRefused = (cause: unknown) => {
  if (!(cause instanceof HedgerowError)) throw cause;
  return kindOf(cause);
};

/**
 * Expects that the segments, tables and refs of a store are the plain store's or missing, at the level of storage. A
 * chunk of other bytes has another hash, which the core refuses: so only the segments whose bytes differ are judged.
 */
async function judged(dump: Dump): Promise<'same' | 'damage' | 'refused'> {
  let found: Dump;
  try {
    found = await dumpOf(encryption.over(storageOf(dump)));
  } catch (cause) {
    isRefused(cause);
    return 'refused';
  }
  let isSame = true;
  for (const [at, { id, segmentBytes, tableBytes }] of plain.segments.entries()) {
    const other = found.segments[at];
    expect(other?.id).toBe(id);
    const table = Buffer.from(other?.tableBytes ?? []);
    // A wrong table is never returned.
    if (!table.equals(tableBytes)) {
      expect(table.length).toBe(0);
      isSame = false;
    }
    const segment = Buffer.from(other?.segmentBytes ?? []);
    if (segment.equals(segmentBytes)) continue;
    isSame = false;
  }
  const known = plain.refs.map((moves) => moves.map(told));
  for (const [at, moves] of found.refs.entries()) {
    if (moves.map(told).join() !== known[at]?.join()) {
      // Each move is a known one, or names an unknown commit.
      const hashes = plain.refs.flat().map(({ commitBytes }) => hexOf(commitBytes));
      for (const move of moves) {
        const isKnown = known.flat().includes(told(move));
        expect(isKnown || !hashes.includes(hexOf(move.commitBytes))).toBe(true);
      }
      isSame = false;
    }
  }
  return isSame ? 'same' : 'damage';
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

const told = ({ name, generation, format, commitBytes }: Ref) =>
  `${name} ${generation} ${format} ${hexOf(commitBytes)}`;

/** All dumps that differ from `small` by one bit: a description, and a function that makes the dump. */
function* flips(): Generator<[what: string, make: () => Dump]> {
  const { segments, refs } = small;
  for (const [at, segment] of segments.entries()) {
    for (const part of ['segmentBytes', 'tableBytes'] as const) {
      for (let bit = 0; bit < 8 * segment[part].length; bit++) {
        const changed = () => ({ ...segment, [part]: flipped(segment[part], bit) });
        const make = () => ({ refs, segments: segments.with(at, changed()) });
        yield [`bit ${bit} of ${part} ${at}`, make];
      }
    }
  }
  for (const [at, moves] of refs.entries()) {
    const [newest, ...rest] = moves as [Ref, ...Ref[]];
    const with_ = (changed: Partial<Ref>) => () => ({
      segments,
      refs: refs.with(at, [{ ...newest, ...changed }, ...rest]),
    });
    for (let bit = 0; bit < 256; bit++) {
      const commitBytes = flipped(newest.commitBytes, bit);
      yield [`bit ${bit} of the commit of ref ${at}`, with_({ commitBytes })];
    }
    for (let bit = 0; bit < 32; bit++) {
      const format = (newest.format ^ (1 << bit)) >>> 0;
      yield [`bit ${bit} of the format of ref ${at}`, with_({ format })];
      const generation = (newest.generation ^ (1 << bit)) >>> 0;
      yield [`bit ${bit} of the generation of ref ${at}`, with_({ generation })];
    }
    const nameBytes = Buffer.from(newest.name);
    for (let bit = 0; bit < 8 * nameBytes.length; bit++) {
      const name = Buffer.from(flipped(nameBytes, bit)).toString('latin1');
      const moved = moves.map((move) => ({ ...move, name }));
      const make = () => ({ segments, refs: refs.with(at, moved) });
      yield [`bit ${bit} of the name of ref ${at}`, make];
    }
  }
}

describe('one flipped bit', () => {
  it('is refused, is reported as damage, or is in unused bytes: each bit of a store', async () => {
    expect(await judged(small)).toBe('same');
    const tally = { same: 0, damage: 0, refused: 0 };
    await forSampled(
      flips(),
      async ([, make]) => {
        tally[await judged(make())] += 1;
      },
      31,
    );
    console.info(tally);
    if (!isDeep) return;
    expect(tally.damage).toBeGreaterThan(4000);
    expect(tally.refused).toBeGreaterThan(500);
    // One of two copies of the key record is enough; the marker's bytes have no meaning; of the segment headers only
    // the table headers are read.
    expect(tally.same).toBeLessThan(4000);
  });

  it('never leads to a wrong row', async () => {
    let [opened, refused] = [0, 0];
    const every = [...flips()];
    await forSeeds(200, async (from, _, begin) => {
      const [what, make] = from.pick(every);
      begin(what);
      try {
        const db = await open('test', { storage: storageOf(make()), encryption });
        const rows = await all(db).finally(() => db.close());
        expectSame(rows, few);
        opened += 1;
      } catch (cause) {
        isRefused(cause);
        refused += 1;
      }
    });
    if (hasAllSeeds(200)) expect(Math.min(opened, refused)).toBeGreaterThan(20);
  });
});

describe('bytes of the same store in another place', () => {
  const swapped = (part: 'segmentBytes' | 'tableBytes'): Dump => {
    const [first, second, ...rest] = small.segments as [SegmentRecord, SegmentRecord];
    const one = { ...first, [part]: second[part] };
    const two = { ...second, [part]: first[part] };
    return { refs: small.refs, segments: [one, two, ...rest] };
  };

  it.each([
    ['segmentBytes', 'corrupt-chunk'],
    ['tableBytes', 'missing-chunk'],
  ] as const)('are damage: %s', async (part, code) => {
    expect(small.segments.length).toBeGreaterThan(1);
    expect(await judged(swapped(part))).toBe('damage');
    const opening = open('test', { storage: storageOf(swapped(part)), encryption });
    await expect(opening).rejects.toEqual(failure(code));
  });

  it('are damage: two segments under swapped ids', async () => {
    const [first, second, ...rest] = small.segments as [SegmentRecord, SegmentRecord];
    const segments = [{ ...second, id: first.id }, { ...first, id: second.id }, ...rest];
    expect(await judged({ refs: small.refs, segments })).toBe('damage');
  });

  it('are damage: the commit of one branch in the ref of another', async () => {
    const sealed = small.refs.filter(([ref]) => /^[0-9a-f]+$/.test(ref?.name ?? ''));
    expect(sealed.length).toBeGreaterThan(1);
    for (const moves of sealed) {
      for (const others of sealed.filter((one) => one !== moves)) {
        const { name, generation } = moves[0] as Ref;
        const forged = { ...(others[0] as Ref), name, generation };
        const refs = small.refs.map((one) => (one === moves ? [forged] : one));
        expect(await judged({ segments: small.segments, refs })).toBe('damage');
      }
    }
  });
});

describe('a large store with damage', () => {
  const rows = Array.from({ length: 5000 }, (_, at): Entry => [`k${at}`, partlyNoise(at)]);

  /** Makes a store with two commits, some of whose segments change by this many bytes when they are read. */
  async function scene(): Promise<{
    storage: Storage & ReturnType<typeof watched>;
    plainRoot: string;
  }> {
    const storage = watched(memory());
    const db = await open('test', { storage, encryption });
    await db.putMany(rows);
    await db.put('k1', 'new');
    const plainRoot = db.root;
    await db.close();
    return { storage, plainRoot };
  }

  const largest = (storage: ReturnType<typeof watched>) =>
    [...storage.stored.values()].reduce((a, b) =>
      a.segmentBytes.length > b.segmentBytes.length ? a : b,
    );

  it('loses the rows of one chunk, and names it', async () => {
    const { storage } = await scene();
    const { id, segmentBytes } = largest(storage);
    expect(segmentBytes.length).toBeGreaterThan(200_000);
    storage.hooks.read = (read, bytes) => {
      if (read === id) bytes[100_000]! ^= 1;
      return bytes;
    };
    const db = await open('test', { storage, encryption, advanced: { cacheBytes: 0 } });
    const lost: string[] = [];
    for (const [name, value] of rows.slice(2)) {
      try {
        expectSame(await db.get(name), value, name);
      } catch (cause) {
        expect(cause).toEqual(failure('corrupt-chunk'));
        lost.push(name);
      }
    }
    expect(lost.length).toBeGreaterThan(0);
    // The other chunks of a frame, which has 64 KiB, are sound.
    expect(lost.length).toBeLessThan(rows.length / 40);
    const found = await verifyStore('test', { storage, encryption });
    expect(found.ok).toBe(false);
    expect(found.faults).toMatchObject([{ code: 'corrupt-chunk' }]);
    expect(found.rows).toBe(rows.length - lost.length);
    await db.close();
    // Both commits need the chunk: `salvage` keeps the other rows.
    await expect(repairStore('test', { storage, encryption })).rejects.toEqual(
      failure('corrupt-chunk'),
    );
    const repaired = await repairStore('test', { storage, encryption, salvage: true });
    expect(repaired.rowsLost).toBe(lost.length);
    const again = await open('test', { storage, encryption });
    expect(await again.count()).toBe(rows.length - lost.length);
    expect((await again.health.verify()).ok).toBe(true);
  });

  it('ends at the cut if it was cut off', async () => {
    const { storage } = await scene();
    const { id, segmentBytes } = largest(storage);
    storage.hooks.read = (read, bytes) =>
      read === id ? bytes.subarray(0, segmentBytes.length >> 1) : bytes;
    const found = await verifyStore('test', { storage, encryption });
    expect(found.segmentFaults).toContainEqual({ segment: id, what: 'length' });
    expect(found.rows).toBeGreaterThan(rows.length / 4);
    expect(found.rows).toBeLessThan(rows.length);
  });

  it('goes back to the previous commit where the newest one is damaged', async () => {
    const { storage, plainRoot } = await scene();
    const newest = Math.max(...storage.stored.keys());
    storage.hooks.read = (read, bytes) => (read === newest ? bytes.fill(1) : bytes);
    storage.hooks.load = (loaded) => ({
      ...loaded,
      tables: loaded.tables.map(({ id, tableBytes }) => ({ id, tableBytes })),
    });
    await expect(open('test', { storage, encryption })).rejects.toBeInstanceOf(HedgerowError);
    const repaired = await repairStore('test', { storage, encryption });
    expect(repaired).toMatchObject({ commitsDropped: 1, rowsLost: 0 });
    expect(repaired.root).not.toBe(plainRoot);
    const db = await open('test', { storage, encryption });
    expectSame(await db.get('k1'), rows[1]?.[1]);
  });

  it('goes back to the previous commit where the newest move is damaged', async () => {
    const inner = memory();
    const db = await open('test', { storage: inner, encryption });
    await db.putMany(rows);
    const { root } = db;
    await db.put('k1', 'new');
    await db.close();
    const { refs } = await dumpOf(inner);
    const [newest] = refs.find((moves) => moves.length === 2) as [Ref, Ref];
    const damaged = (ref: Ref): Ref => {
      const isNewest = ref.name === newest.name && ref.generation === newest.generation;
      return isNewest ? { ...ref, commitBytes: flipped(ref.commitBytes, 77) } : ref;
    };
    const storage: Storage = {
      ...inner,
      async open(...args) {
        const store = await inner.open(...args);
        const load = store.load.bind(store);
        const history = store.history.bind(store);
        store.load = async (...given) => {
          const loaded = await load(...given);
          return { ...loaded, refs: loaded.refs.map(damaged) };
        };
        store.history = async (name) => (await history(name)).map(damaged);
        return store;
      },
    };
    await expect(open('test', { storage, encryption })).rejects.toEqual(failure('missing-chunk'));
    const repaired = await repairStore('test', { storage, encryption });
    expect(repaired).toMatchObject({ root, commitsDropped: 1, rowsLost: 0 });
    const again = await open('test', { storage, encryption });
    expectSame(await all(again), sorted(rows));
  });
});
