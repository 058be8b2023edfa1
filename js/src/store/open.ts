/** Opens a store: the core, what it is kept in, and what tells of other handles. */

import { HedgerowError } from '../base/errors.js';
import { checkName, optionsOf } from '../base/options.js';
import { notify } from '../base/report.js';
import { loadCollector } from '../collect/collecting.js';
import { Engine } from '../core/engine.js';
import { Host } from '../core/host.js';
import type { SumDefinitions } from '../core/sum-definition.js';
import { BranchHead } from '../history/branch-head.js';
import { SharedStore } from '../history/shared-store.js';
import { type IndexDefinitions, indexesOf } from '../indexes/index-set.js';
import { idb } from '../storage/idb/idb.js';
import type { Durability, SegmentStore, Storage } from '../storage/segment-store.js';
import { loadSums } from '../sums/sum-tree.js';
import { Pins, prefixOf } from '../tabs/pins.js';
import { Tabs } from '../tabs/tabs.js';
import { WriterQueue } from '../tabs/writer-queue.js';
import type { BuilderOptions, IndexProgress } from '../write/index-builder.js';
import { HealthWatch } from './health-watch.js';

/** How the indexes of a handle are made. */
export type Indexing = Pick<BuilderOptions, 'alone' | 'onProgress'>;

/** How a store is opened. */
export interface OpenOptions {
  /**
   * Indexes by the names under which this handle reads them. Those that a branch lacks are made when it is opened,
   * beside other work: a scan of one that is not ready waits. One that is stored already, with the same definition, is
   * ready at once, whatever name it was made under. All others are kept, and every write keeps them up to date.
   */
  readonly indexes?: IndexDefinitions | undefined;
  /**
   * Drops indexes that `indexes` does not name, once for each branch: when it is opened, switched to, reset or repaired.
   * What another tab makes after that stays. To drop all of them, open with `indexes: {}`.
   */
  readonly dropOtherIndexes?: boolean | undefined;
  /** Called as indexes are made. */
  readonly onIndexProgress?: ((progress: IndexProgress) => void) | undefined;
  /**
   * Sum trees by name that follow rows. Every commit of rows brings them along, on every branch, and is refused when
   * a row breaks their rule; a tree that is missing is made by it, of all rows. Other trees that follow rows are dropped,
   * and their rules with them; absent, a branch keeps those that it has.
   */
  readonly sums?: SumDefinitions | undefined;
  /** Where it is kept; `idb()` by default. */
  readonly storage?: Storage | undefined;
  /**
   * Where the store is kept instead when nothing can be stored in `storage` at all, such as `memory()` where a
   * browser denies IndexedDB (`unsupported`). It is not used where rows may exist that cannot be read now.
   * `health()` then has the `cause`, and `onHealth` calls with it.
   */
  readonly fallback?: Storage | undefined;
  /** When a write counts as done; `'relaxed'` by default. */
  readonly durability?: Durability | undefined;
  /** Milliseconds that a slice of work may hold the thread; 8 by default. */
  readonly sliceMs?: number | undefined;
  /** Bytes of stored segments kept in memory; 64 MiB by default, at least 24 MiB. */
  readonly cacheBytes?: number | undefined;
  /** Fail with `store-not-found` when no such store exists, instead of creating it. */
  readonly mustExist?: boolean | undefined;
  /**
   * Called at most once, when it is found that the open store is gone: deleted in this tab or
   * another, or by the browser. From then on it is closed: all calls of all its handles, branches and snapshots
   * fail with `closed`, reads of what is in memory too, and watches end with it.
   */
  readonly onDeleted?: (() => void) | undefined;
  /**
   * Asks the browser, at once, to clear the storage of this origin only when the user says so. Nothing waits for
   * the answer, which `health` tells. Better call `db.persist()` after a click: Firefox asks the user.
   */
  readonly persist?: boolean | undefined;
}

/** What an open store is made of. */
export interface Parts {
  readonly host: Host;
  readonly branchHead: BranchHead;
  readonly durability: Durability;
  /** None where no other handle can be in another process. */
  readonly tabs: Tabs | undefined;
  readonly indexing: Indexing;
  readonly health: HealthWatch;
}

/**
 * Opens the parts of a store, all of them or none. `unavailable` is the error of the storage whose fallback is
 * given as `storage`.
 */
export async function openParts(
  name: string,
  given: OpenOptions,
  unavailable?: HedgerowError,
): Promise<Parts> {
  checkName(name);
  const options = optionsOf(
    'open',
    given,
    'indexes dropOtherIndexes onIndexProgress sums storage fallback durability sliceMs cacheBytes mustExist onDeleted persist',
  );
  const {
    storage = idb(),
    fallback,
    durability = 'relaxed',
    sliceMs = 8,
    cacheBytes = 64 << 20,
  } = options;
  const { mustExist, onDeleted, persist = false, indexes, sums } = options;
  const { dropOtherIndexes: alone = false } = options;
  if (alone && indexes === undefined) {
    throw new HedgerowError('invalid-argument', 'open: dropOtherIndexes needs indexes');
  }
  const wanted = indexesOf(indexes);
  const texts = sums && (await loadSums()).definitionTexts(sums);
  // Not from within the storage, which a callback that throws must not disturb.
  const onGone = () => {
    const cause = new HedgerowError('closed', `the store ${name} was deleted`);
    health.gone(cause);
    shared?.lose(cause);
    if (onDeleted !== undefined) queueMicrotask(() => notify(onDeleted, undefined));
  };
  const health = new HealthWatch(storage, unavailable);
  const isAlone = storage.isShared !== true;
  /** What is let go of when a later step fails. */
  const opened: (() => unknown)[] = [];
  let shared: SharedStore | undefined;
  /** Why the storage did not open. */
  let denied: HedgerowError | undefined;
  try {
    const onGot = async () => {
      // Before that it is about to look anyway.
      if (shared?.isOpen === true) await shared.queued(async () => shared?.keepUp());
    };
    const pinning = Pins.open(storage.locks, isAlone, name, onGot);
    opened.push(async () => (await pinning).close());
    const onMoved = () => shared?.heard();
    const onFull = () => {
      health.look();
      shared?.onFull();
    };
    const opening = storage.open(name, { mustExist, onGone, onMoved, onFull });
    opening.catch((cause) => {
      denied = cause;
    });
    const [engine, segments] = await both(Engine.create(cacheBytes), opening);
    opened.push(() => segments.close());
    const pins = await pinning;
    if (persist) void health.persist();
    const host = new Host(engine, health.over(segments), sliceMs, wanted, texts);
    // What they take is loaded when a store first has one.
    host.bringSums = async (op, alone) => (await loadSums()).bring(host, op, alone);
    let tabs: Tabs | undefined;
    const queue = `${prefixOf(name)}queue`;
    const own = new SharedStore(
      host,
      pins,
      (ref, generation) => tabs?.announce(ref, generation),
      new WriterQueue(isAlone ? undefined : storage.locks, queue, () => tabs?.announceRace()),
    );
    own.checkWhole = async (commit) => (await loadCollector()).checkWhole(own, commit);
    own.endCollections = async () => (await loadCollector()).endCollections(segments);
    shared = own;
    const branchHead = new BranchHead(own);
    // Before the first look, so that nothing is missed in between.
    if (!isAlone) {
      tabs = new Tabs(name, {
        onCommit: (ref, generation) => own.heard(ref, generation),
        onGone: () => own.inventory.load().catch(() => {}),
        onRace: () => own.writerQueue.note(),
        onRest: () => own.rest(),
        onWake: () => own.wake(),
      });
      opened.push(() => tabs?.close());
    }
    await branchHead.refresh();
    const indexing = { alone, onProgress: options.onIndexProgress };
    return { host, branchHead, durability, tabs, indexing, health };
  } catch (cause) {
    // Whatever becomes of one of them, and the first failure is the one to tell.
    // Hermes has no `Promise.allSettled`. What does not close is no news beside the cause.
    await Promise.all(opened.map(async (undo) => undo()).map((undone) => undone.catch(() => {})));
    // Nothing is stored then, so that the fallback hides no rows.
    const isUsed = fallback !== undefined && denied?.code === 'unsupported' && cause === denied;
    if (!isUsed) throw cause;
    // What is wrong with the fallback, too, is no news beside the cause.
    const instead = { ...options, storage: fallback, fallback: undefined };
    return openParts(name, instead, denied).catch(() => {
      throw cause;
    });
  }
}

/** Both results, or neither: a segment store must not stay open when the engine fails. */
async function both(
  engine: Promise<Engine>,
  segments: Promise<SegmentStore>,
): Promise<[Engine, SegmentStore]> {
  engine.catch(() => {}); // told of below, if the storage opens
  const opened = await segments;
  try {
    return [await engine, opened];
  } catch (cause) {
    await opened.close();
    throw cause;
  }
}
