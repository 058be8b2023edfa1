/** Keeps the record of a server in a row of its own branch, which moves with the server's rows in one transaction. */
import { sameBytes } from '../../base/bytes.js';
import { BranchHead } from '../../engine/history/branch-head.js';
import type { JointWrite, Partner } from '../../engine/history/joint-moves.js';
import { EMPTY_COMMIT } from '../../engine/history/known-segments-and-refs.js';
import type { SharedStore } from '../../engine/history/state-shared-by-branches.js';
import { findMany } from '../../engine/read/find-many.js';
import { KeyParts } from '../../engine/read/key-batches.js';
import { OwnEdits } from '../../engine/transaction/edits.js';
import type { Durability } from '../../storage/segment-store.js';
import { commitCarried, commitTogether } from '../link/joint-commits.js';

export interface RestServerRecord {
  /** The cookie of the rows of the server's branch. */
  readonly cookie: unknown;
  /** Counts what came from the server. */
  readonly pulls: number;
}

const KEY = 'record';
const FIRST: RestServerRecord = { cookie: null, pulls: 0 };

/** Reads the row of a key in a commit, which the caller holds. */
export async function valueAt(
  shared: SharedStore,
  commitBytes: Uint8Array,
  key: string,
): Promise<unknown> {
  const { host } = shared;
  const { view } = await shared.openView(commitBytes);
  try {
    const [value] = await findMany(host, view, new KeyParts([key]), () => {});
    return value;
  } finally {
    host.engine.closeView(view);
  }
}

export class PullCookieStore {
  readonly #shared: SharedStore;
  readonly #durability: Durability;
  readonly head: BranchHead;
  #record = FIRST;
  /** The commit that the record was read from. */
  #at: Uint8Array = EMPTY_COMMIT;

  constructor(shared: SharedStore, ref: string, durability: Durability) {
    this.#shared = shared;
    this.#durability = durability;
    this.head = new BranchHead(shared, ref);
    this.head.isBare = true;
  }

  /** The record as it was last read. */
  get record(): RestServerRecord {
    return this.#record;
  }

  /** Reads the changes of other tabs. Run it exclusively. */
  async look(): Promise<void> {
    await this.head.refresh();
    const { commitBytes } = this.head.head;
    if (sameBytes(commitBytes, this.#at)) return;
    const { release } = await this.head.holdNow();
    try {
      const found = (await valueAt(this.#shared, commitBytes, KEY)) as
        | { readonly record: RestServerRecord }
        | undefined;
      this.#record = found?.record ?? FIRST;
      this.#at = commitBytes;
    } finally {
      release();
    }
  }

  /**
   * Moves the record together with what `commit` makes of a head; alone if that does not move. Resolves to `undefined`
   * if another tab was first.
   */
  together<T>(
    record: RestServerRecord,
    commit: (partner: Partner) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    return commitTogether((write) => this.move(record, write), commit);
  }

  /** Changes the record, by `write` or alone; resolves to `false` if another tab was first. Run it exclusively. */
  async move(record: RestServerRecord, write?: JointWrite): Promise<boolean> {
    const edits = new OwnEdits(this.head);
    // One level down, so that no index of the app has an entry of it.
    edits.put(KEY, { record });
    const commitBytes = await commitCarried(this.head, edits, this.#durability, write);
    if (commitBytes === undefined) return false;
    this.#record = record;
    this.#at = commitBytes;
    return true;
  }
}
