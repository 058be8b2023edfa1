/** Opens a store: the core, what it is kept in, and what tells of other handles. */

import { HedgerowError } from '../base/errors.js';
import { checkStoreName, optionsOf } from '../base/options.js';
import { notify } from '../base/report.js';
import { Engine } from '../core/engine.js';
import { Host } from '../core/engine-host.js';
import { loadWords } from '../core/indexes/columns.js';
import { type IndexDefinitions, indexesOf } from '../core/indexes/index-set.js';
import type { SumDefinitions } from '../core/sum-definition.js';
import { loadCollector } from '../engine/collect/collection-scheduler.js';
import { BranchHead } from '../engine/history/branch-head.js';
import { SharedStore } from '../engine/history/shared-store.js';
import { loadSums } from '../engine/sums/sum-tree.js';
import type { BuilderOptions, IndexProgress } from '../engine/write/index-builder.js';
import { idb } from '../storage/idb/idb.js';
import type { Durability, Encryption, Storage } from '../storage/segment-store.js';
import { Pins, prefixOf } from '../storage/tabs/pins.js';
import type { Tabs } from '../storage/tabs/tabs.js';
import { WriterQueue } from '../storage/tabs/writer-queue.js';
import { HealthWatch } from './health-watch.js';
import { StoreEvents } from './store-events.js';

/** How the indexes of a handle are made. */
export type IndexBuildOptions = Pick<BuilderOptions, 'alone' | 'onProgress'>;

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
  /**
   * Encrypts what is stored, the fallback too: made by `atRest` of `hedgerow/encryption`. A store keeps the one key that it
   * was made with: rejects with `wrong-key` for another, and for a store that holds something and is not encrypted.
   */
  readonly encryption?: Encryption | undefined;
  /** When a write counts as done; `'relaxed'` by default. */
  readonly durability?: Durability | undefined;
  /** Milliseconds that a slice of work may hold the thread; 8 by default. */
  readonly sliceMs?: number | undefined;
  /**
   * Bytes of what was read from storage that are kept in memory. By default all stores of a page that do not set it share
   * 64 MiB, or 16 MiB for each GiB of the device's memory where that is less.
   */
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
export interface StoreParts {
  readonly host: Host;
  readonly branchHead: BranchHead;
  readonly durability: Durability;
  /** None where no other handle can be in another process. */
  readonly tabs: Tabs | undefined;
  readonly indexing: IndexBuildOptions;
  readonly health: HealthWatch;
}

/** Links a core and its storage to the other handles of the store, which `tabs` hears of. */
function link(
  name: string,
  host: Host,
  pins: Pins,
  { locks, isShared = false }: Storage,
  tabs: Tabs | undefined,
): SharedStore {
  // What they take is loaded when a store first has one.
  host.bringSums = async (op, alone) => (await loadSums()).bring(host, op, alone);
  const onRace = () => tabs?.announceRace();
  const shared = new SharedStore(
    host,
    pins,
    (ref, generation) => tabs?.announce(ref, generation),
    new WriterQueue(isShared ? locks : undefined, `${prefixOf(name)}queue`, onRace),
  );
  shared.checkWhole = async (commit) => (await loadCollector()).checkWhole(shared, commit);
  shared.endCollections = async () => (await loadCollector()).endCollections(host.segments);
  return shared;
}

/** Opens the parts of a store, all of them or none, over its storage or else over its fallback. */
export async function openParts(name: string, given: OpenOptions): Promise<StoreParts> {
  checkStoreName(name);
  const options = optionsOf(
    'open',
    given,
    'indexes dropOtherIndexes onIndexProgress sums storage fallback encryption durability sliceMs cacheBytes mustExist onDeleted persist tables',
  );
  const { storage = idb(), fallback } = options;
  if (options.dropOtherIndexes && options.indexes === undefined) {
    throw new HedgerowError('invalid-argument', 'open: dropOtherIndexes needs indexes');
  }
  /** Why the storage did not open. */
  let denied: HedgerowError | undefined;
  const onDenied = (cause: HedgerowError) => {
    denied = cause;
  };
  try {
    return await openOver(name, storage, options, { onDenied });
  } catch (cause) {
    // Nothing is stored then, so that the fallback hides no rows.
    const isUsed = fallback !== undefined && denied?.code === 'unsupported' && cause === denied;
    if (!isUsed) throw cause;
    // If the fallback fails, too, report why it was needed.
    return openOver(name, fallback, options, { unavailable: denied }).catch(() => {
      throw cause;
    });
  }
}

/** What becomes of the storage. */
interface Fallback {
  /** The error of the storage in whose place this one is opened. */
  readonly unavailable?: HedgerowError | undefined;
  /** Called when the storage itself rejects. */
  onDenied?(cause: HedgerowError): void;
}

/** Opens the parts of a store over a storage, all of them or none. */
async function openOver(
  name: string,
  place: Storage,
  options: OpenOptions,
  { unavailable, onDenied }: Fallback,
): Promise<StoreParts> {
  const { durability = 'relaxed', sliceMs = 8, cacheBytes, mustExist } = options;
  const { onDeleted, persist = false, indexes, sums, dropOtherIndexes: alone = false } = options;
  const storage = options.encryption?.over(place) ?? place;
  const wanted = indexesOf(indexes);
  if (wanted.some(({ words }) => words >= 0)) await loadWords();
  const texts = sums && (await loadSums()).definitionTexts(sums);
  const hearing = new StoreEvents();
  // Not from within the storage, which a callback that throws must not disturb.
  const onGone = () => {
    const cause = new HedgerowError('closed', `the store ${name} was deleted`);
    health.markDeleted(cause);
    hearing.handleDeletion(cause);
    if (onDeleted !== undefined) queueMicrotask(() => notify(onDeleted, undefined));
  };
  const onFull = () => {
    health.look();
    hearing.handleFull();
  };
  const health = new HealthWatch(storage, unavailable);
  const isAlone = storage.isShared !== true;
  /** Closes what is open when a later step fails. */
  const opened: (() => unknown)[] = [];
  try {
    // What takes longest begins first, and what needs no core does not wait for it.
    const onMoved = () => hearing.handleMove();
    const opening = storage.open(name, { mustExist, onGone, onMoved, onFull });
    opening.catch((cause) => onDenied?.(cause));
    const starting = Engine.create(cacheBytes);
    starting.catch(() => {}); // reported below, if the storage opens
    const pinning = Pins.open(storage.locks, isAlone, name, () => hearing.keepUp());
    opened.push(async () => (await pinning).close());
    const segments = health.over(await opening);
    opened.push(() => segments.close());
    const pins = await pinning;
    // Before the first look at storage: no message between the two may be missed.
    const tabs = isAlone ? undefined : hearing.of(name);
    opened.push(() => tabs?.close());
    const loading = segments.load();
    loading.catch(() => {}); // reported by the first look
    if (persist) void health.persist();
    const host = new Host(await starting, segments, sliceMs, wanted, texts);
    const shared = link(name, host, pins, storage, tabs);
    hearing.shared = shared;
    shared.inventory.begin(loading);
    const branchHead = new BranchHead(shared);
    // In its turn: a move that is heard of meanwhile is followed after it.
    await shared.queueWork(() => branchHead.refresh());
    hearing.catchUp();
    const indexing = { alone, onProgress: options.onIndexProgress };
    return { host, branchHead, durability, tabs, indexing, health };
  } catch (cause) {
    // Close all of them even if one fails, and report the first failure. Hermes has no `Promise.allSettled`.
    await Promise.all(opened.map(async (undo) => undo()).map((undone) => undone.catch(() => {})));
    throw cause;
  }
}
