/** Damage to stored bytes is always noticed, and its kinds are distinguished. */
import { beforeEach, describe, expect, it } from 'vitest';
import { open } from '../../../src/index.js';
import { deaf } from '../../support/doubles/deaf-storage.js';
import { type WatchedStorage, watched } from '../../support/doubles/watched-storage.js';
import { all, type Entry, expectSame, failure, sorted } from '../../support/models/store-model.js';
import { partlyNoise } from '../../support/noise.js';
import { forSeeds, isDeep } from '../../support/property.js';
import { random } from '../../support/random.js';
import {
  chunksOf,
  chunksOfKind,
  isHarmless,
  Kind,
  type Place,
  type StoredChunk,
} from '../../support/stored-chunks.js';

/** Values of one length, so that each case has as many segments and leaves. */
const COUNT = isDeep ? 5000 : 2500;
const textOf = (at: number) => partlyNoise(at, isDeep ? 270 : 540);
const ROWS = sorted(Array.from({ length: COUNT }, (_, at): Entry => [`k${at}`, textOf(at)]));
const LARGE: Entry = ['large', random(1).bytes(200_000)];
const { leaf: LEAF, piece: PIECE } = Kind;

let storage: WatchedStorage;
let root: string;

beforeEach(async () => {
  storage = watched(deaf());
  const db = await open('test', { storage });
  await db.putMany([...ROWS, LARGE]);
  root = db.root;
  await db.close();
});

/** Returns the chunks of a kind, with their segments. */
const chunks = (kind: number) => chunksOfKind(storage.stored.values(), kind);

/** Changes a byte of a chunk, counted from its start, at each read of its segment. Returns whether that damages it. */
function flip(chunk: StoredChunk, at: number, mask = 1): boolean {
  const { segment, start } = chunk;
  storage.hooks.read = (id, bytes) => {
    if (id === segment.id) bytes[start + at] = (bytes[start + at] ?? 0) ^ mask;
    return bytes;
  };
  return !isHarmless(chunk, at, mask);
}

const reopened = () => open('test', { storage });

/** Splits the rows into the rows that `get` returns and the rows for which it fails. */
async function readable(db: Awaited<ReturnType<typeof reopened>>, rows = ROWS) {
  const failures = new Map<string, { code?: string; chunk?: string }>();
  for (const [key, value] of rows) {
    try {
      expectSame(await db.get(key), value, key);
    } catch (error) {
      failures.set(key, error as object);
    }
  }
  return failures;
}

describe('a damaged byte in a leaf', () => {
  it('makes its rows corrupt-chunk, with its hash, and leaves the others readable', async () => {
    const leaves = chunks(LEAF);
    expect(leaves.length).toBeGreaterThan(10);
    const leaf = leaves[5]!;
    expect(leaf.end - leaf.start).toBeLessThan(leaf.length);
    expect(flip(leaf, 20)).toBe(true);
    const db = await reopened();
    const failures = await readable(db);
    expect(failures.size).toBeGreaterThan(0);
    expect(failures.size).toBeLessThan(ROWS.length / 5);
    for (const error of failures.values()) {
      expect(error).toEqual(failure('corrupt-chunk', { chunk: leaf.hash, retryable: false }));
    }
    const [bad = ''] = failures.keys();
    const corrupt = failure('corrupt-chunk', { chunk: leaf.hash });
    await expect(db.getMany(['k1', bad])).rejects.toEqual(corrupt);
    await expect(db.scan().toArray()).rejects.toEqual(corrupt);
    await expect(db.scan({ reverse: true }).toArray()).rejects.toEqual(corrupt);
    expect(db.root).toBe(root);
    // The count of a range needs the leaves at its ends, and no others.
    expect(await db.count()).toBe(ROWS.length + 1);
    expectSame(await db.get('large'), LARGE[1]);
  });

  it('does not hide the rows before it from a scan', async () => {
    const leaf = chunks(LEAF)[20]!;
    expect(flip(leaf, leaf.end - leaf.start - 1)).toBe(true);
    const db = await reopened();
    const seen: Entry[] = [];
    const scan = async () => {
      for await (const entry of db.scan()) seen.push(entry as Entry);
    };
    await expect(scan()).rejects.toEqual(failure('corrupt-chunk'));
    expectSame(seen, [...ROWS, LARGE].slice(0, seen.length));
  });

  it('does not keep other rows from being written', async () => {
    const leaf = chunks(LEAF)[5]!;
    expect(flip(leaf, 20)).toBe(true);
    const db = await reopened();
    const failures = await readable(db);
    const [bad = ''] = failures.keys();
    await db.put('new', 1);
    await expect(db.put(bad, 1)).rejects.toEqual(failure('corrupt-chunk', { chunk: leaf.hash }));
    expect(await db.get('new')).toBe(1);
    expect((await readable(db)).size).toBe(failures.size);
    await expect(db.putMany([[bad, 1]])).rejects.toEqual(failure('corrupt-chunk'));
    await db.delete('new');
    expect(db.root).toBe(root);
  });

  it('is noticed wherever it is', async () => {
    await forSeeds(25, async (from, _, begin) => {
      const leaf = from.pick(chunks(LEAF));
      const [at, bit] = [from.below(leaf.end - leaf.start), 1 << from.below(8)];
      begin({ flipped: bit, at, leaf: leaf.hash });
      const isDamaged = flip(leaf, at, bit);
      const db = await reopened();
      const failures = await readable(
        db,
        ROWS.filter((_, at) => at % 9 === 0),
      );
      for (const error of failures.values()) {
        expect(error).toEqual(failure('corrupt-chunk', { chunk: leaf.hash }));
      }
      // Some other bytes unpack to the same leaf.
      if (isDamaged) {
        await expect(all(db)).rejects.toEqual(failure('corrupt-chunk', { chunk: leaf.hash }));
      } else expect((await all(db)).length).toBe(ROWS.length + 1);
      await db.close();
    });
  });
});

it.each([
  ['as it is', LARGE[1]],
  ['packed', Array.from({ length: 800 }, (_, at) => partlyNoise(at)).join()],
])(
  'a damaged piece of a large value, stored %s, makes only that value unreadable',
  async (how, value) => {
    const writing = await reopened();
    await writing.put('large', value);
    await writing.close();
    const isPacked = ({ start, end, length }: Place) => end - start < length;
    const piece = chunks(PIECE).filter((one) => isPacked(one) === (how === 'packed'))[1]!;
    expect(flip(piece, 1000)).toBe(true);
    const db = await reopened();
    const corrupt = failure('corrupt-chunk', { chunk: piece.hash });
    await expect(db.get('large')).rejects.toEqual(corrupt);
    await expect(db.getMany(['k1', 'large'])).rejects.toEqual(corrupt);
    expect((await readable(db)).size).toBe(0);
    expectSame(
      await db.scan({ lt: 'large' }).toArray(),
      ROWS.filter(([key]) => key < 'large'),
    );
    expect(await db.scan().keys().toArray()).toHaveLength(ROWS.length + 1);
    await db.put('large', 'small');
    expect(await db.get('large')).toBe('small');
  },
);

it('a damaged commit or root node is corrupt-chunk, at opening or reading', async () => {
  const commit = chunks(Kind.commit).find(({ hash }) => hash === root)!;
  flip(commit, commit.end - commit.start - 1);
  await expect(reopened()).rejects.toEqual(failure('corrupt-chunk', { chunk: root }));
  expect(storage.closed).toBe(2);
  delete storage.hooks.read;
  const top = [5, 4, 3, 2, 1].flatMap(chunks)[0]!;
  flip(top, 9);
  const db = await reopened();
  const corrupt = failure('corrupt-chunk', { chunk: top.hash });
  await expect(db.get('k1')).rejects.toEqual(corrupt);
  await expect(all(db)).rejects.toEqual(corrupt);
  await expect(db.health.stats()).rejects.toEqual(corrupt);
});

describe('a segment', () => {
  it('that is gone makes its rows missing-chunk, and leaves the others readable', async () => {
    const segment = chunks(LEAF)[5]!.segment;
    storage.hooks.read = (id, bytes) => (id === segment.id ? undefined : bytes);
    const db = await reopened();
    const failures = await readable(db);
    expect(failures.size).toBeGreaterThan(0);
    expect(failures.size).toBeLessThan(ROWS.length);
    const hashes = new Set(chunksOf(segment).map(({ hash }) => hash));
    for (const error of failures.values()) {
      expect(error).toEqual(failure('missing-chunk', { retryable: false }));
      expect(hashes).toContain(error.chunk);
    }
    await expect(all(db)).rejects.toEqual(failure('missing-chunk'));
  });

  const lengths: [string, (bytes: Uint8Array) => Uint8Array][] = [
    ['that is empty', () => new Uint8Array()],
    ['that is cut off', (bytes) => bytes.slice(0, bytes.length / 2)],
  ];
  for (const [title, change] of lengths) {
    it(`${title} makes rows corrupt-chunk, and leaves the others readable`, async () => {
      const segment = chunks(LEAF)[5]!.segment;
      storage.hooks.read = (id, bytes) => (id === segment.id ? change(bytes) : bytes);
      const db = await reopened();
      const failures = await readable(db);
      expect(failures.size).toBeGreaterThan(0);
      expect(failures.size).toBeLessThan(ROWS.length);
      for (const error of failures.values()) expect(error).toEqual(failure('corrupt-chunk'));
    });
  }

  const claims: [string, (last: Place) => { end: number; length: number }][] = [
    ['more bytes', ({ start }) => ({ end: 0xff00_0000, length: 0xff00_0000 - start })],
    ['that a packed chunk is longer', ({ end, length }) => ({ end, length: length + 1 })],
    ['that a packed chunk is shorter', ({ end, length }) => ({ end, length: length - 1 })],
    ['that a packed chunk is not packed', ({ start, end }) => ({ end, length: end - start })],
  ];
  for (const [title, change] of claims) {
    it(`whose table claims ${title} makes its last chunk corrupt-chunk`, async () => {
      const { segment } = chunks(LEAF)[5]!;
      const last = chunksOf(segment).at(-1)!;
      expect(last.end - last.start).toBeLessThan(last.length - 1);
      const tableBytes = segment.tableBytes.slice();
      const view = new DataView(tableBytes.buffer);
      const { end, length } = change(last);
      // The lengths follow the ends, at the end of the table.
      const ofLengths = 4 * view.getUint32(8, true);
      view.setUint32(tableBytes.length - ofLengths - 4, end, true);
      view.setUint32(tableBytes.length - 4, length, true);
      storage.hooks.load = ({ tables, ...rest }) => ({
        ...rest,
        tables: tables.map((table) =>
          table.id === segment.id ? { id: table.id, tableBytes } : table,
        ),
      });
      const failures = await readable(await reopened());
      const corrupt = failure('corrupt-chunk', { chunk: last.hash });
      expect(failures.size).toBeGreaterThan(0);
      for (const error of failures.values()) expect(error).toEqual(corrupt);
    });
  }

  it('that is longer than before is read to its old end', async () => {
    storage.hooks.read = (_, bytes) => Uint8Array.from([...bytes, 1, 2, 3]);
    expect((await readable(await reopened())).size).toBe(0);
  });

  it('of another id is corrupt-chunk', async () => {
    const [one, other] = [chunks(LEAF)[0]!.segment, chunks(PIECE)[0]!.segment];
    storage.hooks.read = (id, bytes) =>
      id === one.id ? Uint8Array.from(other.segmentBytes) : bytes;
    const failures = await readable(await reopened());
    for (const error of failures.values()) expect(error).toEqual(failure('corrupt-chunk'));
    expect(failures.size).toBeGreaterThan(0);
  });
});

describe('a table', () => {
  /** Returns the offset of the lengths, where the ends of the chunks end. */
  const endOfEnds = (bytes: Uint8Array) => 12 + 36 * ((bytes.length - 12) / 40);
  const changes: [string, (bytes: Uint8Array) => Uint8Array][] = [
    ['that is empty', () => new Uint8Array()],
    ['of one byte', () => Uint8Array.of(1)],
    ['that is cut off', (bytes) => bytes.slice(0, -1)],
    ['that is noise', (bytes) => random(2).bytes(bytes.length)],
    ['of another format', (bytes) => bytes.with(4, 2)],
    ['that says it holds more', (bytes) => bytes.with(8, (bytes[8] ?? 0) + 1)],
    ['with offsets out of order', (bytes) => bytes.fill(0, endOfEnds(bytes) - 4, endOfEnds(bytes))],
    ['with a length of 0', (bytes) => bytes.fill(0, bytes.length - 4)],
    ['with a length of no packed chunk', (bytes) => bytes.with(bytes.length - 2, 2)],
    ['with hashes of other chunks', (bytes) => bytes.map((b, at) => (at === 12 ? b ^ 1 : b))],
  ];
  for (const [title, change] of changes) {
    it(`${title} leaves the rows of other segments readable`, async () => {
      const { id } = chunks(LEAF)[5]!.segment;
      storage.hooks.load = ({ tables, ...rest }) => ({
        ...rest,
        tables: tables.map((table) =>
          table.id === id ? { id, tableBytes: change(table.tableBytes) } : table,
        ),
      });
      const db = await reopened();
      const failures = await readable(db);
      expect(failures.size).toBeLessThan(ROWS.length);
      for (const error of failures.values()) expect(error).toEqual(failure('missing-chunk'));
      if (!title.includes('hashes')) expect(failures.size).toBeGreaterThan(0);
    });
  }
});

describe('a ref', () => {
  const changed = (change: object) => {
    storage.hooks.load = ({ refs, ...rest }) => ({
      refs: refs.map((ref) => ({ ...ref, ...change })),
      ...rest,
    });
  };

  it('of a later format makes opening fail with newer-version/format', async () => {
    const closed = storage.closed;
    changed({ format: 2 });
    await expect(reopened()).rejects.toEqual(failure('newer-version/format', { retryable: false }));
    expect(storage.closed).toBe(closed + 1);
  });

  it('that changes to a later format makes a refresh fail, and the store stays readable', async () => {
    const [db, other] = [await reopened(), await reopened()];
    await other.put('other', 1);
    changed({ format: 2 });
    await expect(db.put('mine', 1)).rejects.toEqual(failure('newer-version/format'));
    expect(await db.get('k1')).toBe(textOf(1));
    expect(await db.get('mine')).toBeUndefined();
  });

  it('to a missing commit makes opening fail with missing-chunk', async () => {
    changed({ commitBytes: new Uint8Array(32).fill(7) });
    await expect(reopened()).rejects.toEqual(failure('missing-chunk', { chunk: '07'.repeat(32) }));
  });

  it('to a chunk that is no commit makes opening fail with corrupt-chunk', async () => {
    const { hash } = chunks(LEAF)[0]!;
    changed({ commitBytes: Uint8Array.from(Buffer.from(hash, 'hex')) });
    await expect(reopened()).rejects.toEqual(failure('corrupt-chunk', { chunk: hash }));
  });

  it('of another name does not belong to this store', async () => {
    changed({ name: 'other' });
    expect(await (await reopened()).count()).toBe(0);
  });
});
