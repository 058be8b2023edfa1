/** Repository files and heads of a remote: their bytes, and how one head follows another. */
import { describe, expect, it } from 'vitest';
import { sameBytes } from '../src/base/bytes.js';
import { hex } from '../src/base/hex.js';
import { HedgerowError } from '../src/index.js';
import { decodeDeltaObject, encodeDeltaObject } from '../src/remote/format/delta-object.js';
import {
  type Checkpoint,
  checkpointRows,
  type Delta,
  type Head,
  packsOf,
  type Rows,
} from '../src/remote/format/head.js';
import { decodeHead, encodeHead, headLength } from '../src/remote/format/head-codec.js';
import {
  type Author,
  breakBetween,
  entriesAfterCheckpoint,
  entriesSince,
  hasNonce,
  successorOf,
  withEntry,
} from '../src/remote/format/head-rules.js';
import { decodeRepository, encodeRepository, mayWrite } from '../src/remote/format/repository.js';
import { forSeeds, seedCount } from './property.js';
import { type Random, random } from './random.js';
import { hash, randomHead, resealed } from './remote-samples.js';

const ZERO = new Uint8Array(32);
const rowsOf = (from: Random): Rows => ({ rootBytes: from.bytes(32), count: 1 + from.below(1e6) });
const inline = (from: Random, length: number): Delta => ({
  kind: 'inline',
  deltaBytes: from.bytes(length),
});
const object = (from: Random, length: number): Delta => ({
  kind: 'object',
  nameBytes: from.bytes(32),
  length,
});
const authorOf = (from: Random, head: Head): Author => ({
  writerBytes: from.bytes(16),
  nonceBytes: from.bytes(16),
  previousBytes: hash(encodeHead(head)),
});

/** The first head of a branch without rows. */
function emptyHead(from: Random): Head {
  const rows = { rootBytes: ZERO, count: 0 };
  return {
    repositoryBytes: from.bytes(16),
    seq: 1,
    writerBytes: from.bytes(16),
    nonceBytes: from.bytes(16),
    previousBytes: ZERO,
    app: 0,
    isCompacting: false,
    rows,
    checkpoint: { seq: 0, generations: [] },
    base: rows,
    tail: [],
    retired: [],
    sums: [],
  };
}

/** Moves the checkpoint to the head, as its packs would. */
function checkpointed(from: Random, head: Head): Head {
  const pack = { nameBytes: from.bytes(32), length: 1000, edits: 3 };
  const generations = [{ seq: head.seq, rows: head.rows, packs: [pack] }];
  const checkpoint = { seq: head.seq, generations };
  return { ...successorOf(head, authorOf(from, head)), checkpoint };
}

function appended(head: Head, rows: Rows, delta: Delta, author: Author): Head {
  const result = withEntry(head, rows, delta, author);
  if (result.kind !== 'head') throw new Error(result.kind);
  return result.head;
}

function errorOf(call: () => unknown): HedgerowError {
  try {
    call();
  } catch (cause) {
    if (cause instanceof HedgerowError) return cause;
    throw cause;
  }
  throw new Error('nothing was thrown');
}

describe('a repository file', () => {
  it('comes back as it was', () => {
    const repository = { idBytes: random(1).bytes(16), app: 0xffff_ffff };
    const bytes = encodeRepository(repository);
    expect(bytes.length).toBe(40);
    expect(decodeRepository(bytes)).toEqual(repository);
  });

  it('of a later version, suite or codec is not supported', () => {
    const bytes = encodeRepository({ idBytes: random(1).bytes(16), app: 1 });
    for (const [at, byte] of [
      [4, 2],
      [5, 1],
      [24, 2],
    ] as const) {
      const error = errorOf(() => decodeRepository(resealed(bytes.with(at, byte))));
      expect([error.code, error.object]).toEqual(['unsupported-format', 'repository']);
    }
  });

  it('tells an older app that it only reads', () => {
    expect([0, 3, 4].map((app) => mayWrite(app, { app: 3 }))).toEqual([false, true, true]);
  });
});

describe('a head', () => {
  it('comes back as it was, and has one encoding', async () => {
    await forSeeds(seedCount(300), async (from, _, begin) => {
      const head = randomHead(from);
      begin({ seq: head.seq, tail: head.tail.length, packs: packsOf(head.checkpoint).length });
      const bytes = encodeHead(head);
      expect(bytes.length).toBe(headLength(head));
      const found = decodeHead(bytes);
      expect(found).toEqual(head);
      expect(encodeHead(found)).toEqual(bytes);
    });
  });

  it('is refused wherever it is cut off', () => {
    const bytes = encodeHead(randomHead(random(4)));
    for (let length = 0; length < bytes.length; length++) {
      const error = errorOf(() => decodeHead(bytes.slice(0, length)));
      expect([error.code, error.object], `${length}`).toEqual(['invalid-remote', 'head']);
    }
  });

  it('is refused with each single bit flipped', () => {
    const bytes = encodeHead(randomHead(random(2)));
    expect(bytes.length).toBeGreaterThan(300);
    for (let bit = 0; bit < 8 * bytes.length; bit++) {
      const [at, mask] = [bit >> 3, 1 << (bit & 7)];
      const error = errorOf(() => decodeHead(bytes.with(at, (bytes[at] as number) ^ mask)));
      const isLater = at === 4 || at === 5;
      expect(error.code, `bit ${bit}`).toBe(
        isLater && error.offset === undefined ? 'unsupported-format' : 'invalid-remote',
      );
    }
  });

  it('that breaks a rule is neither written nor read', async () => {
    const head = randomHead(random(1));
    const noPacks = { seq: 1, rows: head.rows, packs: [] };
    const wrong: [string, Partial<Head>][] = [
      ['seq', { seq: 0 }],
      ['previous', { previousBytes: head.seq === 1 ? head.rows.rootBytes : ZERO }],
      ['rows', { rows: { rootBytes: random(9).bytes(32), count: 1 } }],
      ['checkpoint', { checkpoint: { ...head.checkpoint, seq: head.seq + 1 } }],
      ['generation 0', { checkpoint: { seq: 1, generations: [noPacks] } }],
    ];
    for (const [place, change] of wrong) {
      const error = errorOf(() => encodeHead({ ...head, ...change }));
      expect(error.code).toBe('invalid-argument');
      expect(error.message).toContain(`head: ${place}: `);
    }
  });

  it('longer than 64 KiB is not written', () => {
    const from = random(1);
    const head = checkpointed(
      from,
      appended(emptyHead(from), rowsOf(from), inline(from, 9), authorOf(from, emptyHead(from))),
    );
    const packs = (count: number): Checkpoint => {
      const [one] = packsOf(head.checkpoint);
      if (one === undefined) throw new Error('there is a pack');
      const all = Array.from({ length: count }, () => ({ ...one, nameBytes: from.bytes(32) }));
      return {
        seq: head.seq - 1,
        generations: [{ seq: head.seq - 1, rows: head.rows, packs: all }],
      };
    };
    const long = { ...head, checkpoint: packs(1700) };
    expect(headLength(long)).toBeGreaterThan(65_536);
    expect(errorOf(() => encodeHead(long)).code).toBe('invalid-argument');
    const fitting = { ...head, checkpoint: packs(1600) };
    expect(packsOf(decodeHead(encodeHead(fitting)).checkpoint)).toHaveLength(1600);
  });
});

describe('a tail', () => {
  it('leads from each tree that it knows to the newest one', async () => {
    await forSeeds(seedCount(2), async (from, _, begin) => {
      let head = emptyHead(from);
      const roots = [head.rows.rootBytes];
      for (let step = 0; step < 150; step++) {
        const rows = rowsOf(from);
        const length = 1 + from.below(from.pick([100, 4096]));
        const delta = from.next() < 0.5 ? inline(from, length) : object(from, length * 10);
        begin({ step, seq: head.seq, kind: delta.kind, length });
        const before = head;
        let result = withEntry(head, rows, delta, authorOf(from, head));
        if (result.kind === 'spill') {
          result = withEntry(head, rows, object(from, length), authorOf(from, head));
        }
        if (result.kind === 'checkpoint') {
          head = checkpointed(from, head);
          continue;
        }
        if (result.kind !== 'head') throw new Error(result.kind);
        head = result.head;
        roots.push(rows.rootBytes);
        expectRules(head, before, roots);
      }
    });
  });

  function expectRules(head: Head, before: Head, roots: readonly Uint8Array[]): void {
    const bytes = encodeHead(head);
    expect(sameBytes(encodeHead(decodeHead(bytes)), bytes)).toBe(true);
    expect(breakBetween(head, before, hash(encodeHead(before)))).toBeUndefined();
    expect(hasNonce(head, before.nonceBytes)).toBe(head.tail.some(({ seq }) => seq === before.seq));
    for (const [nth, rootBytes] of roots.entries()) {
      const wanted = roots.slice(nth + 1);
      const found = entriesSince(head, rootBytes);
      if (wanted.length > head.tail.length) expect(found).toBeUndefined();
      else
        expect(found?.map(({ rows }) => hex(rows.rootBytes)).join()).toBe(wanted.map(hex).join());
    }
    // A clone needs these, so that they never leave.
    const after = entriesAfterCheckpoint(head);
    const base =
      after.length < head.tail.length ? head.tail[head.tail.length - after.length - 1] : head;
    const reached = base === head ? head.base : (base as { rows: Rows }).rows;
    expect(reached).toEqual(checkpointRows(head.checkpoint));
    const spilled = before.tail.flatMap(({ delta }) => (delta.kind === 'object' ? [delta] : []));
    for (const delta of spilled) {
      const isLive = head.tail.some((entry) => entry.delta === delta);
      expect(head.retired.some(({ nameBytes }) => nameBytes === delta.nameBytes)).toBe(!isLive);
    }
  }

  it('takes 64 entries after a checkpoint, and then asks for the next', () => {
    const from = random(1);
    let head = emptyHead(from);
    for (let step = 0; step < 64; step++) {
      head = appended(head, rowsOf(from), inline(from, 10), authorOf(from, head));
    }
    const more = withEntry(head, rowsOf(from), inline(from, 10), authorOf(from, head));
    expect(more.kind).toBe('checkpoint');
    head = checkpointed(from, head);
    head = appended(head, rowsOf(from), inline(from, 10), authorOf(from, head));
    expect([head.tail.length, head.tail[0]?.seq]).toEqual([64, 3]);
  });

  it('spills deltas that are long, or do not fit', () => {
    const from = random(1);
    let head = emptyHead(from);
    const add = (delta: Delta) => withEntry(head, rowsOf(from), delta, authorOf(from, head));
    expect(add(inline(from, 4097)).kind).toBe('spill');
    expect(add(object(from, (1 << 20) + 1)).kind).toBe('checkpoint');
    for (;;) {
      const result = add(inline(from, 4096));
      if (result.kind !== 'head') {
        expect(result.kind).toBe('spill');
        break;
      }
      head = result.head;
    }
    expect(head.tail.length).toBe(13);
    expect(headLength(head)).toBeLessThanOrEqual(56 << 10);
    const result = add(object(from, 4096));
    expect(result.kind).toBe('head');
  });

  it('goes on for ever, and lists the 256 objects that were retired last', () => {
    const from = random(1);
    let head = emptyHead(from);
    for (let step = 0; step < 1500; step++) {
      const result = withEntry(head, rowsOf(from), object(from, 5000), authorOf(from, head));
      head = result.kind === 'head' ? result.head : checkpointed(from, head);
    }
    expect(head.retired).toHaveLength(256);
    expect(headLength(head)).toBeLessThan(30 << 10);
    expect(head.retired.at(-1)?.seq).toBeGreaterThan(1400);
  });

  it('asks for a checkpoint before its deltas have more than 1 MiB', () => {
    const from = random(1);
    let head = emptyHead(from);
    head = appended(head, rowsOf(from), object(from, (1 << 20) - 10), authorOf(from, head));
    const author = authorOf(from, head);
    expect(withEntry(head, rowsOf(from), object(from, 11), author).kind).toBe('checkpoint');
    expect(withEntry(head, rowsOf(from), object(from, 10), author).kind).toBe('head');
  });

  it('refuses a step that changes nothing', () => {
    const from = random(1);
    const head = emptyHead(from);
    const call = () => withEntry(head, head.rows, inline(from, 5), authorOf(from, head));
    expect(errorOf(call).code).toBe('invalid-argument');
  });

  it('takes a tree that the branch has had twice where it was last', () => {
    const from = random(1);
    const [first, second] = [rowsOf(from), rowsOf(from)];
    let head = emptyHead(from);
    for (const rows of [first, second, first, second]) {
      head = appended(head, rows, inline(from, 5), authorOf(from, head));
    }
    expect(entriesSince(head, first.rootBytes)).toHaveLength(1);
    expect(entriesSince(head, second.rootBytes)).toHaveLength(0);
  });
});

describe('two heads', () => {
  it('of which one does not follow the other are told apart', () => {
    const from = random(1);
    const head = emptyHead(from);
    const next = successorOf(head, authorOf(from, head));
    const hashBytes = hash(encodeHead(head));
    expect(breakBetween(next, head, hashBytes)).toBeUndefined();
    expect(breakBetween({ ...next, seq: 3 }, head, hashBytes)).toBe('seq');
    expect(breakBetween(head, head, hashBytes)).toBe('seq');
    expect(breakBetween({ ...next, repositoryBytes: from.bytes(16) }, head, hashBytes)).toBe(
      'repository',
    );
    expect(breakBetween({ ...next, previousBytes: from.bytes(32) }, head, hashBytes)).toBe(
      'previous',
    );
  });
});

describe('a delta of its own', () => {
  it('comes back, under another name each time', () => {
    const from = random(1);
    const deltaBytes = from.bytes(5000);
    const one = encodeDeltaObject(deltaBytes, from.bytes(16));
    expect(decodeDeltaObject(one)).toEqual(deltaBytes);
    expect(hash(one)).not.toEqual(hash(encodeDeltaObject(deltaBytes, from.bytes(16))));
    expect(errorOf(() => encodeDeltaObject(new Uint8Array(), from.bytes(16))).code).toBe(
      'invalid-argument',
    );
    const error = errorOf(() => decodeDeltaObject(one.with(100, (one[100] as number) ^ 4)));
    expect([error.code, error.object]).toEqual(['invalid-remote', 'delta']);
  });
});
