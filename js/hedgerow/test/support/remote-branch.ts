import { hex } from '../../src/base/hex.js';
import { HedgerowError } from '../../src/index.js';
import { PLAIN_SCOPE } from '../../src/sync/remote/format/cipher-suite.js';
import {
  type BlockRecord,
  type DeltaRecord,
  type HeadRecord,
  type Layer,
  NO_CHECKPOINT,
  type RowTree,
  type Tail,
} from '../../src/sync/remote/format/head-record.js';
import {
  type AppendOutcome,
  type Author,
  joinedTail,
  logsSince,
  successorOf,
  withCheckpoint,
  withEntry,
  withLog,
} from '../../src/sync/remote/format/head-succession.js';
import { decodeLog, encodeLog } from '../../src/sync/remote/format/tail-log-object.js';
import type { Random } from './random.js';
import { hash } from './remote-samples.js';

export const ZERO = new Uint8Array(32);
export const rowsOf = (from: Random): RowTree => ({
  rootBytes: from.bytes(32),
  count: 1 + from.below(1e6),
});
export const inline = (from: Random, length: number): DeltaRecord => ({
  kind: 'inline',
  deltaBytes: from.bytes(length),
});
export const object = (from: Random, length: number): DeltaRecord => ({
  kind: 'object',
  nameBytes: from.bytes(32),
  length,
});
/** Stands for the hash of a head's bytes: each encoding has another one. */
export const hashOf = ({ nonceBytes }: HeadRecord): Uint8Array => hash(nonceBytes);
export const authorOf = (from: Random, head: HeadRecord): Author => ({
  writerBytes: from.bytes(16),
  nonceBytes: from.bytes(16),
  previousBytes: hashOf(head),
});

/** Returns the first head of a branch without rows. */
export function emptyHead(from: Random): HeadRecord {
  const rows = { rootBytes: ZERO, count: 0 };
  return {
    epoch: 0,
    repositoryBytes: from.bytes(16),
    seq: 1,
    writerBytes: from.bytes(16),
    nonceBytes: from.bytes(16),
    previousBytes: ZERO,
    app: 0,
    isCompacting: false,
    rows,
    checkpoint: NO_CHECKPOINT,
    logs: [],
    base: rows,
    tail: [],
    sums: [],
  };
}

/** Returns a block of history that lists all pushes up to a number. */
export const blockRecord = (from: Random, seq: number): BlockRecord => ({
  ...{ nameBytes: from.bytes(32), length: 1000, seq: 1, pushes: Math.min(seq, 65_536) },
});

/** Moves the checkpoint to the head, as its packs would. */
export function checkpointed(from: Random, head: HeadRecord): HeadRecord {
  const pack = { nameBytes: from.bytes(32), length: 1000, edits: 3 };
  const layers = [{ seq: head.seq, rows: head.rows, packs: [pack] }];
  const { seq, nonceBytes } = head;
  const checkpoint = { seq, nonceBytes, history: [blockRecord(from, seq)], layers };
  return { ...successorOf(head, authorOf(from, head)), checkpoint };
}

export function appended(
  head: HeadRecord,
  rows: RowTree,
  delta: DeltaRecord,
  author: Author,
): HeadRecord {
  const result = withEntry(head, rows, delta, author, PLAIN_SCOPE);
  if (result.kind !== 'head') throw new Error(result.kind);
  return result.head;
}

export async function errorOf(call: () => unknown): Promise<HedgerowError> {
  try {
    await call();
  } catch (cause) {
    if (cause instanceof HedgerowError) return cause;
    throw cause;
  }
  throw new Error('nothing was thrown');
}

/** A branch that keeps its logs as a remote would. */
export class Branch {
  readonly logs = new Map<string, Uint8Array>();
  readonly #from: Random;
  head: HeadRecord;
  /** The state that a checkpoint continues from. */
  #before: HeadRecord;

  constructor(from: Random) {
    this.#from = from;
    this.head = emptyHead(from);
    this.#before = this.head;
  }

  /** Appends as a push does; returns the reason if it cannot. */
  async add(rows: RowTree, delta: DeltaRecord): Promise<Exclude<AppendOutcome['kind'], 'log'>> {
    const author = authorOf(this.#from, this.head);
    this.#before = this.head;
    let result = withEntry(this.head, rows, delta, author, PLAIN_SCOPE);
    if (result.kind === 'log') {
      const salt = this.#from.bytes(16);
      const { bytes, record } = await encodeLog(this.head, salt, hash, PLAIN_SCOPE);
      this.logs.set(hex(record.nameBytes), bytes);
      this.#before = withLog(this.head, record);
      result = withEntry(this.#before, rows, delta, author, PLAIN_SCOPE);
    }
    if (result.kind === 'log') throw new Error('a head without entries has no room');
    if (result.kind === 'head') this.head = result.head;
    return result.kind;
  }

  /** Makes a checkpoint of new rows, with the step to them. */
  checkpoint(
    rows: RowTree,
    delta: DeltaRecord | undefined,
    layers: readonly Layer[] = [
      {
        seq: this.head.seq + 1,
        rows,
        packs: [{ nameBytes: this.#from.bytes(32), length: 1000, edits: 3 }],
      },
    ],
  ): void {
    const author = authorOf(this.#from, this.head);
    const history = [blockRecord(this.#from, this.head.seq + 1)];
    const checkpoint = { layers, history };
    this.head = withCheckpoint(this.#before, rows, delta, checkpoint, author, PLAIN_SCOPE);
  }

  /** Returns the tail of the head with its last logs. */
  async tail(seq: number): Promise<Tail> {
    const records = logsSince(this.head, seq);
    const logs: Tail[] = [];
    for (const { nameBytes } of records) {
      const bytes = this.logs.get(hex(nameBytes)) as Uint8Array;
      logs.push((await decodeLog(bytes, PLAIN_SCOPE)).entries);
    }
    return joinedTail(this.head, logs);
  }
}
