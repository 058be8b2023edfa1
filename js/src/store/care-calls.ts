/** The calls of a handle that concern what is stored: how much it is, whether it is sound, and what can go. */
import { runAbortable } from '../base/run-abortable.js';
import type { CompactResult } from '../engine/collect/collection.js';
import type { Stats } from '../engine/read/stats.js';
import type { Verification, VerifyOptions } from '../engine/verify/verify.js';
import { HealthCalls } from './health-calls.js';
import { readParts, verifying } from './later.js';

export abstract class CareCalls extends HealthCalls {
  /**
   * Frees the room of rows that were changed or deleted, and of loads that were cut off. A store also compacts itself:
   * when twice as much is stored as is needed. Nothing is deleted that a snapshot, a branch or a running read uses, in
   * any tab. Reads the internal nodes of the trees, and all leaves where large values are stored apart from them.
   *
   * Where several tabs have the store open, one of them compacts it, and this call asks that tab. When it does not
   * answer within 3 seconds, as a suspended tab does not, this one takes over, and begins after 3 more. Rejects with
   * `blocked` where there are no Web Locks to tell what other tabs use: see `idb({ exclusive })`.
   */
  async compact(): Promise<CompactResult> {
    this.from.check();
    return this.handle.collector.request();
  }

  /**
   * What the store holds, and the shape of its tree. Reads all internal nodes, and all leaves
   * when it is not plain without them what is live.
   */
  async stats(): Promise<Stats> {
    this.from.check();
    const { statsOf } = await readParts();
    return statsOf(this.from.host, this.from.branchHead, this.handle.collector.failure);
  }

  /**
   * Reads all that the newest commit reaches from storage and checks it: each chunk against its
   * hash and its form, keys, counts and levels across nodes, large values against their pieces.
   * It does not end at a fault: each is reported with the keys that it covers. Works in slices, holds
   * about 32 MiB beside the store's own memory, and takes about as long as reading everything.
   */
  async verify(options: VerifyOptions = {}): Promise<Verification> {
    this.from.check();
    return runAbortable('verify', options, 'checkIndexes signal onProgress', async (wanted) =>
      (await verifying()).verifyOpen(this.from.branchHead, wanted),
    );
  }
}
