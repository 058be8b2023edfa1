/**
 * Pushes the net changes of the local rows since what the server has accepted, in batches. Accepted changes become part
 * of its branch here at once, so that later changes begin there.
 */

import { notify } from '../../base/call-callback-safely.js';
import { HedgerowError } from '../../base/errors.js';
import { isByteArray } from '../../base/is-byte-array.js';
import { utf8Length } from '../../base/key.js';
import { untilWon } from '../../base/pauses.js';
import { isPlain, kindOf } from '../../base/runtime-type-checks.js';
import { sameValue } from '../../base/same-value.js';
import type { Partner } from '../../engine/history/joint-moves.js';
import { EMPTY_COMMIT } from '../../engine/history/known-segments-and-refs.js';
import type { Change } from '../../engine/read/decode-diff.js';
import { OwnEdits } from '../../engine/transaction/edits.js';
import { Transactions } from '../../engine/transaction/run.js';
import { tryEdits } from '../../engine/write/try-edits.js';
import { DecisionLog } from '../link/conflict-log.js';
import { mergeIn } from '../link/merge-remote-rows.js';
import { changesBetween } from '../link/merging-connection.js';
import { isTooLarge } from '../wire/app-server-options.js';
import { badResponse, failureIn } from '../wire/pull-response-body.js';
import type { RestContext } from './rest-context.js';
import type { RefusedChange, RestChange, RestPushed } from './types.js';

/** The most changes of one request. */
const MAX_CHANGES = 1000;
/** The most bytes of an answer that are read. */
const MAX_ANSWER_BYTES = 1 << 20;

/** The result of a push. */
export interface RestPush {
  /** Changes that the server has accepted. */
  readonly accepted: number;
  /** Changes that the server has refused. */
  readonly refused: number;
}

/** Pushes once; accepted changes stay accepted if it rejects. `undefined` if another tab has moved a branch. */
export async function pushOnce(
  context: RestContext,
  signal: AbortSignal | undefined,
): Promise<RestPush | undefined> {
  const { shared, refs, local, memo, durability } = context;
  // A push would take back rows that came and are not merged yet.
  await mergeIn(context, memo.record.pulls, { signal });
  const state = await refs.look();
  await shared.queueWork(() => local.refresh());
  const held = await local.holdHead();
  const from = await shared.hold(state.origin);
  const done = { accepted: 0, refused: 0 };
  try {
    const { commitBytes } = held.head;
    const changes = batches(context, state.origin, commitBytes, signal);
    let next = await changes.next();
    if (next.done === true) return done;
    // A lost answer leaves open what the server has: then a pull compares with this commit.
    if (!(await refs.move({ pushing: commitBytes }, durability))) return undefined;
    while (next.done !== true) {
      const batch = next.value;
      next = await changes.next();
      if (!(await pushBatch(context, batch, next.done === true, done, signal))) return undefined;
    }
    return done;
  } finally {
    from.release();
    held.release();
  }
}

/** Sends a batch, in halves if it is too large; resolves to `false` if another tab has moved a branch. */
async function pushBatch(
  context: RestContext,
  batch: readonly RestChange[],
  isLast: boolean,
  done: { accepted: number; refused: number },
  signal: AbortSignal | undefined,
): Promise<boolean> {
  let refused: RefusedChange[];
  try {
    refused = await send(context, batch, signal);
  } catch (cause) {
    if (!isTooLarge(cause)) throw cause;
    if (batch.length > 1) {
      const half = batch.length >> 1;
      return (
        (await pushBatch(context, batch.slice(0, half), false, done, signal)) &&
        pushBatch(context, batch.slice(half), isLast, done, signal)
      );
    }
    // A row that no request can bring would hold up all others for ever.
    refused = batch.map((change) => ({ ...change, why: cause }));
  }
  const rest = batch.filter(({ key }) => !refused.some((one) => one.key === key));
  if (!(await accept(context, rest, isLast))) return false;
  await refuse(context, refused);
  done.accepted += rest.length;
  done.refused += refused.length;
  return true;
}

/** Resolves to whether a push has begun whose end is not known here. */
export async function hasOpenPush({ refs }: RestContext): Promise<boolean> {
  await refs.look();
  return refs.bytes('pushing')?.some(Boolean) ?? false;
}

/** Returns a change as the server gets it. */
export function changeOf(change: Change): RestChange {
  const { key } = change;
  if (change.op === 'delete') return { op: 'delete', key, before: change.oldValue };
  const before = change.op === 'update' ? change.oldValue : undefined;
  return { op: 'put', key, value: change.newValue, before };
}

async function* batches(
  context: RestContext,
  from: Uint8Array,
  to: Uint8Array,
  signal: AbortSignal | undefined,
): AsyncGenerator<RestChange[], void, void> {
  const isJson = typeof context.options.push !== 'function';
  const { maxPushBytes } = context;
  let [batch, bytes]: [RestChange[], number] = [[], 0];
  for await (const changes of changesBetween(context, from, to, signal)) {
    for (const change of changes.map(changeOf)) {
      const length = lengthOf(change, isJson);
      bytes += length;
      if (batch.length > 0 && (batch.length >= MAX_CHANGES || bytes > maxPushBytes)) {
        yield batch;
        [batch, bytes] = [[], length];
      }
      batch.push(change);
    }
  }
  if (batch.length > 0) yield batch;
}

/** Counts the bytes of a change in a request; bytes count as they are. */
function lengthOf(change: RestChange, isJson: boolean): number {
  let length = 1;
  const text = JSON.stringify(change, (_, member: unknown) => {
    if (!isByteArray(member)) return member;
    length += member.length;
    return '';
  });
  if (isJson && length > 1) {
    const message = `the row ${change.key} holds bytes, which JSON has none of: give push as a function`;
    throw new HedgerowError('unsupported', message);
  }
  return length + utf8Length(text);
}

/** Sends a batch; resolves to the refused changes. */
async function send(
  { wire }: RestContext,
  changes: readonly RestChange[],
  signal: AbortSignal | undefined,
): Promise<RefusedChange[]> {
  const answer = await wire.send('push', { changes }, signal);
  const text = new TextDecoder().decode(await answer.bytes(MAX_ANSWER_BYTES));
  if (text.trim() === '') return [];
  let told: unknown;
  try {
    told = JSON.parse(text);
  } catch (cause) {
    throw badResponse('it answers a push with no JSON', cause);
  }
  if (told !== null && !isPlain(told)) {
    throw badResponse(`it answers a push with ${kindOf(told)}, not an object`);
  }
  const { refused = [], ...others } = (told ?? {}) as RestPushed & Record<string, unknown>;
  const failure = failureIn(others);
  if (failure !== undefined) throw failure;
  if (!Array.isArray(refused)) throw badResponse('its refused is no array');
  const byKey = new Map(changes.map((change) => [change.key, change]));
  const found = new Map<string, RefusedChange>();
  for (const one of refused) {
    const { key, why } = typeof one === 'string' ? { key: one, why: undefined } : (one ?? {});
    const change = byKey.get(key);
    if (change === undefined) throw badResponse('it refuses a key that was not sent');
    found.set(key, { ...change, why });
  }
  return [...found.values()];
}

/** Makes changes part of the server's branch; resolves to `false` if another tab has moved it. */
async function accept(
  { shared, origin, refs, durability }: RestContext,
  changes: readonly RestChange[],
  isLast: boolean,
): Promise<boolean> {
  const edits = new OwnEdits(origin);
  for (const { key, value } of changes) {
    if (value === undefined) edits.delete(key);
    else edits.put(key, value);
  }
  await refs.look();
  const end = isLast ? { pushing: EMPTY_COMMIT } : {};
  if (changes.length === 0) return refs.move(end, durability);
  return origin.exclusively(async () => {
    await origin.refresh();
    // The local rows have the accepted changes: the next merge begins there.
    const partner: Partner = (write, made) => refs.moveBy(write, { fork: made, ...end });
    const made = await tryEdits(shared.host, origin, durability, edits.blocks(), { partner });
    return made !== undefined;
  });
}

/** Takes a number of its own for the log: refusals come from the server, as pulls do. */
function nextNumber({ origin, memo }: RestContext): Promise<number> {
  return origin.exclusively(() =>
    untilWon(async () => {
      await memo.look();
      const { cookie, pulls } = memo.record;
      return (await memo.move({ cookie, pulls: pulls + 1 })) ? pulls + 1 : undefined;
    }),
  );
}

/** Takes back changes that the server has refused, unless their rows were changed since. */
async function refuse(context: RestContext, refused: readonly RefusedChange[]): Promise<void> {
  if (refused.length === 0) return;
  const { shared, local, log, durability, store, options } = context;
  const decisions = new DecisionLog(await nextNumber(context));
  for (const { key, value, before } of refused) {
    decisions.add(
      { key, base: before, ours: value, theirs: before },
      { value: before, isLoss: true },
    );
  }
  await log.write(decisions);
  const { host } = shared;
  const { changes } = store;
  await new Transactions(host, local).run(
    async (tx) => {
      const found = await tx.getMany(refused.map(({ key }) => key));
      for (const [at, { key, value, before }] of refused.entries()) {
        if (!sameValue(found[at], value)) continue;
        if (before === undefined) tx.delete(key);
        else tx.put(key, before);
      }
    },
    {
      durability,
      waits: changes.waits,
      commit: (edits) => tryEdits(host, local, durability, edits.blocks()),
    },
  );
  for (const change of refused) notify(options.onRefused, change);
}
