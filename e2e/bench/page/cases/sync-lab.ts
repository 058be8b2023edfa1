/** Sends the requests of the suites of sync to the runner, and times work that waits for a network. */
import { open, type Store } from 'hedgerow';
import type { Counts } from '../../lib/sync/wire.mjs';
import { percentile } from '../measure.js';
import type { Row } from '../rows.js';

/** Addresses of one server: with 80 ms of round trip, and without delay. */
export interface Places {
  readonly far: string;
  readonly near: string;
}

export type { Counts };

interface Changed {
  /** The time at which the push of the other device ended. */
  readonly endMs: number;
  readonly rows: readonly Row[];
}

declare global {
  /** Present where the runner has servers: in Chromium. */
  var syncLab: ((name: string, ...args: readonly unknown[]) => Promise<unknown>) | undefined;
}

const ask = (name: string, ...args: readonly unknown[]) =>
  (globalThis.syncLab as NonNullable<typeof globalThis.syncLab>)(name, ...args);

export const RTT_MS = 80;

export const lab = {
  full: (rows: number, key?: readonly number[]) => ask('full', rows, key) as Promise<Places>,
  empty: () => ask('empty') as Promise<Places>,
  feed: (rows: number, wanted: 'ndjson' | 'replicache' | 'couch') =>
    ask('feed', rows, wanted) as Promise<Places>,
  change: (count: number) => ask('change', count) as Promise<Changed>,
  changeFeed: (count: number, all: number) =>
    ask('changeFeed', count, all) as Promise<Pick<Changed, 'rows'>>,
  counts: (wire: 'far' | 'near') => ask('counts', wire === 'far' ? 0 : 1) as Promise<Counts>,
};

export const missing =
  globalThis.syncLab === undefined ? { missing: 'measured in Chromium alone' } : {};

export function openNamed(name: string): Promise<Store> {
  return open(name, { durability: 'relaxed' });
}

export const median = (values: readonly number[]) => percentile(values, 0.5);
const MIB = 2 ** 20;

/** Writes counts as details of a sample of many bytes. */
export function wireDetails(counts: Counts): Record<string, number> {
  return {
    requests: counts.requests,
    preflights: counts.preflights,
    connections: counts.connections,
    'received, MiB': counts.receivedBytes / MIB,
    'sent, MiB': counts.sentBytes / MIB,
  };
}

/** Writes counts of few bytes: the middle one of several. */
export function smallDetails(all: readonly Counts[]): Record<string, number> {
  const of = (name: 'requests' | 'preflights' | 'receivedBytes' | 'sentBytes') =>
    median(all.map((one) => one[name]));
  return {
    requests: of('requests'),
    preflights: of('preflights'),
    'preflights of the first': all[0]?.preflights ?? 0,
    'received, bytes': of('receivedBytes'),
    'sent, bytes': of('sentBytes'),
  };
}

/** Measures the longest time, in milliseconds, in which the page ran no timer of 0 ms during `work`. */
export async function timerGap<T>(work: () => Promise<T>): Promise<{ gapMs: number; result: T }> {
  let lastMs = performance.now();
  let gapMs = 0;
  const tick = () => {
    const now = performance.now();
    gapMs = Math.max(gapMs, now - lastMs);
    lastMs = now;
  };
  const timer = setInterval(tick, 0);
  try {
    const result = await work();
    tick();
    return { gapMs, result };
  } finally {
    clearInterval(timer);
  }
}
