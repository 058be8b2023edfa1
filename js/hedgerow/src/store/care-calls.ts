/** The calls of a handle that care for its storage: compaction, statistics and verification. */
import { runAbortable } from '../base/run-abortable.js';
import type { CompactResult } from '../engine/collect/collection.js';
import type { Stats } from '../engine/read/stats.js';
import type { Verification, VerifyOptions } from '../engine/verify/verify.js';
import { HealthCalls } from './health-calls.js';
import { readParts, verifying } from './later.js';

export abstract class CareCalls extends HealthCalls {
  /**
   * Frees the space of rows that were changed or deleted, and of loads that were cut off. A store also compacts itself
   * when it stores twice as much as it needs. Deletes no chunk that a snapshot, a branch or a running read uses, in any
   * tab. Reads the internal nodes of the trees, and all leaves where large values are stored apart from them.
   *
   * Where several tabs have the store open, one of them compacts it, and this call asks that tab. If it does not answer
   * within 3 seconds, as when it is suspended, this tab takes over, and begins after 3 more. Rejects with `blocked`
   * where no Web Locks show what other tabs use: see `idb({ exclusive })`.
   */
  async compact(): Promise<CompactResult> {
    this.from.check();
    return this.handle.collector.request();
  }

  /**
   * Returns how much the store holds, and the shape of its tree. Reads all internal nodes, and all leaves if the live
   * chunks cannot be known without them.
   */
  async stats(): Promise<Stats> {
    this.from.check();
    const { statsOf } = await readParts();
    return statsOf(this.from.host, this.from.branchHead, this.handle.collector.failure);
  }

  /**
   * Reads all chunks of the newest commit from storage and checks them: each against its hash and its form, keys,
   * counts and levels across nodes, large values against their pieces. It does not end at a fault, but reports each one
   * with the keys that it covers. Works in slices, holds about 32 MiB in addition to the store's own memory, and takes
   * about as long as reading everything.
   */
  async verify(options: VerifyOptions = {}): Promise<Verification> {
    this.from.check();
    return runAbortable('verify', options, 'checkIndexes signal onProgress', async (wanted) =>
      (await verifying()).verifyOpen(this.from.branchHead, wanted),
    );
  }
}
