/** A simulated store that is encrypted. */
import { sameBytes } from '../../../src/base/bytes.js';
import { parseRoot } from '../../../src/base/root-hash.js';
import { memory } from '../../../src/storage/memory.js';
import type { Ref, SegmentStore, Storage } from '../../../src/storage/segment-store.js';
import { AppKey } from '../../../src/sync/encryption/at-rest/app-key.js';
import type { StoreKeys } from '../../../src/sync/encryption/at-rest/data-key.js';
import { SealedStore } from '../../../src/sync/encryption/at-rest/sealed-store.js';
import { simulateCrypto } from './simulated-crypto.js';
import type { World } from './simulated-storage.js';

const MAIN = 'main';

/** The form of a simulated store at rest. */
export interface Form {
  over(store: SegmentStore): SegmentStore;
  /** Returns the stored commit of a root, as the world knows it. */
  storedCommit(root: string): Promise<string>;
  /** Returns the storage of another world, with the same keys. */
  storage(world: Storage): Storage;
  /** Ends its use. */
  end(): void;
}

export const PLAIN: Form = {
  over: (store) => store,
  storedCommit: async (root) => root,
  storage: (world) => world,
  end() {},
};

export class Sealing implements Form {
  readonly #appKey: AppKey;
  readonly #keys: StoreKeys;
  readonly #restore: () => void;
  readonly #world: World;

  private constructor(appKey: AppKey, keys: StoreKeys, restore: () => void, world: World) {
    this.#appKey = appKey;
    this.#keys = keys;
    this.#restore = restore;
    this.#world = world;
  }

  /** Makes the key of a world, which must be empty. Other tests cover the making of keys. */
  static async of(world: World): Promise<Sealing> {
    const restore = simulateCrypto();
    const appKey = new AppKey('test', { key: new Uint8Array(32).fill(7) });
    const inner = await memory().open('test');
    let keys: StoreKeys | undefined;
    const store = new SealedStore('test', inner, appKey, (found) => {
      keys = found;
    });
    await store.load();
    if (keys === undefined) throw new Error('no keys');
    const { refs } = await inner.load();
    world.begin(refs, await keys.refs.names.seal(MAIN));
    return new Sealing(appKey, keys, restore, world);
  }

  over(store: SegmentStore): SegmentStore {
    return new SealedStore('test', store, this.#appKey, () => {});
  }

  async storedCommit(root: string): Promise<string> {
    const commitBytes = parseRoot(root);
    for (const stored of this.#world.mainRefs) {
      const { ref } = await this.#keys.refs.open(MAIN, stored);
      if (sameBytes(ref.commitBytes, commitBytes)) return hexOf(stored);
    }
    return root;
  }

  storage(world: Storage): Storage {
    return { open: async () => this.over(await world.open('test')), destroy: async () => {} };
  }

  end(): void {
    this.#restore();
  }
}

const hexOf = ({ commitBytes }: Ref) => Buffer.from(commitBytes).toString('hex');
