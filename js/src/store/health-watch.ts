/** What an open store knows of the health of its storage by itself; what asks the platform is loaded later. */

import { HedgerowError, isFull } from '../base/errors.js';
import { persist } from '../base/persist.js';
import { report } from '../base/report.js';
import type { SegmentStore, Storage, WriteBatch } from '../storage/segment-store.js';
import { type CallKind, type Outcomes, watched } from '../storage/watched.js';
import type { HealthListener, KnownHealth } from './health.js';
import type { HealthTeller } from './health-teller.js';
import { loadHealth } from './later.js';

/** After a write the platform is asked again once so many milliseconds have gone by, or so many bytes written. */
const LOOK_MS = 10_000;
const LOOK_BYTES = 16 << 20;

/** Failures that say nothing of storage. */
const OTHER = /^(closed|aborted|not-loaded)$/;

/** Watches the storage of one open store, for all of its handles. */
export class HealthWatch implements KnownHealth, Outcomes {
  readonly storage: Storage;
  readonly unavailable: HedgerowError | undefined;
  readonly failures: { [Kind in CallKind]?: HedgerowError | undefined } = {};
  readonly listeners = new Set<{ readonly listener: HealthListener; told?: string }>();
  #segments: SegmentStore | undefined;
  #teller: Promise<HealthTeller> | undefined;
  #isGone = false;
  #lookedMs = 0;
  #written = 0;

  constructor(storage: Storage, unavailable?: HedgerowError) {
    this.storage = storage;
    this.unavailable = unavailable;
  }

  /** `segments`, watched. */
  over(segments: SegmentStore): SegmentStore {
    this.#segments = segments;
    return watched(segments, this);
  }

  get honoursStrict(): boolean | undefined {
    return this.#segments?.honoursStrict;
  }

  worked(kind: CallKind, batch?: WriteBatch): void {
    const { read, write } = this.failures;
    // That a collection, or a deletion, finds a little room does not show that there is some for rows.
    const isCommit = batch?.move !== undefined && batch.segments.length > 0 && !batch.makesRoom;
    if (kind === 'read' || read?.code === 'disconnected') this.failures.read = undefined;
    const isOver = kind === 'write' ? isCommit || !isFull(write) : write?.code === 'disconnected';
    if (isOver) this.failures.write = undefined;
    if (read !== this.failures.read || write !== this.failures.write) {
      this.look();
      return;
    }
    if (batch === undefined || this.listeners.size === 0) return;
    for (const { segmentBytes } of batch.segments) this.#written += segmentBytes.length;
    if (this.#written >= LOOK_BYTES || performance.now() - this.#lookedMs >= LOOK_MS) this.look();
  }

  failed(kind: CallKind, cause: unknown): void {
    const failure =
      cause instanceof HedgerowError
        ? cause
        : new HedgerowError('storage', String(cause), { cause });
    if (OTHER.test(failure.code)) return;
    const isNews = this.failures[kind]?.code !== failure.code;
    this.failures[kind] = failure;
    if (isNews) this.look();
  }

  /** The store was deleted. */
  gone(cause: HedgerowError): void {
    this.#isGone = true;
    this.failures.read = cause;
    this.failures.write = cause;
    this.look();
  }

  /** Has `listener` called at each change; returns how to stop. */
  on(listener: HealthListener): () => void {
    const own = { listener };
    this.listeners.add(own);
    this.look();
    return () => {
      this.listeners.delete(own);
    };
  }

  /** Looks at the health, and tells what has changed; costs nothing when nobody listens. */
  look(): void {
    if (this.listeners.size === 0) return;
    this.#lookedMs = performance.now();
    this.#written = 0;
    this.#teller ??= loadHealth().then(({ HealthTeller }) => new HealthTeller(this));
    this.#teller
      .then((teller) => teller.look())
      .catch((cause) => {
        this.#teller = undefined;
        report(cause);
      });
  }

  /** Asks the browser to keep the storage, where it may delete that. */
  async persist(): Promise<boolean | undefined> {
    const { lifetime } = this.storage;
    if (lifetime === 'permanent') return true;
    if (lifetime === 'session') return false;
    const isGranted = await persist();
    this.look();
    return isGranted;
  }

  /** Tells no more; but that the store was deleted is told. */
  close(): void {
    if (!this.#isGone) this.listeners.clear();
  }
}
