/** Pushes: makes the local changes the next head, unless another device was first. */

import { checkSignal } from '../../base/abort-signal.js';
import { sameBytes } from '../../base/bytes.js';
import { HedgerowError } from '../../base/errors.js';
import { scopeInside } from '../remote/format/cipher-suite.js';
import { objectPath } from '../remote/format/content-names.js';
import { encodeDeltaBody } from '../remote/format/delta-body.js';
import { encodeDeltaObject } from '../remote/format/delta-object.js';
import { NO_HASH } from '../remote/format/field-codec.js';
import { MAX_INLINE_DELTA_BYTES, MAX_PLAIN_DELTA_BYTES } from '../remote/format/format-limits.js';
import { encodeHead } from '../remote/format/head-codec.js';
import {
  type DeltaRecord,
  type HeadRecord,
  NO_CHECKPOINT,
  NO_ROWS,
  type RowTree,
  sameRows,
} from '../remote/format/head-record.js';
import {
  type Author,
  withCheckpoint,
  withEntry,
  withLog,
} from '../remote/format/head-succession.js';
import { decodeRepository, encodeRepository, mayWrite } from '../remote/format/repository-file.js';
import { encodeLog } from '../remote/format/tail-log-object.js';
import { slowedMs } from '../remote/remote-faults.js';
import { type Refusals, swapPatiently } from '../remote/swap-head-with-retries.js';
import { makeDelta, readRowsRoot } from './delta.js';
import type { MergeCounts, SyncContext, SyncJob } from './link-context.js';
import { type LinkState, seenPush, stateMoves } from './link-state.js';
import { checkpoints, histories } from './on-demand-link-code.js';
import { isHere, pull } from './pull.js';
import type { SeenHead } from './remote-head-reader.js';

/** The result of a push. */
export interface PushResult {
  /** The number of the head that has all local rows; 0 if there never were any. */
  readonly seq: number;
  /** Whether this push has made that head. */
  readonly isPushed: boolean;
  /** Rows that it changed at the remote; undefined if a checkpoint carried them. */
  readonly rows: number | undefined;
  /** Times that another device was first. */
  readonly races: number;
  /** Rows that the pulls of this push have changed in the local branch. */
  readonly pulledRows: number;
  /** Keys that both sides had changed, to different values, in these pulls. */
  readonly conflicts: number;
}

/** The longest wait after a lost race, in milliseconds; it doubles up to this. */
const MAX_RACE_MS = 2000;
const FIRST_RACE_MS = 20;
/** Swaps in a row with an unknown outcome after which a push rejects with the cause of the last one. */
const MAX_UNKNOWN = 3;
/** Tries after which a push gives up, so that its caller learns of it. */
const MAX_TRIES = 40;

/** Pushes the rows of the local branch. */
export async function push(context: SyncContext, job: SyncJob): Promise<PushResult> {
  try {
    return await pushUntilFirst(context, job);
  } finally {
    // By the next call this head would be old.
    context.heads.bring(undefined);
  }
}

async function pushUntilFirst(context: SyncContext, job: SyncJob): Promise<PushResult> {
  let [races, unknown, pulledRows, conflicts] = [0, 0, 0, 0];
  const refusals = { count: 0 };
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    checkSignal(job.signal);
    const pulled = await catchUp(context, job, tries > 0);
    pulledRows += pulled.rows;
    conflicts += pulled.conflicts;
    const tried = await tryOnce(context, job, refusals);
    const cause = causeOf(tried);
    unknown = cause === undefined ? 0 : unknown + 1;
    // The swap itself has already tried again at a store that takes no more writes for now.
    if (cause && (unknown === MAX_UNKNOWN || slowedMs(cause) !== undefined)) throw cause;
    // A push that was tried again as it was lacks the commits since.
    if (tried === 'again') continue;
    if (isDone(tried)) return { ...tried, races, pulledRows, conflicts };
    if (tried === 'lost') races += 1;
    const most = Math.min(MAX_RACE_MS, FIRST_RACE_MS * 2 ** tries);
    await context.tools.sleep(most * context.tools.chance(), job.signal);
  }
  // Without a race, another tab has moved the state of the link.
  throw new HedgerowError('conflict', `others were first ${MAX_TRIES} times: push again later`);
}

/** Pulls unless the last head is known, and merged. */
async function catchUp(context: SyncContext, job: SyncJob, must: boolean): Promise<MergeCounts> {
  const state = await context.refs.look();
  const last = context.heads.last;
  const base = await readRowsRoot(context.shared, state.origin);
  const isKnown = last !== undefined && isHere({ state, seen: last, base });
  const isMerged = sameBytes(state.origin, state.fork);
  if (!must && isKnown && isMerged && state.pending === undefined) {
    return { rows: 0, conflicts: 0 };
  }
  return pull(context, job);
}

type PushSuccess = Pick<PushResult, 'seq' | 'isPushed' | 'rows'>;
/** The reason why a try has not pushed. With a cause, the outcome is unknown: the next pull finds out. */
type PushFailure = 'lost' | 'moved' | { readonly cause: HedgerowError };

const causeOf = (tried: PushSuccess | PushFailure | 'again'): HedgerowError | undefined =>
  typeof tried === 'object' && 'cause' in tried ? tried.cause : undefined;
/** Returns whether a try has pushed, or had no change to push. */
export const isDone = (tried: PushSuccess | PushFailure): tried is PushSuccess =>
  typeof tried === 'object' && 'isPushed' in tried;

/** The head to write. */
interface Next {
  readonly head: HeadRecord;
  readonly edits: number | undefined;
}

async function tryOnce(
  context: SyncContext,
  job: SyncJob,
  refusals: Refusals,
): Promise<PushSuccess | PushFailure | 'again'> {
  const { shared, refs, heads, local } = context;
  const state = await refs.look();
  let { last } = heads;
  const isOpen = state.pending !== undefined && state.pending.seq === (last?.head.seq ?? 0) + 1;
  await shared.queueWork(() => local.refresh());
  const held = await local.holdHead();
  try {
    // An unanswered push may still take effect: it is tried again as it was.
    const commitBytes = isOpen && state.pending ? state.pending.commitBytes : held.head.commitBytes;
    const rows = await readRowsRoot(shared, commitBytes);
    if (sameRows(rows, last?.head.rows ?? NO_ROWS)) {
      return { seq: last?.head.seq ?? 0, isPushed: false, rows: 0 };
    }
    // Edits must lead on from the rows of the head, or no device can apply them: another tab may have moved either.
    const base = await readRowsRoot(shared, state.origin);
    if (last !== undefined && !isHere({ state, seen: last, base })) return 'moved';
    if (last === undefined) {
      const begun = await begin(context, state, job, refusals);
      if (typeof begun === 'string' || 'cause' in begun) return begun;
      last = begun;
    }
    const nonceBytes =
      isOpen && state.pending ? state.pending.nonceBytes : context.tools.random(16);
    const before = startNextHead(context, last);
    const author = {
      writerBytes: state.writerBytes,
      nonceBytes,
      previousBytes: last.hashBytes,
    };
    const next = await nextHead(context, { before, state, commitBytes, rows, author }, job);
    const { seq, seenBytes: hashBytes, epoch, push } = state;
    const seen = { seq, hashBytes, epoch, push };
    const pending = { seq: next.head.seq, nonceBytes };
    const marks = stateMoves(before.repositoryBytes, state.writerBytes, seen, pending);
    if (!(await refs.move({ pushing: commitBytes, ...marks }, context.durability))) return 'moved';
    const swapped = await swap(context, next, commitBytes, job, refusals);
    const isAll = !isDone(swapped) || sameBytes(commitBytes, held.head.commitBytes);
    return isAll ? swapped : 'again';
  } finally {
    held.release();
  }
}

/** Returns the head to go on from: the last one, if this version of the app may write rows after it. */
export function startNextHead({ app, scope }: SyncContext, { head }: SeenHead): HeadRecord {
  if (mayWrite(app, head)) return { ...head, app, epoch: Math.max(head.epoch, scope.epoch) };
  const message = `a newer version of the app wrote rows ${head.app}, this one knows ${app}`;
  throw new HedgerowError('newer-version/format', message);
}

/**
 * Makes the first head of a branch, without rows. No object is put for a branch without a head: so a collector that has
 * read all heads knows which of the earlier objects a push may yet name.
 */
async function begin(
  { remote, remoteBranch, heads, app, tools, scope }: SyncContext,
  { writerBytes }: LinkState,
  { signal }: SyncJob,
  refusals: Refusals,
): Promise<SeenHead | PushFailure> {
  let repositoryBytes = tools.random(16);
  const file = await encodeRepository({ idBytes: repositoryBytes, app }, scope);
  if ((await remote.put('hedgerow', file, { signal })) === 'exists') {
    const there = await remote.get('hedgerow', undefined, { signal });
    if (there === undefined) throw new HedgerowError('remote/gone', 'its repository file is gone');
    repositoryBytes = (await decodeRepository(there, scope)).idBytes;
  }
  const { epoch } = scope;
  const head: HeadRecord = {
    ...{ epoch, repositoryBytes, seq: 1, writerBytes, nonceBytes: tools.random(16), app },
    ...{ previousBytes: NO_HASH, isCompacting: false, rows: NO_ROWS, checkpoint: NO_CHECKPOINT },
    ...{ logs: [], base: NO_ROWS, tail: [], sums: [] },
  };
  const bytes = await encodeHead(head, tools.random(16), scope);
  const wanted = { branch: remoteBranch, token: undefined, bytes, signal };
  const swapped = await swapPatiently(remote, wanted, tools, refusals);
  if (swapped.state === 'unknown') return swapped;
  if (swapped.state === 'lost') {
    heads.bring(swapped.head);
    return 'moved';
  }
  const seen = { head, hashBytes: tools.hash(bytes), token: swapped.token };
  heads.own(seen);
  return seen;
}

interface HeadDraft {
  readonly before: HeadRecord;
  readonly state: LinkState;
  readonly commitBytes: Uint8Array;
  readonly rows: RowTree;
  readonly author: Author;
}

async function nextHead(context: SyncContext, wanted: HeadDraft, job: SyncJob): Promise<Next> {
  const { shared, tools, remote } = context;
  const { state, commitBytes, rows, author } = wanted;
  const scope = scopeInside(context.scope, wanted.before);
  const { signal } = job;
  let { before } = wanted;
  const limits = { maxBytes: MAX_PLAIN_DELTA_BYTES, signal };
  const made = await makeDelta(shared, state.origin, commitBytes, limits);
  let delta: DeltaRecord | undefined;
  if (made !== 'too-long') {
    const deltaBytes = await encodeDeltaBody(made.deltaBytes, tools.deflate);
    delta = { kind: 'inline', deltaBytes };
    let appended = withEntry(before, rows, delta, author, scope);
    while (appended.kind === 'spill' || appended.kind === 'log') {
      if (appended.kind === 'spill') {
        const object = await encodeDeltaObject(deltaBytes, tools.random(16), scope);
        const nameBytes = tools.hash(object);
        await remote.put(objectPath('d', nameBytes), object, { signal });
        delta = { kind: 'object', nameBytes, length: object.length };
      } else before = await moveIntoLog(context, before, job);
      appended = withEntry(before, rows, delta, author, scope);
    }
    if (appended.kind === 'head') return { head: appended.head, edits: made.edits };
    const isLong = delta.kind === 'inline' && deltaBytes.length > MAX_INLINE_DELTA_BYTES;
    if (isLong) delta = undefined;
  }
  const seq = before.seq + 1;
  const { nonceBytes } = author;
  const { extendHistory } = await histories();
  const history = await extendHistory(context, wanted.before, { seq, nonceBytes }, job);
  const to = { commitBytes, rows, seq };
  const layers =
    rows.count === 0
      ? []
      : await (await checkpoints()).makeCheckpoint(context, before, state, to, job);
  const checkpoint = { layers, history };
  const head = withCheckpoint(before, rows, delta, checkpoint, author, scope);
  return { head, edits: made === 'too-long' ? undefined : made.edits };
}

/** Puts the tail of a head into a log. The returned head has space for an entry, and is incomplete without one. */
async function moveIntoLog(
  { remote, tools, scope }: SyncContext,
  head: HeadRecord,
  { signal }: SyncJob,
): Promise<HeadRecord> {
  const inside = scopeInside(scope, head);
  const { bytes, record } = await encodeLog(head, tools.random(16), tools.hash, inside);
  await remote.put(objectPath('d', record.nameBytes), bytes, { signal });
  return withLog(head, record);
}

/** Swaps the head, and records the outcome. */
export async function swap(
  context: SyncContext,
  { head, edits }: Next,
  commitBytes: Uint8Array,
  { signal }: SyncJob,
  refusals: Refusals,
): Promise<PushSuccess | PushFailure> {
  const { remote, remoteBranch, heads, refs, tools, durability } = context;
  const bytes = await encodeHead(head, tools.random(16), context.scope);
  const wanted = { branch: remoteBranch, token: heads.last?.token, bytes, signal };
  const swapped = await swapPatiently(remote, wanted, tools, refusals);
  if (swapped.state === 'lost') {
    heads.bring(swapped.head);
    return 'lost';
  }
  if (swapped.state === 'unknown') return swapped;
  const hashBytes = tools.hash(bytes);
  heads.own({ head, hashBytes, token: swapped.token });
  const { seq, epoch } = head;
  const push = seenPush(head);
  const marks = stateMoves(head.repositoryBytes, head.writerBytes, { seq, hashBytes, epoch, push });
  const isCheckpoint = head.checkpoint.seq === seq && head.checkpoint.layers.length > 0;
  const moves = { origin: commitBytes, fork: commitBytes, ...marks };
  // If another tab has moved a ref, the next pull finds this push in the head.
  await refs.move(isCheckpoint ? { ...moves, checkpoint: commitBytes } : moves, durability);
  return { seq, isPushed: true, rows: edits };
}
