/** Puts an engine in the place of the platform's. */
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

/** `engine` stands in for the platform's own, or for one that is not there; returns what ends that. */
export function install(engine: HostileEngine): () => void {
  const globals = {
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
