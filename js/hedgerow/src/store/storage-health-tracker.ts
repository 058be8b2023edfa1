/**
 * The health of the storage of an open store, as its calls show it. The code that asks the platform is loaded later.
 */

import { report } from '../base/call-callback-safely.js';
import { HedgerowError, isFull, kindOfError } from '../base/errors.js';
import { persist } from '../base/request-persistent-storage.js';
import { type CallKind, type Outcomes, reportOutcomes } from '../storage/report-outcomes.js';
import type { SegmentStore, Storage, WriteBatch } from '../storage/segment-store.js';
import { loadHealth } from './on-demand-code.js';
import type { HealthListeners } from './storage-health-listeners.js';
import type { HealthListener, KnownHealth } from './storage-health-types.js';

/** A write checks the health again this many milliseconds, or this many written bytes, after the last check. */
const LOOK_MS = 10_000;
const LOOK_BYTES = 16 << 20;

/** Kinds of failures that do not come from storage. */
const OTHER = /^(closed|aborted|unavailable\/not-loaded)$/;

/** A record of the health of the storage of one open store, for all of its handles. */
export class HealthTracker implements KnownHealth, Outcomes {
  readonly storage: Storage;
  readonly unavailable: HedgerowError | undefined;
  readonly failures: { [Kind in CallKind]?: HedgerowError | undefined } = {};
  readonly listeners = new Set<{ readonly listener: HealthListener; last?: string }>();
  #segments: SegmentStore | undefined;
  #healthListeners: Promise<HealthListeners> | undefined;
  #lookedMs = 0;
  #written = 0;

  constructor(storage: Storage, unavailable?: HedgerowError) {
    this.storage = storage;
    this.unavailable = unavailable;
  }

  /** Wraps `segments`, so that the outcomes of its calls are recorded here. */
  over(segments: SegmentStore): SegmentStore {
    this.#segments = segments;
    return reportOutcomes(segments, this);
  }

  get honoursStrict(): boolean | undefined {
    return this.#segments?.honoursStrict;
  }

  onSuccess(kind: CallKind, batch?: WriteBatch): void {
    const { read, write } = this.failures;
    // Deletions and collections have a reserve: their success does not show that rows find space.
    const isCommit = batch?.move !== undefined && batch.segments.length > 0 && !batch.freesSpace;
    if (kind === 'read' || kindOfError(read) === 'unavailable/disconnected')
      this.failures.read = undefined;
    const isOver =
      kind === 'write'
        ? isCommit || !isFull(write)
        : kindOfError(write) === 'unavailable/disconnected';
    if (isOver) this.failures.write = undefined;
    if (read !== this.failures.read || write !== this.failures.write) {
      this.look();
      return;
    }
    if (batch === undefined || this.listeners.size === 0) return;
    for (const { segmentBytes } of batch.segments) this.#written += segmentBytes.length;
    if (this.#written >= LOOK_BYTES || performance.now() - this.#lookedMs >= LOOK_MS) this.look();
  }

  onFailure(kind: CallKind, cause: unknown): void {
    const failure =
      cause instanceof HedgerowError
        ? cause
        : new HedgerowError('unavailable/storage', String(cause), { cause });
    if (OTHER.test(kindOfError(failure))) return;
    const isNews = kindOfError(this.failures[kind]) !== kindOfError(failure);
    this.failures[kind] = failure;
    if (isNews) this.look();
  }

  /** Records that the store was deleted. */
  markDeleted(cause: HedgerowError): void {
    this.failures.read = cause;
    this.failures.write = cause;
    this.look();
  }

  /** Calls `listener` at each change; returns a function that stops it. */
  on(listener: HealthListener): () => void {
    const own = { listener };
    this.listeners.add(own);
    this.look();
    return () => {
      this.listeners.delete(own);
    };
  }

  /** Checks the health if there are listeners, and calls them if it has changed. */
  look(): void {
    if (this.listeners.size === 0) return;
    this.#lookedMs = performance.now();
    this.#written = 0;
    this.#healthListeners ??= loadHealth().then(({ HealthListeners }) => new HealthListeners(this));
    this.#healthListeners
      .then((healthListeners) => healthListeners.look())
      .catch((cause) => {
        this.#healthListeners = undefined;
        report(cause);
      });
  }

  /** Asks the browser not to delete the storage, if it may do so. */
  async persist(): Promise<boolean | undefined> {
    const { lifetime } = this.storage;
    if (lifetime === 'permanent') return true;
    if (lifetime === 'session') return false;
    const isGranted = await persist();
    this.look();
    return isGranted;
  }

  /** Drops the listeners, except to report that the store was deleted. */
  close(): void {
    if (this.failures.write?.code !== 'closed') this.listeners.clear();
  }
}
