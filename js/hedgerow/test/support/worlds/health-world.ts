/** Storage and platforms for the tests of health: they give the answers that a test chooses. */
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
import { kindOf } from '../error-kind.js';

/** The least milliseconds between two calls of a listener. */
export const TELL_MS = 1000;
export const QUOTA = new HedgerowError('quota-exceeded', 'for a test');
export const LOST = new HedgerowError('unavailable/disconnected', 'for a test');
export const BROKEN = new HedgerowError('unavailable/storage', 'for a test');

/** Memory that claims this lifetime. */
export const of = (lifetime: Lifetime | undefined): Storage => {
  const { lifetime: _, ...storage } = memory();
  return lifetime === undefined ? storage : { ...storage, lifetime };
};

const opened: Store[] = [];

/** Opens a store that is closed after the test: its listeners must not reach into the next one. */
export async function open(name: string, options: OpenOptions): Promise<Store> {
  const db = await opening(name, options);
  opened.push(db);
  return db;
}

/** Installs a platform that gives these answers about its storage. */
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

/** Returns the states that a listener got, a line for each call. */
export const told = (listener: { mock: { calls: Health[][] } }) =>
  listener.mock.calls
    .flat()
    .map(({ state, cause, isNearQuota }) =>
      [state, kindOf(cause), isNearQuota && 'near'].filter(Boolean).join(' '),
    );

/** Waits long enough for everything that is due now, but not for calls that are held back. */
export const settled = () => new Promise((resolve) => setTimeout(resolve, 50));

/** Closes the stores of a test, and removes its platform. */
export function cleansUp(): void {
  beforeEach(() => preload());
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((db) => db.close()));
    vi.unstubAllGlobals();
  });
}
