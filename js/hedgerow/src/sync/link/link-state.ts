/**
 * The state of a connection: what a store remembers of a remote, in refs. It moves in one transaction with the commits
 * that it describes: a crash leaves both or neither. Some refs name no commit:
 *
 *     seen  BLAKE3 of the last head that was seen : 32
 *     ids   id of the repository : 16 | id of this writer : 16
 *     epoch the highest epoch of a head that was seen : f64 | zeros
 *     turn  number of that head : f64 | number of the head that is being pushed, 0 for none : f64 | its nonce : 16
 *     push  number of the last push of that head : f64 | start of its nonce : 8 | start of the root of its rows : 16
 *     place BLAKE3 of the name of the branch at the remote : 32
 */

import { concatBytes, sameBytes } from '../../base/bytes.js';
import { FORMAT } from '../../base/limits.js';
import { firstGeneration } from '../../engine/history/branch-refs.js';
import type { JointWrite } from '../../engine/history/joint-moves.js';
import { EMPTY_COMMIT } from '../../engine/history/known-segments-and-refs.js';
import { writeRefs } from '../../engine/history/ref-write.js';
import type { SharedStore } from '../../engine/history/state-shared-by-branches.js';
import type { Durability, Ref, RefMove } from '../../storage/segment-store.js';
import {
  type HeadRecord,
  lastPush,
  type Push,
  type RowTree,
} from '../remote/format/head-record.js';
import { NONCE_START } from '../remote/format/push-history-block.js';
import type { Names } from './link-ref-names.js';

/** A push whose answer has not come. */
export interface PendingPush {
  readonly seq: number;
  readonly nonceBytes: Uint8Array;
  /** The commit that it pushes. */
  readonly commitBytes: Uint8Array;
}

/** The last push of a seen head, and the start of the root of its rows. */
export interface SeenPush extends Push {
  readonly rootBytes: Uint8Array;
}

export interface LinkState {
  /** Undefined until a head was seen. */
  readonly repositoryBytes: Uint8Array | undefined;
  readonly writerBytes: Uint8Array;
  /** 0 until a head was seen. */
  readonly seq: number;
  readonly seenBytes: Uint8Array;
  /** The highest epoch of a seen head; 0 without encryption. */
  readonly epoch: number;
  readonly pending: PendingPush | undefined;
  /** Undefined until a head with a push was seen. */
  readonly push: SeenPush | undefined;
  /** The commits of the refs with these names. */
  readonly origin: Uint8Array;
  readonly fork: Uint8Array;
  readonly checkpoint: Uint8Array | undefined;
}

/** Moves of refs, by their members of `Names`. */
export type Moves = Partial<Record<keyof Names, Uint8Array>>;

const ID_BYTES = 16;
const ROOT_START = 16;

function writePush({ seq, nonceBytes, rootBytes }: SeenPush): Uint8Array {
  const bytes = new Uint8Array(8 + NONCE_START + ROOT_START);
  new DataView(bytes.buffer).setFloat64(0, seq, true);
  bytes.set(nonceBytes.subarray(0, NONCE_START), 8);
  bytes.set(rootBytes.subarray(0, ROOT_START), 8 + NONCE_START);
  return bytes;
}

function readPush(bytes: Uint8Array | undefined): SeenPush | undefined {
  if (bytes === undefined) return undefined;
  const seq = new DataView(bytes.buffer, bytes.byteOffset).getFloat64(0, true);
  if (seq === 0) return undefined;
  const [from, to] = [8, 8 + NONCE_START];
  return { seq, nonceBytes: bytes.subarray(from, to), rootBytes: bytes.subarray(to) };
}

/** Returns whether these are the rows after a push. */
export function areRowsAfter(push: SeenPush, { rootBytes }: Pick<RowTree, 'rootBytes'>): boolean {
  return sameBytes(push.rootBytes.subarray(0, ROOT_START), rootBytes.subarray(0, ROOT_START));
}

/** The refs of one remote, read and moved. */
export class SyncRefs {
  readonly #shared: SharedStore;
  readonly names: Names;
  #refs: ReadonlyMap<string, Ref> = new Map();

  constructor(shared: SharedStore, names: Names) {
    this.#shared = shared;
    this.names = names;
  }

  /** Returns the bytes of a ref, as `look` has found them. */
  bytes(name: keyof Names): Uint8Array | undefined {
    return this.#refs.get(this.names[name])?.commitBytes;
  }

  /** Whether a head was seen, as `look` has found. */
  get hasSeen(): boolean {
    return this.bytes('origin') !== undefined && this.bytes('turn')?.some(Boolean) === true;
  }

  /** Reads all refs. Without the rows of the remote, its seen head does not count, as before the first pull. */
  async look(): Promise<LinkState> {
    const { inventory } = this.#shared;
    this.#refs = await this.#shared.queueWork(() => inventory.look());
    const ids = this.bytes('ids');
    const isBegun = this.bytes('origin') !== undefined;
    const turn = isBegun ? this.bytes('turn') : undefined;
    const view = turn && new DataView(turn.buffer, turn.byteOffset, turn.length);
    const epoch = this.bytes('epoch');
    const pendingSeq = view?.getFloat64(8, true) ?? 0;
    const pushing = this.bytes('pushing');
    const isPending = pendingSeq > 0 && turn !== undefined && pushing !== undefined;
    return {
      repositoryBytes: ids?.subarray(0, ID_BYTES),
      writerBytes: ids?.subarray(ID_BYTES) ?? crypto.getRandomValues(new Uint8Array(ID_BYTES)),
      seq: view?.getFloat64(0, true) ?? 0,
      seenBytes: (isBegun ? this.bytes('seen') : undefined) ?? EMPTY_COMMIT,
      epoch: epoch ? new DataView(epoch.buffer, epoch.byteOffset).getFloat64(0, true) : 0,
      pending: isPending
        ? { seq: pendingSeq, nonceBytes: turn.subarray(ID_BYTES), commitBytes: pushing }
        : undefined,
      push: isBegun ? readPush(this.bytes('push')) : undefined,
      origin: this.bytes('origin') ?? EMPTY_COMMIT,
      fork: (isBegun ? this.bytes('fork') : undefined) ?? EMPTY_COMMIT,
      checkpoint: this.bytes('checkpoint'),
    };
  }

  /** Returns the moves of refs from where `look` has found them. */
  moves(to: Moves): RefMove[] {
    return Object.entries(to).flatMap(([key, commitBytes]): RefMove[] => {
      const name = this.names[key as keyof Names];
      const found = this.#refs.get(name);
      if (found !== undefined && sameBytes(found.commitBytes, commitBytes)) return [];
      const expected = found?.generation ?? 0;
      const generation = found === undefined ? firstGeneration() : expected + 1;
      return [{ name, commitBytes, generation, format: FORMAT, expected }];
    });
  }

  /** Moves all these refs, or leaves all: `false` if one is no longer where `look` has found it. */
  async move(to: Moves, durability: Durability): Promise<boolean> {
    const also = this.moves(to);
    if (also.length === 0) return true;
    const { host } = this.#shared;
    if (!(await writeRefs(host.segments, { segments: [], also, durability }))) return false;
    this.announceMoves(also);
    await this.#shared.queueWork(() => this.followNow(also));
    return true;
  }

  /** Moves all these refs by the write of a commit, or leaves all. */
  async moveBy(write: JointWrite, to: Moves): Promise<boolean> {
    const also = this.moves(to);
    if (!(await write([], also))) return false;
    this.announceMoves(also);
    return true;
  }

  /** Makes the handles of moved branches follow. Run it exclusively. If it fails, `follow` tries again. */
  async followNow(moves: readonly Pick<RefMove, 'name'>[]): Promise<void> {
    for (const one of this.#shared.branchHeads) {
      if (!moves.some(({ name }) => name === one.ref)) continue;
      await one.keepUp().catch(() => one.follow());
    }
  }

  /** Announces moves that storage has made, alone or with a commit. */
  announceMoves(moves: readonly RefMove[]): void {
    this.recordMoves(moves);
    this.#shared.inventory.noteMoves(moves);
    for (const { name, generation } of moves) this.#shared.announce(name, generation);
  }

  /** Records moves that are made with a commit. */
  recordMoves(moves: readonly RefMove[]): void {
    this.#refs = new Map([...this.#refs, ...moves.map((ref) => [ref.name, ref] as const)]);
  }
}

/** Returns the moves of the refs that name no commit. */
export function stateMoves(
  repositoryBytes: Uint8Array,
  writerBytes: Uint8Array,
  seen: {
    readonly seq: number;
    readonly hashBytes: Uint8Array;
    readonly epoch: number;
    readonly push: SeenPush | undefined;
  },
  pending?: Push,
): Pick<Moves, 'ids' | 'seen' | 'turn' | 'epoch' | 'push'> {
  const turn = new Uint8Array(2 * ID_BYTES);
  const view = new DataView(turn.buffer);
  view.setFloat64(0, seen.seq, true);
  view.setFloat64(8, pending?.seq ?? 0, true);
  if (pending !== undefined) turn.set(pending.nonceBytes, ID_BYTES);
  const push = seen.push && { push: writePush(seen.push) };
  const ids = concatBytes([repositoryBytes, writerBytes]);
  const moves = { ids, seen: seen.hashBytes, turn, ...push };
  if (seen.epoch === 0) return moves;
  const epoch = new Uint8Array(2 * ID_BYTES);
  new DataView(epoch.buffer).setFloat64(0, seen.epoch, true);
  return { ...moves, epoch };
}

/** Returns the last push of a head, as the store remembers it. */
export function seenPush(head: HeadRecord): SeenPush | undefined {
  const push = lastPush(head);
  return push && { seq: push.seq, nonceBytes: push.nonceBytes, rootBytes: head.rows.rootBytes };
}

/** Returns the moves that record a seen head. A push that is in it, or has lost against it, is no longer pending. */
export function seenMoves(
  { pending, push, writerBytes }: LinkState,
  { head, hashBytes }: { readonly head: HeadRecord; readonly hashBytes: Uint8Array },
): Moves {
  const { repositoryBytes, seq, epoch } = head;
  const isOpen = pending !== undefined && pending.seq > seq;
  const at = { seq, hashBytes, epoch, push: seenPush(head) ?? push };
  return stateMoves(repositoryBytes, writerBytes, at, isOpen ? pending : undefined);
}
