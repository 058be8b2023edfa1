/** The connection of a store to a server of plain rows. */

import { optionsOf, SIGNAL_OPTIONS } from '../../base/check-options.js';
import { HedgerowError } from '../../base/errors.js';
import { sleep } from '../../base/pauses.js';
import type { Progress } from '../../engine/write/write-result.js';
import type { ConnectionCall } from '../link/connection.js';
import {
  type CallOptions,
  type ConnectionState,
  PULL_OPTIONS,
  type PullOptions,
} from '../link/connection-state.js';
import type { PullResult } from '../link/link-context.js';
import { MergingConnection } from '../link/merging-connection.js';
import type { RoundResult } from '../link/sync-loop.js';
import { pullRowsOnce } from './pull-rows.js';
import { changeOf, hasOpenPush, pushOnce, type RestPush } from './push-rows.js';
import type { RestContext } from './rest-context.js';
import type { RestChange } from './types.js';

/** Times that a call begins again, since another tab, or another client of the server, was first. */
const MAX_TRIES = 20;
/** Longest wait of a push that begins again. The wait doubles, and half of it is random. */
const MAX_PAUSE_MS = 1000;

type Job = ConnectionCall<PullResult, Progress>;

/** A store and a server of plain rows: `db.connect(rest(options))` makes it. */
export class RestConnection extends MergingConnection<PullResult, RestPush, Progress> {
  readonly #context: RestContext;
  readonly #unfollow: () => void;
  /** Whether it has pulled since its last push. */
  #hasLooked = false;

  /** Call `db.connect()` instead. */
  constructor(context: RestContext, name: string) {
    super(context.store, name, context);
    this.#context = context;
    const { memo, shared } = context;
    // Another tab may have pulled. The next call finds a failure again.
    const look = async () => {
      await memo.look();
      this.show();
    };
    this.#unfollow = memo.head.onMoved(() => void shared.queueWork(look).catch(() => {}));
  }

  /**
   * Brings the changes of the server, and merges them into the local rows, in one commit. Rejects with `offline`,
   * `remote`, `remote-auth`, `bad-response` and the other codes of remotes; the local rows are then as they were.
   */
  pull(options: PullOptions<Progress> = {}): Promise<PullResult> {
    const { signal, onProgress } = optionsOf('pull', options, PULL_OPTIONS);
    return this.run(signal, (own) => this.#pull(this.makeCall(own, onProgress)));
  }

  /**
   * Sends the local changes: each changed row once, with the row of the server that it is based on. Where the server
   * answers 409, since it has another row by now, this pulls, merges and sends again. Rejects as `pull` does, and with
   * `conflict` after 20 times; accepted changes stay accepted, and the rest is still pending.
   */
  push(options: CallOptions = {}): Promise<RestPush> {
    const { signal } = optionsOf('push', options, SIGNAL_OPTIONS);
    return this.run(signal, (own) => this.#push(own));
  }

  /** Yields the changes that a push would send now, in the order of keys. */
  async *changes(options: CallOptions = {}): AsyncGenerator<RestChange, void, void> {
    const { signal } = optionsOf('changes', options, SIGNAL_OPTIONS);
    for await (const changes of this.unsent(signal)) yield* changes.map(changeOf);
  }

  protected async round(
    isPending: boolean,
    mustPull: boolean,
    signal: AbortSignal | undefined,
  ): Promise<RoundResult> {
    const pulled = isPending || mustPull ? await this.pull({ signal }) : { rows: 0 };
    // This pushes rows that a merge has made, too.
    const pushed = (await this.findPending()) ? await this.push({ signal }) : { accepted: 0 };
    const hasNews = pulled.rows > 0 || pushed.accepted > 0;
    return { hasNews, isPending: await this.findPending() };
  }

  protected describeState(): Pick<ConnectionState, 'isFilled'> {
    return { isFilled: this.#context.memo.record.cookie !== null };
  }

  protected leave(): void {
    this.#unfollow();
    const { origin, local, memo } = this.#context;
    for (const head of [origin, local, memo.head]) head.leave();
  }

  async #pull(job: Job): Promise<PullResult> {
    for (let tries = 0; ; tries++) {
      const pulled = await pullRowsOnce(this.#context, job);
      if (pulled !== undefined) {
        this.#hasLooked = true;
        this.show();
        if (pulled.rows + pulled.conflicts > 0) job.onPull(pulled);
        return pulled;
      }
      await this.#again(tries, job.signal);
    }
  }

  async #push(signal: AbortSignal | undefined): Promise<RestPush> {
    for (let tries = 0; ; tries++) {
      // The result of one push at a time may be open: a pull shows it.
      if (!this.#hasLooked && (await hasOpenPush(this.#context)))
        await this.#pull(this.makeCall(signal));
      this.#hasLooked = false;
      try {
        const pushed = await pushOnce(this.#context, signal);
        if (pushed !== undefined) return pushed;
      } catch (cause) {
        if (!(cause instanceof HedgerowError) || cause.status !== 409) throw cause;
        await this.#again(tries, signal, cause);
        await this.#pull(this.makeCall(signal));
        continue;
      }
      await this.#again(tries, signal);
    }
  }

  async #again(
    tries: number,
    signal: AbortSignal | undefined,
    cause?: HedgerowError,
  ): Promise<void> {
    if (tries >= MAX_TRIES) {
      const message = cause
        ? `the server answered 409 to ${tries} pushes, with a pull before each: does its pull bring the rows that differ from their before?`
        : `other tabs were first ${tries} times: try again later`;
      throw new HedgerowError('conflict', message, { cause });
    }
    await sleep(Math.min(10 * 2 ** tries, MAX_PAUSE_MS) * (0.5 + Math.random() / 2), signal);
  }
}
