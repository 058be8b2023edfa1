/** Makes the app's rows the server's, with the waiting calls on top: one commit, which watchers hear as one. */

import { checkSignal } from '../../base/abort-signal.js';
import { sameBytes } from '../../base/bytes.js';
import type { HedgerowError } from '../../base/errors.js';
import { MAX_HOLD_MS } from '../../base/limits.js';
import { untilWon } from '../../base/pauses.js';
import { turn } from '../../base/slice-queue.js';
import { within } from '../../base/timeout.js';
import type { Partner } from '../../engine/history/joint-moves.js';
import { EMPTY_COMMIT } from '../../engine/history/known-segments-and-refs.js';
import { retryCommit } from '../../engine/history/retry-commit.js';
import { Transactions } from '../../engine/transaction/run.js';
import { abandonOnError, Ingest } from '../../engine/write/ingest.js';
import type { EditQueue } from './queue.js';
import { failedHere } from './rejections.js';
import { type Rejection, Replay } from './replay.js';
import { QueueMovedError, type ServerContext, unlessMoved } from './server-context.js';

/** The result of a replay. */
export interface ReplayResult {
  /** Calls that left the queue. */
  readonly acknowledged: number;
  readonly rejections: readonly Rejection[];
}

/** A function that gets the error of a call before the commit that takes it out of the queue. */
type NoteError = (place: number, error: unknown) => void;

/** Replays the queue, and again if other tabs pull during it. */
export function replayQueue(
  context: ServerContext,
  signal: AbortSignal | undefined,
  noteError: NoteError,
): Promise<ReplayResult> {
  return untilWon(() => replayOnce(context, signal, noteError), 'other tabs pulled');
}

/** Replays it once; resolves to `undefined` if the rows of the server, or the ids of the calls, are others by now. */
async function replayOnce(
  context: ServerContext,
  signal: AbortSignal | undefined,
  noteError: NoteError,
): Promise<ReplayResult | undefined> {
  const { shared, server, queue } = context;
  checkSignal(signal);
  await bringForward(context, signal);
  const [held, { pulls }] = await shared.queueWork(async () => {
    await server.refresh();
    await queue.look();
    return [await server.holdNow(), queue.record] as const;
  });
  const replay = new Replay(context, held);
  const isStill = () => queue.record.pulls === pulls;
  try {
    for (let tries = 0; isStill(); tries++) {
      await replay.catchUp(signal);
      const outcome = await commit(context, replay, isStill, tries, signal, noteError);
      if (outcome !== undefined) return { ...outcome, rejections: replay.rejections };
    }
    return undefined;
  } finally {
    replay.end();
  }
}

/**
 * Brings the rows of the server to the versions of the app's tables, each once: otherwise all of them would differ from
 * the app's rows after each pull.
 */
async function bringForward(
  { shared, server, durability }: ServerContext,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { host } = shared;
  await shared.queueWork(() => server.refresh());
  const transactions = new Transactions(host, server);
  await host.bringForward?.(async (body) => {
    for (;;) {
      try {
        return await transactions.run((tx) => body(tx as never), { durability, signal });
      } catch (cause) {
        // The index of old rows is still being made.
        if ((cause as HedgerowError).code !== 'not-ready') throw cause;
        await host.indexes.progress(server, signal);
      }
    }
  });
}

/** Tries to commit; resolves to `undefined` if calls have come that have not run yet. */
function commit(
  context: ServerContext,
  replay: Replay,
  isStill: () => boolean,
  tries: number,
  signal: AbortSignal | undefined,
  noteError: NoteError,
): Promise<Pick<ReplayResult, 'acknowledged'> | undefined> {
  const { local, queue } = context;
  const hasMore = () => !queue.waiting(replay.upTo).next().done;
  return local.exclusively(async () => {
    await queue.look();
    if (hasMore()) {
      // New calls could come for ever: they wait, for a bounded time, while the last ones run.
      if (tries < 2) return undefined;
      const running = replay.catchUp(signal).then(() => true);
      running.catch(() => {});
      if (!(await within(MAX_HOLD_MS, running))) return undefined;
    }
    let acknowledged = 0;
    const edit: EditQueue = () => {
      if (!isStill() || hasMore()) throw new QueueMovedError();
      const over = queue.listAcknowledgedPlaces();
      acknowledged = over.length;
      const failed = replay.rejections.filter(({ isPending }) => !isPending);
      const { record, puts, drops } = queue.without(failed.map(({ call }) => call.place));
      const dropped = failed.filter(({ call }) => drops.includes(call.place));
      for (const { call, error } of dropped) noteError(call.place, error);
      const rejects = dropped.map(({ call, error }) => failedHere(queue, call, error));
      return {
        ...{ record: { ...record, replayed: record.pulls }, puts, rejects },
        drops: [...over, ...drops],
      };
    };
    const moved = queue.together(local, edit, (partner) =>
      retryCommit(local, () => move(context, replay, partner, signal)),
    );
    return (await unlessMoved(moved)) && { acknowledged };
  }, signal);
}

/** Commits the rows; resolves to `undefined` if another writer was first. */
async function move(
  context: ServerContext,
  replay: Replay,
  partner: Partner,
  signal: AbortSignal | undefined,
): Promise<true | undefined> {
  const { shared, local, store, durability } = context;
  const { host } = shared;
  const { commitBytes, generation } = local.head;
  const isEmpty = sameBytes(commitBytes, EMPTY_COMMIT) && host.sums === undefined;
  if (isEmpty && replay.edits.size === 0 && replay.commitBytes.some(Boolean)) {
    if (!(await local.move(replay.commitBytes, [], { durability, partner }))) return undefined;
    await local.moveOnto(replay.commitBytes, generation + 1);
    store.settle();
    return true;
  }
  await shared.prepareIds();
  const held = await local.holdNow();
  const ingest = new Ingest(host, local, durability, { signal }, held);
  return abandonOnError(ingest, async () => {
    await turn();
    let startMs = performance.now();
    for (const block of replay.edits.blocks()) {
      await ingest.feed(block, startMs);
      await turn();
      startMs = performance.now();
    }
    await ingest.bringIn(held.head.view, replay.view);
    const made = await ingest.commitOnce({ partner });
    if (made === undefined) await ingest.abandon();
    return made && true;
  });
}
