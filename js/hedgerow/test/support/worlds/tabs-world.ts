import { readFileSync } from 'node:fs';
import { onTestFinished, vi } from 'vitest';
import type { Locks } from '../../../src/base/locks.js';
import {
  destroy,
  memory,
  type OpenOptions,
  open,
  preload,
  type Store,
} from '../../../src/index.js';
import type { SegmentStore, Storage, WriteBatch } from '../../../src/storage/segment-store.js';
import { LockManager } from './lock-manager.js';

// Later loads of parts would take time outside the tabs' clock, and so would compiling: the first store compiles the core,
// and the first verification its later part.
await preload();
const compiled = await open('compiled', { storage: memory() });
await compiled.put('a', 1);
await compiled.health.verify();
await compiled.close();

/** A channel of the tab that made it. */
class Channel {
  static readonly all = new Set<Channel>();
  static tab: Tab | undefined;
  readonly #tab = Channel.tab;
  readonly name: string;
  onmessage: ((event: { data: unknown }) => void) | null = null;

  constructor(name: string) {
    this.name = name;
    Channel.all.add(this);
  }

  postMessage(data: unknown): void {
    const send = async () => {
      for (const other of Channel.all) {
        if (other === this || other.name !== this.name) continue;
        void other.#hears(async () => {
          if (Channel.all.has(other)) other.onmessage?.({ data: structuredClone(data) });
        });
      }
    };
    void this.#passes(send);
  }

  #passes(run: () => Promise<void>): Promise<void> {
    return this.#tab === undefined ? run() : this.#tab.passes(run);
  }

  #hears(run: () => Promise<void>): Promise<void> {
    return this.#tab === undefined ? run() : this.#tab.hears(run);
  }

  close(): void {
    Channel.all.delete(this);
  }
}

/** Calls that a test can run before calls of a tab take effect. */
export interface TabHooks {
  write?(batch: WriteBatch): void | Promise<void>;
  /** Called before the locks are read. */
  query?(): void | Promise<void>;
  load?(): void | Promise<void>;
  /** Called before segments are deleted. */
  delete?(): void | Promise<void>;
}

/** One tab of the simulated browser. */
export class Tab {
  readonly #browser: Browser;
  readonly hooks: TabHooks = {};
  isFrozen = false;
  isKilled = false;
  /** Whether it works, but hears neither other tabs nor the loss of a lock. */
  isDeaf = false;
  #onThaw: (() => void)[] = [];
  readonly storage: Storage;

  constructor(browser: Browser, locks: LockManager, inner: Storage) {
    this.#browser = browser;
    const view: Locks = {
      request: <T>(...[name, options, hold]: Parameters<Locks['request']>) =>
        this.passes(() => locks.request<T>(this, name, options, hold as () => Promise<T>)),
      query: () =>
        this.passes(async () => {
          await this.hooks.query?.();
          await this.#awake();
          return { held: locks.held() };
        }),
    };
    this.storage = {
      isShared: true,
      locks: view,
      // A tab hears of others by its channel alone.
      open: async (name, options) =>
        this.#wrap(await inner.open(name, { ...options, onMoved: undefined })),
      destroy: (name) => inner.destroy(name),
    };
  }

  /** Runs `run` when the tab is awake, and passes on its result when the tab is awake again. */
  async passes<T>(run: () => Promise<T>): Promise<T> {
    await this.#awake();
    try {
      return await run();
    } finally {
      await this.#awake();
    }
  }

  /** Runs `run` when the tab is awake and not deaf. */
  async hears<T>(run: () => Promise<T>): Promise<T> {
    await this.#awake(true);
    return run();
  }

  async #awake(hears = false): Promise<void> {
    if (this.isKilled) await new Promise(() => {});
    while (this.isFrozen || (hears && this.isDeaf)) {
      await new Promise<void>((resolve) => this.#onThaw.push(resolve));
    }
    if (this.isKilled) await new Promise(() => {});
  }

  #wrap(store: SegmentStore): SegmentStore {
    const { hooks } = this;
    return {
      load: (...args) =>
        this.passes(async () => {
          await hooks.load?.();
          await this.#awake();
          return store.load(...args);
        }),
      reserve: () => this.passes(() => store.reserve()),
      read: (ids) => this.passes(() => store.read(ids)),
      write: (batch) =>
        this.passes(async () => {
          await hooks.write?.(batch);
          await this.#awake();
          return store.write(batch);
        }),
      history: (name) => this.passes(() => store.history(name)),
      delete: (...args) =>
        this.passes(async () => {
          await hooks.delete?.();
          await this.#awake();
          return store.delete(...args);
        }),
      close: () => this.passes(() => store.close()),
    };
  }

  /** Opens a store in this tab. */
  async open(name = 'test', options: Omit<OpenOptions, 'storage'> = {}): Promise<Store> {
    return this.#browser.inTab(this, () => open(name, { ...options, storage: this.storage }));
  }

  destroy(name = 'test'): Promise<void> {
    return this.#browser.inTab(this, () => destroy(name, { storage: this.storage }));
  }

  freeze(): void {
    this.isFrozen = true;
  }

  /** Lets it continue and hear again. */
  thaw(): void {
    this.isFrozen = false;
    this.isDeaf = false;
    for (const wake of this.#onThaw.splice(0)) wake();
  }

  /** Ends the tab and its locks. */
  kill(): void {
    this.isKilled = true;
    this.#browser.locks.end(this);
  }

  /** Makes the browser take all locks away, as WebKit does when a page enters its back/forward cache. */
  loseLocks(): void {
    this.#browser.locks.end(this, true);
  }
}

/**
 * Several tabs of one browser, in one process: they share stores in memory, Web Locks and channels, and each can be
 * frozen, thawed or killed. Calls made before a freeze take effect; the tab does not hear of that until it is thawed.
 * Its timers continue, but their effects wait.
 *
 * `pass` moves the time of `setTimeout` and `performance.now`.
 */
export class Browser {
  readonly locks = new LockManager();
  readonly inner: Storage;

  /** Uses stores in `inner`. Takes the clock away from the test until it has finished. */
  constructor(inner: Storage = memory()) {
    this.inner = inner;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    vi.stubGlobal('BroadcastChannel', Channel);
    onTestFinished(() => {
      Channel.all.clear();
      vi.unstubAllGlobals();
      vi.useRealTimers();
    });
  }

  tab(): Tab {
    return new Tab(this, this.locks, this.inner);
  }

  /** Returns the names of the held locks, without their common prefix. */
  held(name = 'test'): string[] {
    const prefix = `hedgerow/${name}/`;
    return this.locks.held().map((lock) => lock.name.slice(prefix.length));
  }

  /** Runs `run`, whose channels belong to a tab; the test must open no other channel until then. */
  async inTab<T>(tab: Tab, run: () => Promise<T>): Promise<T> {
    Channel.tab = tab;
    try {
      return await settled(run());
    } finally {
      Channel.tab = undefined;
    }
  }
}

/**
 * Limits for work that does not wait: in milliseconds of the CPU, and in real milliseconds, since a busy machine takes
 * more of these for the same work.
 */
const WORK_MS = 1000;
const REAL_MS = 4000;
/** A call waits for the tabs' time after so many idle looks in a row; the later half of them are a sleep apart. */
const IDLE_LOOKS = 40;
const SLEEP_MS = 5;
/** Ten idle turns take far less CPU than this, in microseconds. */
const IDLE_MICROS = 500;
const { setTimeout: realTimeout } = globalThis;

/**
 * Returns the microseconds of CPU that this thread has taken, up to its last sleep or tick; of all threads where the
 * platform does not separate them.
 */
function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  try {
    const [nanos] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ');
    return Number(nanos) / 1000 || user + system;
  } catch {
    return user + system;
  }
}

/** Returns a function that says whether work that begins now has time left. */
function workTime(): () => boolean {
  const [endMicros, endMs] = [cpuMicros() + 1000 * WORK_MS, Date.now() + REAL_MS];
  return () => cpuMicros() < endMicros && Date.now() < endMs;
}

/** Lets running work continue, while the tabs' clock stands still. */
export async function breathe(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise<void>((go) => setImmediate(go));
}

/** Moves the tabs' clock by so many milliseconds. */
export async function pass(ms: number, stepMs = 50): Promise<void> {
  for (let gone = 0; gone < ms; gone += stepMs) {
    await breathe(4);
    await vi.advanceTimersByTimeAsync(stepMs);
  }
  await breathe();
}

/** Settles as a call does, which must be within so many milliseconds of the tabs' time. */
export async function settled<T>(call: Promise<T>, ms = 1000): Promise<T> {
  let isOver = false;
  call.then(
    () => {
      isOver = true;
    },
    () => {
      isOver = true;
    },
  );
  // Work takes real time but no time of the tabs: this keeps it apart from waiting.
  const hasTime = workTime();
  let micros = cpuMicros();
  for (let looks = 0; looks < IDLE_LOOKS && !isOver && hasTime(); looks++) {
    await breathe(10);
    if (looks > IDLE_LOOKS / 2) await new Promise<void>((go) => realTimeout(go, SLEEP_MS));
    const before = micros;
    micros = cpuMicros();
    if (micros - before > IDLE_MICROS) looks = 0;
  }
  for (let gone = 0; gone < ms && !isOver; gone += 50) await pass(50);
  if (!isOver) throw new Error(`not settled after ${ms} ms`);
  return call;
}
