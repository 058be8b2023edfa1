/** Seals the segments, tables and refs of an open store on their way to another. */
import type {
  Fence,
  Ref,
  RefDrop,
  RefMove,
  SegmentRequest,
  SegmentStore,
  Since,
  StoreContents,
  WriteBatch,
} from '../../../storage/segment-store.js';
import type { AppKey } from './app-key.js';
import { openKeys, type StoreKeys } from './data-key.js';
import { isKeyRef } from './key-record.js';
import { OrderedStorageCalls } from './ordered-storage-calls.js';

export class SealedStore implements SegmentStore {
  readonly #name: string;
  readonly #inner: SegmentStore;
  readonly #appKey: AppKey;
  readonly #onKeys: (keys: StoreKeys) => void;
  readonly #calls = new OrderedStorageCalls();
  #keys: Promise<StoreKeys> | undefined;
  declare readonly requestCost?: number;

  /** Calls `onKeys` when the keys of the store are known. */
  constructor(
    name: string,
    inner: SegmentStore,
    appKey: AppKey,
    onKeys: (keys: StoreKeys) => void,
  ) {
    this.#name = name;
    this.#inner = inner;
    this.#appKey = appKey;
    this.#onKeys = onKeys;
    if (inner.requestCost !== undefined) this.requestCost = inner.requestCost;
  }

  load(known?: ReadonlySet<number>, since?: readonly Since[]): Promise<StoreContents> {
    const isWhole = (known === undefined || known.size === 0) && since === undefined;
    return this.#calls.inTurn(async () => {
      // The search for the keys has loaded all: the store need not do it again.
      let first: StoreContents | undefined;
      const keys = await this.#requireKeys((loaded) => {
        if (isWhole) first = loaded;
      });
      const stored = since && (await Promise.all(since.map((one) => sinceStored(keys, one))));
      return async () => unsealLoaded(keys, first ?? (await this.#inner.load(known, stored)));
    });
  }

  reserve(freesSpace?: boolean): Promise<number> {
    return this.#calls.inTurn(async () => {
      // A store of another key gives no number.
      await this.#requireKeys();
      return () => this.#inner.reserve(freesSpace);
    });
  }

  async read(wanted: readonly SegmentRequest[]): Promise<(Uint8Array | undefined)[]> {
    const own = [...wanted];
    return this.#calls.during(async () => {
      const { segments } = await this.#requireKeys();
      const readings = own.map((one) => segments.planRead(one));
      const found = await this.#inner.read(readings.map(({ stored }) => stored));
      return segments.open(readings, found);
    });
  }

  write(batch: WriteBatch): Promise<boolean> {
    return this.#calls.inTurn(async () => {
      const keys = await this.#requireKeys();
      const stored = await sealedBatch(keys, batch);
      return async () => {
        if (!(await this.#inner.write(stored))) return false;
        rememberRefs(keys, batch, stored);
        return true;
      };
    });
  }

  history(name: string): Promise<Ref[]> {
    return this.#calls.inTurn(async () => {
      const keys = await this.#requireKeys();
      await keys.refs.names.seal(name);
      return () => this.#history(keys, name);
    });
  }

  async #history({ refs }: StoreKeys, name: string): Promise<Ref[]> {
    const moves = await this.#inner.history(await refs.names.seal(name));
    const found = await Promise.all(moves.map((move) => refs.open(name, move)));
    const [newest] = found;
    if (newest?.isSound) refs.know(newest.ref, moves[0] as Ref);
    return found.map(({ ref }) => ref);
  }

  delete(ids: readonly number[], fence?: Fence): Promise<boolean> {
    return this.#calls.inTurn(async () => {
      const keys = await this.#requireKeys();
      const own = [...ids];
      return async () => {
        const isDone = await (fence
          ? this.#deleteBehind(keys, own, fence)
          : this.#inner.delete(own));
        if (isDone) keys.segments.forget(own);
        return isDone;
      };
    });
  }

  async #deleteBehind(keys: StoreKeys, ids: readonly number[], fence: Fence): Promise<boolean> {
    const { refs } = keys;
    const name = await refs.names.seal(fence.name);
    const tried = refs.storedCommit(fence);
    if (tried && (await this.#inner.delete(ids, { name, commitBytes: tried }))) return true;
    // The ref may be there again at a later generation, or another tab has moved it: then its stored bytes differ.
    await this.#history(keys, fence.name);
    const commitBytes = refs.storedCommit(fence);
    if (commitBytes === undefined || commitBytes === tried) return false;
    return this.#inner.delete(ids, { name, commitBytes });
  }

  rest(): void {
    this.#inner.rest?.();
  }

  async upkeep(storedBytes: number, isAtRest: boolean): Promise<void> {
    return this.#inner.upkeep?.(storedBytes, isAtRest);
  }

  get honoursStrict(): boolean {
    // An adapter that does not know leaves it out.
    return this.#inner.honoursStrict as boolean;
  }

  async close(): Promise<void> {
    // Calls that are under way are still written.
    await this.#calls.close();
    return this.#inner.close();
  }

  /** Resolves to the keys. The first call looks for them, and passes what it loaded to `onLoaded`. */
  #requireKeys(onLoaded?: (loaded: StoreContents) => void): Promise<StoreKeys> {
    this.#keys ??= openKeys(this.#name, this.#inner, this.#appKey).then(
      ({ keys, loaded }) => {
        onLoaded?.(loaded);
        this.#onKeys(keys);
        return keys;
      },
      (cause) => {
        // The next call may succeed.
        this.#keys = undefined;
        throw cause;
      },
    );
    return this.#keys;
  }
}

async function sinceStored({ refs }: StoreKeys, { name, generation }: Since): Promise<Since> {
  return { name: await refs.names.seal(name), generation };
}

/** Opens what was loaded. */
async function unsealLoaded(
  keys: StoreKeys,
  { refs, tables, ids }: StoreContents,
): Promise<StoreContents> {
  const own = refs.filter((ref) => !isKeyRef(ref));
  const [openedRefs, openedTables] = await Promise.all([
    Promise.all(own.map((ref) => keys.refs.openStoredRef(ref))),
    keys.segments.openTables(tables),
  ]);
  if (ids !== undefined) keys.segments.keepOnly(new Set(ids));
  return { refs: openedRefs, tables: openedTables, ...(ids && { ids }) };
}

type Change = RefMove | RefDrop;

async function sealedBatch(keys: StoreKeys, batch: WriteBatch): Promise<WriteBatch> {
  const { segments, move, also } = batch;
  const sealedChange = async (change: Change): Promise<Change> =>
    'isDropped' in change
      ? { ...change, name: await keys.refs.names.seal(change.name) }
      : keys.refs.seal(change);
  const [storedSegments, storedMove, storedAlso] = await Promise.all([
    Promise.all(segments.map((segment) => keys.segments.seal(segment))),
    move && keys.refs.seal(move),
    also && Promise.all(also.map(sealedChange)),
  ]);
  return {
    ...batch,
    segments: storedSegments,
    ...(storedMove && { move: storedMove }),
    ...(storedAlso && { also: storedAlso }),
  };
}

const changesOf = ({ move, also = [] }: WriteBatch): Change[] => [...(move ? [move] : []), ...also];

/** Remembers the refs of a batch that was written. */
function rememberRefs({ refs }: StoreKeys, batch: WriteBatch, stored: WriteBatch): void {
  const storedChanges = changesOf(stored);
  for (const [at, change] of changesOf(batch).entries()) {
    if ('isDropped' in change) refs.forget(change.name);
    else refs.know(change, storedChanges[at] as RefMove);
  }
}
