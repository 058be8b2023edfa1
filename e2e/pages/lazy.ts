/** The page of `tests/lazy.spec.ts`: clones that fetch rows when they are read. */
import './store.js';
import { clone, type HedgerowError, type KeyRange } from 'hedgerow';
import { atRest, remoteKeys } from 'hedgerow/encryption';
import { type BucketConnection, bucket, httpRemote } from 'hedgerow/sync';

/** The outcome of a read: its rows or its error, and the traffic of the link. */
export interface Asked {
  readonly rows?: readonly unknown[];
  readonly code?: string;
  readonly range?: KeyRange | undefined;
  readonly requests: number;
  readonly bytes: number;
}

export interface LazyPlace {
  readonly name: string;
  readonly url: string;
  /** The key of the remote and of the storage; without it both are plain. */
  readonly key?: readonly number[] | undefined;
}

declare global {
  interface Window {
    /** Opens a lazy clone into `window.db` and `window.link`; returns the `requests` and `bytes` of opening. */
    openLazy(place: LazyPlace): Promise<Asked>;
    /** Returns the rows of a call, and its cost. */
    asked(call: () => Promise<readonly unknown[]>): Promise<Asked>;
    link: BucketConnection;
  }
}

window.openLazy = async ({ name, url, key }) => {
  const bytes = key && new Uint8Array(key);
  const encryption = bytes && remoteKeys({ place: 'room', keys: () => bytes });
  const made = await clone(name, bucket(httpRemote({ url }), { probe: false, encryption }), {
    mode: 'lazy',
    encryption: bytes && atRest({ key: bytes }),
  });
  window.db = made.db;
  window.link = made.connection;
  const { requests, receivedBytes } = window.link.traffic;
  return { requests, bytes: receivedBytes };
};

window.asked = async (call) => {
  const before = window.link.traffic;
  const found = await call().then(
    (rows) => ({ rows }),
    ({ code, range, message }: HedgerowError) => ({ code: code ?? message, range }),
  );
  const after = window.link.traffic;
  const requests = after.requests - before.requests;
  return { ...found, requests, bytes: after.receivedBytes - before.receivedBytes };
};
