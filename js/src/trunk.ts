/**
 * What all branches of one open store have in common: the core, the queue of changes, the ids of
 * segments, what is known to be stored, and what is in use.
 */
import { type Commits, isSame } from './commit.js';
import { Status } from './engine.js';
import { HedgerowError } from './errors.js';
import type { Host } from './host.js';
import { Inventory } from './inventory.js';
import { Lane } from './lane.js';
import { SEGMENTS_PER_WRITER } from './limits.js';
import type { Hold, Pins } from './pins.js';
import { survey } from './survey.js';

/** Tells other tabs of a move of a ref. */
export type Announce = (ref: string, generation: number) => void;

/** See the module's text. */
export class Trunk {
  readonly host: Host;
  readonly pins: Pins;
  readonly lane: Lane;
  readonly announce: Announce;
  /** What is stored, as far as is known here. */
  readonly inventory: Inventory;
  /** All that stand on a ref of the store. */
  readonly lines = new Set<Commits>();
  /** It was opened once, whatever has become of the instance since. */
  isOpen = false;
  /** Why nothing works any more: the core has trapped for good, or the store was deleted. */
  lost: HedgerowError | undefined;
  /** Called when that is so. */
  onLost: (cause: HedgerowError) => void = () => {};
  /** Called when storage had no room for a write. */
  onFull: () => void = () => {};
  #lastId = 0;
  #endId = 0;
  #tail: Promise<unknown> = Promise.resolve();
  #rebuilding: Promise<void> | undefined;

  constructor(host: Host, pins: Pins, announce: Announce = () => {}, lane: Lane = new Lane()) {
    this.host = host;
    this.pins = pins;
    this.lane = lane;
    this.announce = announce;
    this.inventory = new Inventory(host);
    host.engine.onTrap(() => {
      const { finalTrap } = host.engine;
      if (finalTrap !== undefined) this.lose(finalTrap);
      // A store that is being opened fails instead.
      else if (this.isOpen) this.ready().catch(() => {});
    });
    host.recover = () => this.ready();
  }

  /** Nothing works any more. */
  lose(cause: HedgerowError): void {
    this.lost ??= cause;
    this.onLost(this.lost);
  }

  /** Another tab has moved a ref. Without a name, or a generation: it may have. */
  heard(ref?: string, generation?: number): void {
    for (const line of this.lines) {
      if (ref === undefined || ref === line.ref) line.follow(generation);
    }
  }

  /** Has all lines move to where storage stands. Run it exclusively. */
  async keepUp(): Promise<void> {
    for (const line of this.lines) await line.keepUp();
  }

  /** Runs `work` when all before it has ended, and nothing else at the same time. */
  queued<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(() =>
      this.host.engine.isReady ? work() : this.rebuild().then(work),
    );
    this.#tail = result.catch(() => {});
    return result;
  }

  /** Runs `change` when all changes have ended, though the core may not work any more. */
  afterAll(change: () => Promise<void>): Promise<void> {
    this.#tail = this.#tail.then(change);
    return this.#tail as Promise<void>;
  }

  /**
   * After a trap: resolves when another instance stands where storage stands. Whoever must act
   * in the turn of its call asks `engine.isReady` first.
   */
  ready(): Promise<void> {
    this.#rebuilding ??= this.queued(async () => {}).finally(() => {
      this.#rebuilding = undefined;
    });
    return this.#rebuilding;
  }

  /** Has a new instance take the place of one that trapped. Run it exclusively. */
  async rebuild(): Promise<void> {
    const { engine } = this.host;
    const { finalTrap: cause } = engine;
    if (cause !== undefined) throw new HedgerowError('closed', 'the core trapped twice', { cause });
    await engine.restart();
    // Ids of the instance before are never given again, though nothing may be left of it.
    if (this.#endId > 0) engine.setNextSegment(this.#lastId + 1);
    this.inventory.clear();
    for (const line of this.lines) await line.reopen();
    engine.ready();
  }

  /** Opens a view of a commit; the caller closes it. */
  async openView(commitBytes: Uint8Array): Promise<{ view: number; rows: number }> {
    const { engine } = this.host;
    let status = engine.openView(commitBytes);
    while (status === Status.need) {
      await this.host.load(engine.needed());
      status = engine.openView(commitBytes);
    }
    if (status !== Status.done) engine.fail(status);
    return engine.openedView();
  }

  /** Holds any commit from now on, whole or not. */
  async hold(commitBytes: Uint8Array): Promise<Hold> {
    const used = this.pins.use(commitBytes);
    const pinned = await this.pins.pin(commitBytes);
    const release = () => {
      used.release();
      pinned.release();
    };
    return { release };
  }

  /**
   * Holds a commit that was a head once; rejects with `missing-chunk` when not all of it is stored
   * any more. It is, if a ref stands there after it was pinned: see `collector.ts`. Else
   * all that it reaches is looked at, which costs its internal nodes, while nobody collects.
   */
  async holdAny(commitBytes: Uint8Array): Promise<Hold> {
    const hold = await this.hold(commitBytes);
    const whole = async () => {
      await this.queued(() => this.inventory.look());
      if (this.inventory.lines.some((ref) => isSame(ref.commitBytes, commitBytes))) return;
      await this.pins.whileNotCollected(async () => {
        // Not by what was stored once.
        await this.inventory.load();
        await survey(this.host, commitBytes);
      });
    };
    try {
      await whole();
      return hold;
    } catch (cause) {
      hold.release();
      throw cause;
    }
  }

  /** Makes sure that new segments have ids that no other writer uses. */
  async prepareIds(makesRoom?: boolean): Promise<void> {
    if (this.#endId - this.#lastId > SEGMENTS_PER_WRITER / 2) return;
    const writer = await this.host.segments.reserve(makesRoom);
    this.#lastId = writer * SEGMENTS_PER_WRITER;
    this.#endId = this.#lastId + SEGMENTS_PER_WRITER;
    this.host.engine.setNextSegment(this.#lastId);
  }

  /** The writer that an id belongs to. */
  writerOf(id: number): number {
    return Math.floor(id / SEGMENTS_PER_WRITER);
  }

  /** The ids of a writer: from the first to before the second. */
  idsOf(writer: number): [number, number] {
    return [writer * SEGMENTS_PER_WRITER, (writer + 1) * SEGMENTS_PER_WRITER];
  }

  /** Notes that a segment was made here. */
  made(id: number): void {
    this.inventory.made(id);
    this.#lastId = id;
  }
}
