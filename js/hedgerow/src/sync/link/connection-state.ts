/** The state of a connection, and the options of its loop. */
import {
  anything,
  fn,
  type OptionsOf,
  type SignalOptions,
  signalCheck,
} from '../../base/check-options.js';
import type { HedgerowError } from '../../base/errors.js';
import type { CollectOptions } from './collect-options.js';

/**
 * The states of a connection, as a person may see them:
 * - `stopped`: the store syncs only when a call asks for it: before `start`, and after `stop` or `close`
 * - `waiting`: another tab syncs, and has not reported its state
 * - `syncing`: at work
 * - `synced`: the last round ended well; with `isPending`, the other side has not acknowledged all changes yet
 * - `offline`: no answer comes; goes on by itself
 * - `failing`: the other side refuses, or is not what it was: see `error`. Goes on after a wait, which doubles
 */
export type SyncStatus = 'stopped' | 'waiting' | 'syncing' | 'synced' | 'offline' | 'failing';

/** The state to show to a person: a frozen object, and the same one until a member changes. */
export interface ConnectionState {
  readonly status: SyncStatus;
  /** Whether the other side lacks changes of this store, as the last round has found. */
  readonly isPending: boolean;
  /** Whether the rows of the other side have ever come: then a store without rows is empty there, too. */
  readonly isFilled: boolean;
  /** Whether this tab syncs. Otherwise the state is what the tab at work has reported. */
  readonly isLeader: boolean;
  readonly error: HedgerowError | undefined;
  /** After a failure: the latest time of the next try, in milliseconds since 1970. */
  readonly retryAt: number | undefined;
}

export const START_OPTIONS = {
  /** Longest time between two pulls, in milliseconds; 60,000 by default. */
  everyMs: anything<number>(),
  /** Shortest time between two rounds, in milliseconds; 1,000 by default. Changes between them go together. */
  pauseMs: anything<number>(),
  /**
   * Subscribes to news of the other side by calls of `poke`; returns a function that unsubscribes. The tab at work calls
   * it. See `serverPokes`.
   */
  subscribe: anything<(poke: () => void) => () => void>(),
};

/** The options of `start`. */
export interface StartOptions extends OptionsOf<typeof START_OPTIONS> {}

export const BUCKET_START_OPTIONS = {
  ...START_OPTIONS,
  /** Whether this device collects the garbage of the remote about once a day: see `collect`. Not by default. */
  collect: anything<boolean | Pick<CollectOptions, 'graceMs'>>(),
};

/** The options of `start` of a bucket. */
export interface BucketStartOptions extends OptionsOf<typeof BUCKET_START_OPTIONS> {}

export const PULL_OPTIONS = {
  /** Ends the call with `aborted`. Bytes that have arrived stay. */
  signal: signalCheck,
  onProgress: fn<(progress: never) => void>(),
};

/** The options of a call that asks the other side. */
export interface PullOptions<Steps = unknown> extends OptionsOf<typeof PULL_OPTIONS> {
  readonly onProgress?: ((progress: Steps) => void) | undefined;
}

/** The options of a call that only a signal ends. */
export interface CallOptions extends SignalOptions {}
