/** Reads the objects that a head names: fetches them, compares them with their records, and decodes them. */

import type { RemoteKind } from '../../base/errors.js';
import { hex } from '../../base/hex.js';
import { type Scope, scopeInside } from '../remote/format/cipher-suite.js';
import {
  type Folder,
  type HashFunction,
  objectPath,
  verifyObjectName,
} from '../remote/format/content-names.js';
import type { Inflate } from '../remote/format/deflate.js';
import { decodeDeltaBody } from '../remote/format/delta-body.js';
import { decodeDeltaObject } from '../remote/format/delta-object.js';
import { invalidRemote } from '../remote/format/field-codec.js';
import type {
  BlockRecord,
  HeadRecord,
  LogRecord,
  Push,
  Tail,
  TailEntry,
} from '../remote/format/head-record.js';
import { joinedTail, logsSince } from '../remote/format/head-succession.js';
import { decodePack } from '../remote/format/pack-read.js';
import { decodeBlock } from '../remote/format/push-history-block.js';
import { decodeLog } from '../remote/format/tail-log-object.js';
import type { Remote } from '../remote/remote.js';
import type { DeltaBytes } from './delta.js';

/** The remote of a head, and the functions that check and inflate its objects. */
export interface ObjectSource {
  readonly remote: Remote;
  readonly scope: Scope;
  readonly tools: { readonly hash: HashFunction; readonly inflate: Inflate };
}

/** An object as a head names it. */
interface ObjectRecord {
  readonly nameBytes: Uint8Array;
  /** Bytes of the object. */
  readonly length: number;
}

/** The objects of one head. Its methods reject with `remote/data` if one is gone, or does not match its record. */
export class HeadObjects {
  readonly head: HeadRecord;
  readonly #source: ObjectSource;
  readonly #scope: Scope;
  readonly #signal: AbortSignal | undefined;

  constructor(source: ObjectSource, head: HeadRecord, signal: AbortSignal | undefined) {
    this.head = head;
    this.#source = source;
    this.#scope = scopeInside(source.scope, head);
    this.#signal = signal;
  }

  /** Reads the tail with all entries after number `seq`: a request for each log that has some, all at once. */
  async tailSince(seq: number): Promise<Tail> {
    const readLog = async (record: LogRecord): Promise<Tail> => {
      const bytes = await this.fetch('d', 'log', record);
      return (await decodeLog(bytes, this.#scope)).entries;
    };
    return joinedTail(this.head, await Promise.all(logsSince(this.head, seq).map(readLog)));
  }

  /**
   * Yields the edits of entries. Each delta is fetched and inflated after the one before it was applied: a few bytes at
   * the remote may inflate to 16 MiB, so only one delta may be in memory.
   */
  async *deltas(entries: readonly TailEntry[]): AsyncGenerator<DeltaBytes, void, void> {
    for (const entry of entries) yield await this.delta(entry);
  }

  /** Reads the edits of an entry. Costs a request if they are a separate object. */
  async delta({ delta }: TailEntry): Promise<DeltaBytes> {
    const bodyBytes =
      delta.kind === 'inline'
        ? delta.deltaBytes
        : await decodeDeltaObject(await this.fetch('d', 'delta', delta), this.#scope);
    return decodeDeltaBody(bodyBytes, this.#source.tools.inflate);
  }

  /** Yields the edits of a pack, which are inflated as they are read. */
  packDeltas(packBytes: Uint8Array): AsyncIterable<DeltaBytes> {
    return decodePack(packBytes, this.#source.tools.inflate, this.#scope);
  }

  /** Reads the pushes of a block of history. */
  async pushes(record: BlockRecord): Promise<readonly Push[]> {
    const bytes = await this.fetch('d', 'history', record);
    const { pushes } = await decodeBlock(bytes, this.#scope);
    if (pushes.length !== record.pushes || pushes[0]?.seq !== record.seq) {
      throw invalidRemote('history', `${hex(record.nameBytes)} is not what the head says`, 0);
    }
    return pushes;
  }

  /** Fetches an object: one request. */
  async fetch(
    folder: Folder,
    kind: RemoteKind,
    { nameBytes, length }: ObjectRecord,
    signal = this.#signal,
  ): Promise<Uint8Array> {
    const { remote, tools } = this.#source;
    const bytes = await remote.get(objectPath(folder, nameBytes), undefined, { signal });
    if (bytes === undefined) {
      throw invalidRemote(kind, `there is no ${hex(nameBytes)}, which the head names`, 0);
    }
    if (bytes.length !== length) throw invalidRemote(kind, `${bytes.length} bytes of ${length}`, 0);
    verifyObjectName(kind, nameBytes, bytes, tools.hash);
    return bytes;
  }
}
