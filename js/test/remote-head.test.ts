/** Repository files and heads of a remote: their bytes, and how one head follows another. */
import { describe, expect, it } from 'vitest';
import { sameBytes } from '../src/base/bytes.js';
import { hex } from '../src/base/hex.js';
import { HedgerowError } from '../src/index.js';
import { decodeDeltaObject, encodeDeltaObject } from '../src/remote/format/delta-object.js';
import {
  type Checkpoint,
  type Delta,
  type Generation,
  type Head,
  packsOf,
  type Rows,
  type Tail,
  type TailEntry,
} from '../src/remote/format/head.js';
import { decodeHead, encodeHead, headLength } from '../src/remote/format/head-codec.js';
import {
  type Appended,
  type Author,
  breakBetween,
  entriesSince,
  joinedTail,
  logsSince,
  successorOf,
  withCheckpoint,
  withEntry,
  withLog,
} from '../src/remote/format/head-rules.js';
import { decodeLog, encodeLog } from '../src/remote/format/log.js';
import { decodeRepository, encodeRepository, mayWrite } from '../src/remote/format/repository.js';
import { forSeeds, isOneSeed, seedCount } from './property.js';
import { type Random, random } from './random.js';
import { hash, randomBranch, randomHead, resealed } from './remote-samples.js';

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
    logs: [],
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

/** A branch whose logs are kept as a remote would. */
class Branch {
  readonly logs = new Map<string, Uint8Array>();
  readonly #from: Random;
  head: Head;
  /** What a checkpoint goes on from. */
  #before: Head;

  constructor(from: Random) {
    this.#from = from;
    this.head = emptyHead(from);
    this.#before = this.head;
  }

  /** Appends as a push does; says why not. */
  add(rows: Rows, delta: Delta): Exclude<Appended['kind'], 'log'> {
    const author = authorOf(this.#from, this.head);
    this.#before = this.head;
    let result = withEntry(this.head, rows, delta, author);
    if (result.kind === 'log') {
      const { bytes, record } = encodeLog(this.head, this.#from.bytes(16), hash);
      this.logs.set(hex(record.nameBytes), bytes);
      this.#before = withLog(this.head, record);
      result = withEntry(this.#before, rows, delta, author);
    }
    if (result.kind === 'log') throw new Error('a head without entries has no room');
    if (result.kind === 'head') this.head = result.head;
    return result.kind;
  }

  /** A checkpoint of new rows, with the step to them. */
  checkpoint(
    rows: Rows,
    delta: Delta | undefined,
    generations: readonly Generation[] = [
      {
        seq: this.head.seq + 1,
        rows,
        packs: [{ nameBytes: this.#from.bytes(32), length: 1000, edits: 3 }],
      },
    ],
  ): void {
    const author = authorOf(this.#from, this.head);
    this.head = withCheckpoint(this.#before, rows, delta, generations, author);
  }

  /** The tail of the head with its last logs. */
  tail(seq: number): Tail {
    const records = logsSince(this.head, seq);
    return joinedTail(
      this.head,
      records.map(({ nameBytes }) => {
        const bytes = this.logs.get(hex(nameBytes)) as Uint8Array;
        return decodeLog(bytes).entries;
      }),
    );
  }
}

describe('a tail', () => {
  it('leads from each tree that it knows to the newest one', async () => {
    const seen = { logs: 0, checkpoints: 0 };
    await forSeeds(seedCount(2), async (from, _, begin) => {
      const branch = new Branch(from);
      const states: { seq: number; rows: Rows }[] = [{ seq: 1, rows: branch.head.rows }];
      for (let step = 0; step < 200; step++) {
        const rows = rowsOf(from);
        const length = 1 + from.below(from.pick([100, 100, 4096]));
        const delta = from.next() < 0.7 ? inline(from, length) : object(from, length * 10);
        begin({ step, seq: branch.head.seq, kind: delta.kind, length });
        const before = branch.head;
        const kind = branch.add(rows, delta);
        if (kind === 'spill') throw new Error('nothing is that long');
        if (kind === 'checkpoint') {
          seen.checkpoints += 1;
          branch.checkpoint(rows, from.below(3) > 0 ? delta : undefined);
          if (branch.head.tail.length === 0) states.length = 0;
        }
        states.push({ seq: branch.head.seq, rows });
        expectRules(branch, before, states);
        seen.logs = Math.max(seen.logs, branch.head.logs.length);
      }
    });
    expect(seen.logs).toBeGreaterThan(8);
    if (!isOneSeed) expect(seen.checkpoints).toBeGreaterThan(2);
  });

  function expectRules(
    branch: Branch,
    before: Head,
    states: readonly { seq: number; rows: Rows }[],
  ): void {
    const { head } = branch;
    const bytes = encodeHead(head);
    expect(sameBytes(encodeHead(decodeHead(bytes)), bytes)).toBe(true);
    expect(breakBetween(head, before, hash(encodeHead(before)))).toBeUndefined();
    const whole = branch.tail(0);
    for (let nth = states.length - 1; nth >= Math.max(0, states.length - 70); nth -= 3) {
      const { seq, rows } = states[nth] as { seq: number; rows: Rows };
      const wanted = states.slice(nth + 1).map((one) => hex(one.rows.rootBytes));
      const found = entriesSince(branch.tail(seq), rows.rootBytes);
      if (wanted.length > whole.tail.length) expect(found).toBeUndefined();
      else expect(found?.map((one) => hex(one.rows.rootBytes))).toEqual(wanted);
    }
    // No more logs than needed.
    const [first] = head.tail;
    if (first) expect(logsSince(head, first.seq - 1)).toEqual([]);
    for (const [nth, { seq }] of head.logs.entries()) {
      expect(logsSince(head, seq - 1)).toHaveLength(head.logs.length - nth);
      const isOne = head.logs[nth]?.entries === 1;
      expect(logsSince(head, seq)).toHaveLength(head.logs.length - nth - (isOne ? 1 : 0));
    }
    // What leaves is retired.
    const gone = before.logs.filter((log) => !head.logs.includes(log));
    const listed = new Set(head.retired.map(({ nameBytes }) => hex(nameBytes)));
    const isFew = gone.length + before.tail.length <= 8;
    if (isFew) expect(gone.every(({ nameBytes }) => listed.has(hex(nameBytes)))).toBe(true);
    expect(head.retired.length).toBeLessThanOrEqual(8);
  }

  it('takes 64 entries after a checkpoint, and then asks for the next', () => {
    const from = random(1);
    const branch = new Branch(from);
    for (let step = 0; step < 64; step++) {
      expect(branch.add(rowsOf(from), inline(from, 10))).toBe('head');
    }
    expect(branch.tail(0).tail).toHaveLength(64);
    expect(branch.head.logs).toHaveLength(7);
    const rows = rowsOf(from);
    expect(branch.add(rows, inline(from, 10))).toBe('checkpoint');
    branch.checkpoint(rows, inline(from, 10));
    // Whole logs leave.
    const kept = branch.head.logs.reduce((sum, { entries }) => sum + entries, 0);
    expect([kept, branch.head.tail.length, branch.head.logs[0]?.seq]).toEqual([24, 1, 42]);
    expect(branch.head.retired.map(({ folder }) => folder)).toEqual(Array(5).fill('d'));
  });

  it('has at most 8 entries and 3 KiB of them in the head, unless one is alone', () => {
    const from = random(1);
    for (const [length, entries] of [
      [1, 8],
      [315, 8],
      [316, 7],
      [1467, 2],
      [1468, 1],
      [4096, 1],
    ] as const) {
      const branch = new Branch(from);
      const add = () => branch.add(rowsOf(from), inline(from, length));
      for (let nth = 0; nth < entries; nth++) add();
      expect(branch.head.logs).toEqual([]);
      add();
      const { logs, tail } = branch.head;
      expect([logs.map((log) => log.entries), tail.length]).toEqual([[entries], 1]);
    }
  });

  it('of many packs and logs leaves a head of at most 5,900 bytes', () => {
    const from = random(1);
    const branch = new Branch(from);
    const pack = () => ({ nameBytes: from.bytes(32), length: 1000, edits: 3 });
    // All rows of a store of 1,000,000 rows, and 15 checkpoints since.
    let generations: Generation[] = [];
    let [longest, logs] = [0, 0];
    for (let step = 0; step < 1500; step++) {
      const rows = rowsOf(from);
      const delta = inline(from, 280 + from.below(600));
      if (branch.add(rows, delta) === 'checkpoint') {
        if (generations.length === 16) generations = [];
        const packs = Array.from({ length: generations.length === 0 ? 31 : 1 }, pack);
        generations = [...generations, { seq: branch.head.seq + 1, rows, packs }];
        branch.checkpoint(rows, delta, generations);
      }
      longest = Math.max(longest, headLength(branch.head));
      logs = Math.max(logs, branch.head.logs.length);
    }
    expect(generations.length).toBeGreaterThan(1);
    expect(logs).toBe(16);
    expect(longest).toBeLessThanOrEqual(5900);
    expect(longest).toBeGreaterThan(5700);
  });

  it('has at most 16 logs', () => {
    const from = random(1);
    const branch = new Branch(from);
    const add = () => branch.add(rowsOf(from), inline(from, 2000));
    for (let nth = 0; nth < 17; nth++) expect(add()).toBe('head');
    expect(add()).toBe('checkpoint');
    expect(branch.head.logs).toHaveLength(16);
  });

  it('spills deltas that are long', () => {
    const from = random(1);
    const branch = new Branch(from);
    expect(branch.add(rowsOf(from), inline(from, 4097))).toBe('spill');
    expect(branch.add(rowsOf(from), object(from, (1 << 20) + 1))).toBe('checkpoint');
    expect(branch.add(rowsOf(from), inline(from, 4096))).toBe('head');
  });

  it('goes on for ever, and lists the 8 objects that were retired last', () => {
    const from = random(1);
    const branch = new Branch(from);
    let longest = 0;
    for (let step = 0; step < 1500; step++) {
      const rows = rowsOf(from);
      const delta = object(from, 5000);
      if (branch.add(rows, delta) === 'checkpoint') branch.checkpoint(rows, delta);
      longest = Math.max(longest, headLength(branch.head));
    }
    expect(branch.head.retired).toHaveLength(8);
    expect(longest).toBeLessThan(3000);
    expect(branch.head.retired.at(-1)?.seq).toBeGreaterThan(1400);
  });

  it('asks for a checkpoint before its deltas have more than 1 MiB', () => {
    const from = random(1);
    const branch = new Branch(from);
    branch.add(rowsOf(from), object(from, (1 << 20) - 10));
    for (let nth = 0; nth < 9; nth++) {
      expect(branch.add(rowsOf(from), object(from, 1))).toBe('head');
    }
    expect(branch.head.logs).toHaveLength(1);
    expect(branch.add(rowsOf(from), object(from, 2))).toBe('checkpoint');
    expect(branch.add(rowsOf(from), object(from, 1))).toBe('head');
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

describe('a log', () => {
  it('comes back as it was, and has one encoding', async () => {
    let count = 0;
    await forSeeds(seedCount(200), async (from, _, begin) => {
      const { head, logs, logBytes } = randomBranch(from);
      begin({ seq: head.seq, logs: logs.length });
      for (const [nth, bytes] of logBytes.entries()) {
        const { entries, saltBytes } = decodeLog(bytes);
        expect(entries).toEqual(logs[nth]);
        const again = encodeLog(entries, saltBytes, hash);
        expect([again.bytes, again.record]).toEqual([bytes, head.logs[nth]]);
        count += 1;
      }
      const all = [...logs.flatMap(({ tail }) => tail), ...head.tail];
      expect(joinedTail(head, logs)).toMatchObject({ base: logs[0]?.base ?? head.base, tail: all });
    });
    if (!isOneSeed) expect(count).toBeGreaterThan(100);
  });

  it('is refused wherever it is cut off, and with each single bit flipped', () => {
    const bytes = randomLog().bytes;
    for (let length = 0; length < bytes.length; length++) {
      const error = errorOf(() => decodeLog(bytes.slice(0, length)));
      expect([error.code, error.object], `${length}`).toEqual(['invalid-remote', 'log']);
    }
    for (let bit = 0; bit < 8 * bytes.length; bit++) {
      const [at, mask] = [bit >> 3, 1 << (bit & 7)];
      const error = errorOf(() => decodeLog(bytes.with(at, (bytes[at] as number) ^ mask)));
      const isLater = (at === 4 || at === 5) && error.offset === undefined;
      expect(error.code).toBe(isLater ? 'unsupported-format' : 'invalid-remote');
    }
  });

  function randomLog() {
    for (let seed = 1; ; seed++) {
      const { head, logs, logBytes } = randomBranch(random(seed));
      const [bytes, next] = [logBytes.at(-2), logBytes.at(-1)];
      if (bytes && next && logs.at(-1)?.tail.length !== logs.at(-2)?.tail.length) {
        return { head, logs, bytes };
      }
    }
  }

  it('that the head does not name so is refused', () => {
    const { head, logs } = randomLog();
    const last = logs.at(-1) as Tail;
    const other = random(1).bytes(32);
    const [entry] = last.tail.slice(-1) as [TailEntry];
    const wrong: Tail[][] = [
      [...logs.slice(0, -2), last, last],
      [...logs.slice(0, -1), { ...last, tail: last.tail.slice(1) }],
      [...logs.slice(0, -1), { ...last, tail: [] }],
      [
        ...logs.slice(0, -1),
        {
          ...last,
          tail: last.tail.with(-1, { ...entry, rows: { ...entry.rows, rootBytes: other } }),
        },
      ],
      [...logs.slice(0, -1), { ...last, tail: last.tail.with(-1, { ...entry, seq: head.seq }) }],
      [...logs.slice(0, -1), { ...last, base: { rootBytes: other, count: 1 } }],
    ];
    for (const [nth, some] of wrong.entries()) {
      const error = errorOf(() => joinedTail(head, some));
      expect([error.code, error.object], `${nth}`).toEqual(['invalid-remote', 'log']);
    }
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
