import type { Storage, Store } from 'hedgerow';
import type { BucketConnection } from 'hedgerow/sync';

/** A user, and the room to open. */
export interface Visit {
  readonly account: string;
  readonly room: string;
  readonly endpoint: string;
  readonly token: () => string | Promise<string>;
  readonly storage?: Storage;
}

export interface Room {
  readonly db: Store;
  readonly connection: BucketConnection;
}

export function openRoom(visit: Visit): Promise<Room>;
export function leaveRoom(visit: Visit, room: Room): Promise<void>;
