import type { KeyRange } from '../../base/range.js';
import type { Index } from '../../core/indexes/definition.js';
import { deriveEntries, type IndexEntry } from '../../core/indexes/index-entries.js';
import type { Host } from '../../core/operation-host.js';
import type { BranchHead, HeldHead } from '../history/branch-head.js';
import { holdWith } from '../read/wait-for-index.js';
import type { Space } from './gather-watched-changes.js';

/**
 * A watched index. Its changes are computed from the changed rows, so the index need not be built. Only the first call
 * of a watch with `initial` needs the built index.
 */
export class IndexSpace implements Space {
  readonly rows: KeyRange;
  readonly #host: Host;
  readonly #branchHead: BranchHead;
  readonly #index: Index;

  constructor(host: Host, branchHead: BranchHead, index: Index) {
    this.rows = { prefix: index.prefix };
    this.#host = host;
    this.#branchHead = branchHead;
    this.#index = index;
  }

  entriesOf(key: string, value: unknown): IndexEntry[] {
    return deriveEntries(this.#index, key, value);
  }

  hold(): Promise<HeldHead> {
    const [host, branchHead] = [this.#host, this.#branchHead];
    const from = {
      host,
      branchHead,
      get head() {
        return branchHead.head;
      },
      holdToRead: () => branchHead.holdToRead(),
    };
    return holdWith(from, { index: this.#index.name }, {});
  }
}
