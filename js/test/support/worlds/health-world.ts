/** What the tests of health have in common: storage and platforms that say what they are told to. */
import { afterEach, beforeEach, vi } from 'vitest';
import { HedgerowError } from '../../../src/base/errors.js';
import {
  type Health,
  memory,
  type OpenOptions,
  open as opening,
  preload,
  type Store,
} from '../../../src/index.js';
import type { Lifetime, Storage } from '../../../src/storage/segment-store.js';

/** Listeners are called at most once in so many milliseconds. */
export const TELL_MS = 1000;
export const QUOTA = new HedgerowError('quota-exceeded', 'for a test');
export const LOST = new HedgerowError('disconnected', 'for a test');
export const BROKEN = new HedgerowError('storage', 'for a test');

/** Memory that says that it lives so long. */
export const of = (lifetime: Lifetime | undefined): Storage => {
  const { lifetime: _, ...storage } = memory();
  return lifetime === undefined ? storage : { ...storage, lifetime };
};

const opened: Store[] = [];

/** Opens a store that is closed after the test: its listeners must not look into the next one. */
export async function open(name: string, options: OpenOptions): Promise<Store> {
  const db = await opening(name, options);
  opened.push(db);
  return db;
}

/** A platform that tells this of its storage. */
export function platform(answers: { quota?: number; usage?: number; persisted?: boolean } = {}) {
  const told = { quota: 1 << 30, usage: 0, persisted: false, ...answers };
  const storage = {
    estimate: vi.fn(async () => ({ quota: told.quota, usage: told.usage })),
    persisted: vi.fn(async () => told.persisted),
    persist: vi.fn(async () => told.persisted),
  };
  vi.stubGlobal('navigator', { storage });
  return { told, storage };
}

/** What a listener was told, a line for each call. */
export const told = (listener: { mock: { calls: Health[][] } }) =>
  listener.mock.calls
    .flat()
    .map(({ state, cause, isNearQuota }) =>
      [state, cause?.code, isNearQuota && 'near'].filter(Boolean).join(' '),
    );

/** Long enough for everything that is due now, and not for what waits until it may be told. */
export const settled = () => new Promise((resolve) => setTimeout(resolve, 50));

/** Closes what a test has opened, and takes its platform away. */
export function cleansUp(): void {
  beforeEach(() => preload());
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((db) => db.close()));
    vi.unstubAllGlobals();
  });
}
