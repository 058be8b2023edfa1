/** Stores and assertions that the cases of `../segment-store-contract.ts` share. */
import { HedgerowError } from '../../../../src/base/errors.js';
import type { SegmentStore, Storage } from '../../../../src/storage/segment-store.js';

/** Throws when the condition does not hold. */
export type Assert = (condition: unknown, message: string) => void;

export interface ContractCase {
  readonly name: string;
  /** Can run many times on one storage: it begins with an empty store of its own. */
  run(storage: Storage, assert: Assert): Promise<void>;
}

/** The parameters of a case's body. */
interface Scene {
  readonly assert: Assert;
  readonly storage: Storage;
  /** Name of the case's store, which does not exist at the start. */
  readonly name: string;
  /** Opens one more handle of the case's store. */
  open(): Promise<SegmentStore>;
  equal(actual: unknown, expected: unknown, message: string): void;
  same(actual: Uint8Array | undefined, expected: Uint8Array, message: string): void;
  closed(call: Promise<unknown>, message: string): Promise<void>;
}

/** A case on an empty store; its handles are closed after it. */
export function fact(name: string, body: (scene: Scene) => Promise<void>): ContractCase {
  return {
    name,
    async run(storage, assert) {
      const handles: SegmentStore[] = [];
      const store = `contract/${name}`;
      const equal: Scene['equal'] = (actual, expected, message) => {
        const [is, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
        assert(is === wanted, `${message}: expected ${wanted}, got ${is}`);
      };
      const scene: Scene = {
        assert,
        storage,
        name: store,
        async open() {
          const handle = await storage.open(store);
          handles.push(handle);
          return handle;
        },
        equal,
        same(actual, expected, message) {
          assert(actual instanceof Uint8Array, `${message}: no bytes`);
          equal(actual?.length, expected.length, `${message}: length`);
          const at = actual?.findIndex((byte, i) => byte !== expected[i]);
          equal(at, -1, `${message}: first byte that differs`);
        },
        async closed(call, message) {
          const error = await call.then(
            () => undefined,
            (reason: unknown) => reason,
          );
          equal(error instanceof HedgerowError ? error.code : String(error), 'closed', message);
        },
      };
      await storage.destroy(store);
      try {
        await body(scene);
      } finally {
        for (const handle of handles) await handle.close();
        await storage.destroy(store);
      }
    },
  };
}
