/** Puts an engine in the place of the platform's IndexedDB. */
import type { HostileEngine } from './engine.js';
import {
  HostileCursor,
  HostileDatabase,
  HostileIndex,
  HostileOpenRequest,
  HostileRequest,
  HostileStore,
  HostileTransaction,
} from './objects.js';
import { HostileKeyRange } from './records.js';

/** The user agents of the browsers, by engine. */
const AGENTS = {
  chromium:
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0',
  firefox: 'Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0',
  webkit: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0',
};

/** Puts `engine` in the place of the platform's IndexedDB, if there is one; returns a function that ends that. */
export function install(engine: HostileEngine): () => void {
  const { locks } = globalThis.navigator ?? {};
  const globals = {
    navigator: { userAgent: AGENTS[engine.kind], locks },
    indexedDB: engine,
    IDBCursor: HostileCursor,
    IDBDatabase: HostileDatabase,
    IDBIndex: HostileIndex,
    IDBKeyRange: HostileKeyRange,
    IDBObjectStore: HostileStore,
    IDBOpenDBRequest: HostileOpenRequest,
    IDBRequest: HostileRequest,
    IDBTransaction: HostileTransaction,
  };
  const before = Object.keys(globals).map(
    (name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const,
  );
  for (const [name, value] of Object.entries(globals)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  return () => {
    for (const [name, descriptor] of before) {
      if (descriptor === undefined) Reflect.deleteProperty(globalThis, name);
      else Object.defineProperty(globalThis, name, descriptor);
    }
  };
}
