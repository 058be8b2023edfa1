import type { Storage, Store } from 'hedgerow';

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
  readonly link: Awaited<ReturnType<Store['remote']>>;
}

export function openRoom(visit: Visit): Promise<Room>;
export function leaveRoom(visit: Visit, room: Room): Promise<void>;
