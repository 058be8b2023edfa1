/** Opens a store: the core, the storage, and the messages of other handles. */

import { notify } from '../base/call-callback-safely.js';
import {
  checkStoreName,
  type DefinedMembers,
  durabilityCheck,
  flag,
  fn,
  type OptionCheck,
  type OptionsOf,
  optionsOf,
  plain,
  sliceLength,
} from '../base/check-options.js';
import { HedgerowError } from '../base/errors.js';
import { later } from '../base/timeout.js';
import { checkPlatform } from '../core/check-platform.js';
import { Engine } from '../core/engine.js';
import { type IndexDefinitions, indexesOf } from '../core/indexes/index-set.js';
import { loadWords } from '../core/indexes/words-code.js';
import { Host } from '../core/operation-host.js';
import type { SumDefinitions } from '../core/sum-tree-definition.js';
import { loadCollector } from '../engine/collect/collection-scheduler.js';
import { BranchHead } from '../engine/history/branch-head.js';
import { SharedStore } from '../engine/history/state-shared-by-branches.js';
import { loadSums } from '../engine/sums/sum-tree.js';
import type { BuilderOptions, IndexProgress } from '../engine/write/background-index-builder.js';
import { loadWrites } from '../engine/write/on-demand-write-code.js';
import { idb } from '../storage/idb/idb.js';
import type { Durability, Storage } from '../storage/segment-store.js';
import { encryptionCheck, storageCheck } from '../storage/storage-checks.js';
import { Pins, prefixOf } from '../storage/tabs/pins.js';
import type { TabMessages } from '../storage/tabs/tab-messages.js';
import { WriterQueue } from '../storage/tabs/writer-queue.js';
import { StoreEvents } from './buffered-storage-events.js';
import { HealthTracker } from './storage-health-tracker.js';

/** Options for building the indexes of a handle. */
export type IndexBuildOptions = Pick<BuilderOptions, 'alone' | 'onProgress'>;

const cacheSize: OptionCheck<number> = [
  (bytes: unknown) => typeof bytes === 'number' && bytes >= 0 && bytes < 2 ** 31,
  'below 2 GiB',
];
const TABLES: OptionCheck<never> = [() => false, 'made by table()'];

const ADVANCED_OPTIONS = {
  /** Whether to fail with `not-found/store` if the store does not exist, instead of creating it. */
  mustExist: flag,
  /**
   * Drops indexes that `indexes` does not name, once for each branch: when it is opened, switched to, reset or
   * repaired. An index that another tab makes later stays. To drop all indexes, open with `indexes: {}`.
   */
  dropOtherIndexes: flag,
  /** Called as indexes are built. */
  onIndexProgress: fn<(progress: IndexProgress) => void>(),
  /**
   * Sum trees by name that follow rows. Every commit of rows updates them, on every branch, and is refused if a row
   * breaks their rule; it makes a missing tree from all rows. Other trees that follow rows are dropped, with their
   * rules; without this option, a branch keeps its trees.
   */
  sums: plain<SumDefinitions>(),
  /**
   * The storage to use if `storage` cannot store anything, such as `memory()` where a browser denies IndexedDB
   * (`unsupported`). It is not used where rows may exist that cannot be read now. If it is used, `health.get()` has the
   * `cause`, and `health.subscribe` passes it.
   */
  fallback: storageCheck,
  /** Milliseconds that a slice of work may hold the thread; 8 by default. */
  sliceMs: sliceLength,
  /**
   * The number of bytes read from storage that are kept in memory. By default all stores of a page that do not set it
   * share 64 MiB, or 16 MiB for each GiB of the device's memory where that is less.
   */
  cacheBytes: cacheSize,
  /**
   * Called at most once, when the open store is found to be deleted, in this tab or another, or by the browser. From
   * then on all calls of its handles, branches and snapshots fail with `closed`, also reads of rows in memory, and
   * watches end with this error.
   */
  onDeleted: fn<() => void>(),
};

/** Options of `open` for experts. */
export interface AdvancedOptions extends OptionsOf<typeof ADVANCED_OPTIONS> {}

const OPEN_OPTIONS = {
  /**
   * Indexes by the names under which this handle reads them. Opening a branch begins to build the indexes that it
   * lacks, alongside other work; a scan of an unfinished index waits. A stored index with the same definition is ready
   * at once, whatever its name was. Other indexes are kept, and every write keeps them up to date.
   */
  indexes: plain<IndexDefinitions>(),
  /** Where the store is kept; `idb()` by default. */
  storage: storageCheck,
  /**
   * Encrypts all stored data, in the fallback, too: made by `atRest` of `hedgerow/encryption`. A store keeps the one
   * key that it was made with: `open` rejects with `wrong-key` for another key, and for a store that has data and is
   * not encrypted.
   */
  encryption: encryptionCheck(),
  /** When a write counts as done; `'relaxed'` by default. */
  durability: durabilityCheck,
  // `open` passes the tables of `table()` to their own code, not here.
  tables: TABLES,
  /** Options for experts. */
  advanced: plain<AdvancedOptions>(),
};

/** Options of `open`. */
export interface OpenOptions extends Omit<OptionsOf<typeof OPEN_OPTIONS>, 'tables'> {}

/** The parts of an open store. */
export interface StoreParts {
  readonly host: Host;
  readonly branchHead: BranchHead;
  readonly durability: Durability;
  /** `undefined` where no other handle can be in another process. */
  readonly tabs: TabMessages | undefined;
  readonly indexing: IndexBuildOptions;
  readonly health: HealthTracker;
}

/** Links a core and its storage to the other handles of the store, whose messages `tabs` receives. */
function link(
  name: string,
  host: Host,
  pins: Pins,
  { locks, isShared = false }: Storage,
  tabs: TabMessages | undefined,
  reader: Host,
): SharedStore {
  // The code of sum trees is loaded when a store first has one.
  host.bringSums = async (op, alone) => (await loadSums()).bring(host, op, alone);
  const onRace = () => tabs?.announceRace();
  const shared = new SharedStore(
    host,
    pins,
    (ref, generation) => tabs?.announce(ref, generation),
    new WriterQueue(isShared ? locks : undefined, `${prefixOf(name)}queue`, onRace),
    reader,
  );
  shared.checkWhole = async (commit) => (await loadCollector()).checkWhole(shared, commit);
  shared.endCollections = async () => (await loadCollector()).endCollections(host.segments);
  return shared;
}

/** The core starts after so many milliseconds in which no read needs storage, or after so many such times. */
const REST_MS = 50;
const MOST_RESTS = 10;

/** Starts the core, and loads the code of writes, once the page has ended its first reads. */
function startAtRest(shared: SharedStore, left = MOST_RESTS): void {
  const { engine } = shared.opening;
  const { needs } = engine;
  later(() => {
    if (engine.needs !== needs && left > 0) return startAtRest(shared, left - 1);
    // The first call that needs them tries again, and reports a failure.
    for (const start of [shared.ready(), loadWrites()]) start.catch(() => {});
  }, REST_MS);
}

/** The checked options of `open`. */
type CheckedOptions = DefinedMembers<Omit<OpenOptions, 'advanced'> & AdvancedOptions>;

/** The advanced options, too, for a message that says where they go. */
const ALL_OPTIONS = { ...OPEN_OPTIONS, ...ADVANCED_OPTIONS };

/** Checks the options of `open`; returns them with the advanced ones in one object. */
function checkOpenOptions(given: OpenOptions): CheckedOptions {
  const { advanced = {}, ...options } = optionsOf(
    'open',
    given as OptionsOf<typeof ALL_OPTIONS>,
    ALL_OPTIONS,
  );
  const misplaced = Object.keys(ADVANCED_OPTIONS).find((name) => name in options);
  if (misplaced !== undefined) {
    throw new HedgerowError('invalid-argument', `open takes advanced: { ${misplaced} }`);
  }
  return { ...options, ...optionsOf('open: advanced', advanced, ADVANCED_OPTIONS) };
}

/** Opens the parts of a store over its storage, or else over its fallback; closes them again if one fails. */
export async function openParts(name: string, given: OpenOptions): Promise<StoreParts> {
  checkStoreName(name);
  const options = checkOpenOptions(given);
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
    // The storage has no rows then that the fallback could hide.
    const isUsed = fallback !== undefined && denied?.code === 'unsupported' && cause === denied;
    if (!isUsed) throw cause;
    // If the fallback fails, too, report why it was needed.
    return openOver(name, fallback, options, { unavailable: denied }).catch(() => {
      throw cause;
    });
  }
}

/** The role of a storage: a fallback, or a storage that may need one. */
interface Fallback {
  /** The error of the storage that this one replaces. */
  readonly unavailable?: HedgerowError | undefined;
  /** Called when the storage itself rejects. */
  onDenied?(cause: HedgerowError): void;
}

/** Opens the parts of a store over a storage; closes them again if one fails. */
async function openOver(
  name: string,
  place: Storage,
  options: CheckedOptions,
  { unavailable, onDenied }: Fallback,
): Promise<StoreParts> {
  const { durability = 'relaxed', sliceMs = 8, cacheBytes, mustExist } = options;
  const { onDeleted, indexes, sums, dropOtherIndexes: alone = false } = options;
  const storage = options.encryption?.over(place) ?? place;
  const wanted = indexesOf(indexes);
  if (wanted.some(({ words }) => words >= 0)) await loadWords();
  const texts = sums && (await loadSums()).definitionTexts(sums);
  const hearing = new StoreEvents();
  // Calls `onDeleted` outside of the storage, which a callback that throws must not disturb.
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
  const health = new HealthTracker(storage, unavailable);
  const isAlone = storage.isShared !== true;
  /** Functions that close what is open when a later step fails. */
  const opened: (() => unknown)[] = [];
  try {
    // The longest step begins first.
    const pinning = Pins.open(storage.locks, isAlone, name, () => hearing.keepUp());
    opened.push(async () => (await pinning).close());
    const onMoved = () => hearing.handleMove();
    const opening = storage.open(name, { mustExist, onGone, onMoved, onFull });
    opening.catch((cause) => onDenied?.(cause));
    const checking = checkPlatform();
    checking.catch(() => {}); // reported below, if the storage opens
    const segments = health.over(await opening);
    opened.push(() => segments.close());
    const pins = await pinning;
    // Before the first look at storage: no message between the two may be missed.
    const tabs = isAlone ? undefined : hearing.of(name);
    opened.push(() => tabs?.close());
    const loading = segments.load();
    loading.catch(() => {}); // reported by the first look
    await checking;
    const hostOf = (engine: Engine) => new Host(engine, segments, sliceMs, wanted, texts);
    const host = hostOf(Engine.later(cacheBytes));
    const reader = hostOf(Engine.createReader(cacheBytes));
    opened.push(() => reader.engine.leaveBudget());
    const shared = link(name, host, pins, storage, tabs, reader);
    hearing.shared = shared;
    shared.inventory.begin(loading);
    const branchHead = new BranchHead(shared);
    // In its turn: if a message of a move comes in the meantime, the store follows the move afterwards.
    await shared.queueRead(() => branchHead.refresh());
    hearing.catchUp();
    startAtRest(shared);
    const indexing = { alone, onProgress: options.onIndexProgress };
    return { host, branchHead, durability, tabs, indexing, health };
  } catch (cause) {
    // Close all of them even if one fails, and report the first failure. Hermes has no `Promise.allSettled`.
    await Promise.all(opened.map(async (undo) => undo()).map((undone) => undone.catch(() => {})));
    throw cause;
  }
}
