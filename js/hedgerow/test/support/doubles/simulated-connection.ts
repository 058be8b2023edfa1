/** One tab's way to a simulated store. */
import { sameBytes } from '../../../src/base/bytes.js';
import type { Locks } from '../../../src/base/locks.js';
import {
  cutSegment,
  type Fence,
  type Ref,
  type SegmentRequest,
  type SegmentStore,
  type StoreContents,
  segmentOf,
  type WriteBatch,
} from '../../../src/storage/segment-store.js';
import { copyOf } from './simulated-disk.js';
import type { World } from './simulated-storage.js';

/** The store as one tab has it open. */
export class Connection implements SegmentStore {
  readonly #world: World;
  readonly epoch: number;
  /** The locks of a tab; they end when it is killed. */
  readonly locks: Locks;
  /** The tab was killed. */
  isKilled = false;
  #onKill = () => {};

  constructor(world: World, epoch: number, locks: Locks) {
    this.#world = world;
    this.epoch = epoch;
    const killed = new Promise<void>((resolve) => {
      this.#onKill = resolve;
    });
    this.locks = {
      request: <T>(...[name, options, hold]: Parameters<typeof locks.request<T>>) =>
        new Promise<T>((resolve, reject) => {
          const held = async (lock: unknown) => {
            if (this.isKilled) return;
            const holding = hold(lock);
            await Promise.race([holding, killed]).catch(() => {});
            // A tab has no effects after its end.
            if (!this.isKilled) holding.then(resolve, reject);
          };
          locks.request(name, options, held).catch(reject);
        }),
      query: () => locks.query(),
    };
  }

  /** Ends the tab: its calls are never answered, and its locks become free. */
  kill(): void {
    this.isKilled = true;
    this.#onKill();
  }

  /** Resolves to the connection when it is open. */
  opened(): Promise<this> {
    return this.#world.call(this, () => this);
  }

  load(known?: ReadonlySet<number>): Promise<StoreContents> {
    return this.#world.call(this, ({ segments, refs }) => ({
      refs: [...refs.values()],
      tables: [...segments.values()]
        .filter(({ id }) => !known?.has(id))
        .sort((a, b) => a.id - b.id)
        .map(({ id, tableBytes, segmentBytes }) => ({
          id,
          tableBytes: copyOf(tableBytes),
          // Small commits carry their segments.
          ...(id % 3 === 0 ? { segmentBytes: copyOf(segmentBytes) } : {}),
        })),
      ids: [...segments.keys()].sort((a, b) => a - b),
    }));
  }

  reserve(): Promise<number> {
    return this.#world.change(this, (disk) => {
      const counter = disk.counter + 1;
      const transaction = { segments: [], deletes: [], counter, durability: 'relaxed' as const };
      return { transaction, result: counter };
    });
  }

  read(wanted: readonly SegmentRequest[]): Promise<(Uint8Array | undefined)[]> {
    return this.#world.call(this, ({ segments }) =>
      wanted.map((one) => {
        const segment = segments.get(segmentOf(one));
        return segment && copyOf(cutSegment(one, segment.segmentBytes));
      }),
    );
  }

  write({ segments, move, also, durability }: WriteBatch): Promise<boolean> {
    return this.#world.change(this, (disk) => {
      if (also !== undefined) throw new Error('not simulated');
      if (move === undefined) {
        return { transaction: { segments, deletes: [], durability }, result: true };
      }
      const { expected, ...ref } = move;
      if ((disk.refs.get(ref.name)?.generation ?? 0) !== expected) return { result: false };
      return { transaction: { segments, deletes: [], ref, durability }, result: true };
    });
  }

  history(name: string): Promise<Ref[]> {
    return this.#world.call(this, ({ refs }) =>
      [...refs.values()].filter((ref) => ref.name === name),
    );
  }

  delete(ids: readonly number[], fence?: Fence): Promise<boolean> {
    const deletes = [...ids];
    return this.#world.change(this, ({ refs }) => {
      const stood = fence && refs.get(fence.name)?.commitBytes;
      if (fence && !sameBytes(stood, fence.commitBytes)) return { result: false };
      return {
        transaction: { segments: [], deletes, durability: 'relaxed' as const },
        result: true,
      };
    });
  }

  close(): Promise<void> {
    return this.#world.call(this, () => {});
  }
}
