/**
 * Locks of a connection that a suspended tab does not keep. A browser may freeze a tab at any time, and the frozen tab
 * keeps its locks. So a waiting tab asks the holder, which answers while it is awake, and steals the lock of a silent
 * holder. The locks only decide which tab works: the work is right without them, since each swap of a head and each
 * move of a ref compares first.
 */

import { checkSignal } from '../../base/abort-signal.js';
import { MAX_SILENCE_MS } from '../../base/limits.js';
import type { Locks } from '../../base/locks.js';
import { afterAwake, withLock } from '../../base/timeout.js';
import { type AskedMessage, TabMessages } from '../../storage/tabs/tab-messages.js';

/** Milliseconds after which a holder that has answered is asked again. `MAX_SILENCE_MS` later its lock is taken. */
const ASK_MS = 15_000;
/** Longest wait for a holder that cannot be asked; then the work is done without the lock. */
const LOCK_MS = 30_000;

/** Work under a lock. `lost` is aborted when the lock was taken away; a frozen tab hears of it when it goes on. */
type Work<T> = (lost: AbortSignal) => Promise<T>;

/** The locks of one link. */
export class Leases {
  readonly #locks: Locks | undefined;
  readonly #prefix: string;
  readonly #tabs: TabMessages | undefined;
  /** The locks that are held here, and the last message of each holder. */
  readonly #held = new Map<string, unknown>();
  /** Called when the holder of a lock has answered, with its message. */
  readonly #onAlive = new Set<(name: string, told: unknown) => void>();

  /** Called when a tab that waits for a lock held here wants the work done now. */
  onPoke: (name: string) => void = () => {};

  /** `prefix` begins the names of its locks. */
  constructor(locks: Locks | undefined, prefix: string) {
    this.#locks = locks;
    this.#prefix = prefix;
    if (locks === undefined || locks.areKept === true) return;
    if (typeof BroadcastChannel === 'undefined') return;
    this.#tabs = new TabMessages(prefix);
    this.#tabs.onAsked = (message) => this.#hear(message);
  }

  #hear(message: AskedMessage): void {
    const { is, asker: name } = message;
    if (is === 'waiting' && this.#held.has(name)) this.#answer(name);
    else if (is === 'poke' && this.#held.has(name)) this.onPoke(name);
    else if (is === 'alive')
      for (const listener of [...this.#onAlive]) listener(name, message.told);
  }

  #answer(name: string): void {
    this.#tabs?.tell({ is: 'alive', asker: name, told: this.#held.get(name) });
  }

  /** Sends a message to the tabs that wait for a lock held here, and to tabs that will. */
  say(name: string, told: unknown): void {
    if (!this.#held.has(name)) return;
    this.#held.set(name, told);
    this.#answer(name);
  }

  /** Asks the holder of a lock to do its work now. */
  poke(name: string): void {
    this.#tabs?.tell({ is: 'poke', asker: name });
  }

  /** Ends all questions and answers. */
  close(): void {
    this.#tabs?.close();
  }

  /**
   * Runs `work` under the lock, after its earlier holders. Until then passes the messages of the holder to `onTold`.
   * Rejects with `aborted` if the signal ends the wait.
   */
  async hold<T>(
    name: string,
    work: Work<T>,
    signal: AbortSignal | undefined,
    onTold: (told: unknown) => void = () => {},
  ): Promise<T> {
    checkSignal(signal);
    const [lost, wait] = [new AbortController(), new AbortController()];
    const locks = this.#locks;
    const full = this.#prefix + name;
    if (locks === undefined) return work(lost.signal);
    if (this.#tabs === undefined)
      return withLock(locks, full, LOCK_MS, () => work(lost.signal), signal);
    let working: Promise<T> | undefined;
    let isSilent = false;
    const begin = async () => {
      stop();
      this.#held.set(name, undefined);
      this.#answer(name);
      working = work(lost.signal);
      await working.catch(() => {}).finally(() => this.#held.delete(name));
    };
    const onSilent = () => {
      isSilent = true;
      wait.abort();
    };
    const stop = this.#ask(name, onSilent, onTold);
    const giveUp = () => wait.abort();
    signal?.addEventListener('abort', giveUp);
    // The wait took too long, the browser refused the lock, or it was taken away.
    const markLost = () => lost.abort();
    await locks.request(full, { signal: wait.signal }, begin).catch(markLost);
    if (isSilent && working === undefined && signal?.aborted !== true) {
      await locks.request(full, { steal: true }, begin).catch(markLost);
    }
    stop();
    signal?.removeEventListener('abort', giveUp);
    if (working !== undefined) return working;
    checkSignal(signal);
    return work(lost.signal);
  }

  /** Asks the holder of a lock again and again, until it is silent; returns a function that stops this. */
  #ask(name: string, onSilent: () => void, onTold: (told: unknown) => void): () => void {
    let end = () => {};
    const ask = () => {
      end = afterAwake(MAX_SILENCE_MS, onSilent);
      this.#tabs?.tell({ is: 'waiting', asker: name });
    };
    const handleAlive = (of: string, told: unknown) => {
      if (of !== name) return;
      end();
      end = afterAwake(ASK_MS, ask);
      onTold(told);
    };
    this.#onAlive.add(handleAlive);
    ask();
    return () => {
      end();
      this.#onAlive.delete(handleAlive);
    };
  }
}
