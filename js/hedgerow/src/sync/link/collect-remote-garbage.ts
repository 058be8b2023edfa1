/**
 * Collects the garbage of a remote, without locks. A mark lists objects that no head names, and the record of
 * collections names the mark; after the grace the objects are deleted. The remote's clock gives all ages: a mark is as
 * old as the record that named it first, and the record that was just written gives the present time. A collection may
 * end anywhere, and several may run: no name is ever used twice, so garbage stays garbage.
 */

import { checkSignal } from '../../base/abort-signal.js';
import { HedgerowError, kindOfError } from '../../base/errors.js';
import { unhex } from '../../base/hex.js';
import { type Folder, objectPath, verifyObjectName } from '../remote/format/content-names.js';
import { MAX_MARK_NAMES, MAX_MARKS } from '../remote/format/format-limits.js';
import {
  decodeMark,
  encodeMark,
  type MarkRecord,
  type MarkRecords,
} from '../remote/format/garbage-marks.js';
import { headName, PROBES } from '../remote/object-names.js';
import type { RemoteObject } from '../remote/remote.js';
import { remoteFault } from '../remote/remote-faults.js';
import {
  type FoundRecord,
  readRecord,
  recordScope,
  swapRecord,
} from './garbage-collection-record.js';
import type { SyncContext } from './link-context.js';
import { RECORD_BRANCH } from './link-ref-names.js';
import { SyncRefs } from './link-state.js';
import { LiveObjects } from './reachable-remote-objects.js';
import type { CollectJob, CollectResult, RemoteAmount } from './remote-garbage-types.js';

/** One of so many parts of the grace passes between two marks, and before an object is marked. */
const PACE = MAX_MARKS;
/** Names in one call of `remove`. */
const BATCH = 100;
/** Refused calls after which the deletes of a mark end. */
const MAX_REFUSED = 10;
/** Most tries of a collection, while others are first. */
const MAX_TRIES = 8;

/** Collects. Rejects with `unauthorized` if the remote does not let this device list or delete. */
export async function collectRemote(context: SyncContext, job: CollectJob): Promise<CollectResult> {
  const counts = new Counts();
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    if (tries > 0) await context.tools.sleep(1000 * context.tools.chance(), job.signal);
    const result = await new Collection(context, job, counts).run();
    if (result !== undefined) return result;
  }
  throw new HedgerowError('conflict', `other devices collect: they were first ${MAX_TRIES} times`);
}

/** Age of the last collection at which a loop collects, by the remote's clock. */
const DUE_MS = 86_400_000;
/** The time that a collection that has begun is given. */
const BUSY_MS = 3_600_000;

/** Returns whether a loop collects now. The head's time is a lower bound of the remote's clock. Two requests. */
export async function isRemoteCollectionDue(
  context: SyncContext,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { remote, remoteBranch } = context;
  const { collected, modifiedMs } = await readRecord(context, { signal });
  const head = await remote.readHead(remoteBranch, { signal });
  const dueMs = Math.max(collected * 1000 + DUE_MS, modifiedMs + BUSY_MS);
  return head?.modifiedMs !== undefined && head.modifiedMs >= dueMs;
}

/** A number of objects, and their bytes. */
class Counts {
  objects = 0;
  bytes = 0;
}

/** A mark that was read, and its names. */
interface Mark {
  readonly record: MarkRecord;
  readonly names: readonly string[];
}

class Collection {
  readonly #context: SyncContext;
  readonly #job: CollectJob;
  readonly #deleted: Counts;
  /** All packs and deltas, by their names. */
  readonly #listed = new Map<string, RemoteObject>();
  /** Heads that probes have left. */
  #probes: readonly string[] = [];
  #live!: LiveObjects;
  #missing: readonly string[] = [];
  #refusal: HedgerowError | undefined;

  constructor(context: SyncContext, job: CollectJob, deleted: Counts) {
    this.#context = context;
    this.#job = job;
    this.#deleted = deleted;
  }

  /** Collects once. Resolves to `undefined` if another collector was first. */
  async run(): Promise<CollectResult | undefined> {
    const { remote } = this.#context;
    const { signal, graceMs } = this.#job;
    const own = { signal };
    for (const prefix of ['p/', 'd/'] as const) {
      // Listed before the heads are read: an object that is put and named later is not in it.
      for (const one of await remote.list(prefix, own)) this.#listed.set(one.name, one);
    }
    const before = await readRecord(this.#context, own);
    if (before.token === undefined && this.#listed.size === 0) {
      await this.#readLive(await remote.list('h/', own));
      return this.#result([]);
    }
    const record = await swapRecord(this.#context, before, stampMarks(before), own);
    if (record === undefined) return undefined;
    const nowMs = record.modifiedMs;
    await this.#readHeads(record);
    const marks = await this.#marks(record);
    if (this.#missing.length > 0) return this.#result(marks);
    const kept: Mark[] = [];
    for (const mark of marks) {
      const { stamp } = mark.record;
      const isRipe = stamp !== undefined && nowMs - stamp * 1000 >= graceMs;
      if (!isRipe || !(await this.#delete(mark))) kept.push(mark);
    }
    const marked = new Set(kept.flatMap(({ names }) => names));
    for (const { nameBytes } of record.marks) marked.add(objectPath('d', nameBytes));
    const made = await this.#mark(marked, kept, nowMs);
    if (made !== undefined) kept.push(made);
    // After a refusal, the collection stays due for other devices.
    const collected = this.#refusal ? record.collected : Math.floor(nowMs / 1000);
    const next = { collected, marks: kept.map((mark) => mark.record) };
    if ((await swapRecord(this.#context, record, next, own)) === undefined) return undefined;
    const over = record.marks.filter((one) => !next.marks.includes(one));
    // Marks that stay are garbage like other objects.
    const names = over.map(({ nameBytes }) => objectPath('d', nameBytes));
    await remote.remove([...names, ...this.#probes], own).catch(() => {});
    for (const name of names) this.#listed.delete(name);
    if (this.#refusal !== undefined) throw this.#refusal;
    return this.#result(kept);
  }

  /** Lists and reads the heads. Throws if the list is older than the record: it may lack a head. */
  async #readHeads({ modifiedMs }: FoundRecord): Promise<void> {
    const { remote } = this.#context;
    const listed = await remote.list('h/', { signal: this.#job.signal });
    const own = listed.find(({ name }) => name === headName(RECORD_BRANCH));
    const seconds = (ms: number) => Math.floor(ms / 1000);
    if (own === undefined || seconds(own.modifiedMs) < seconds(modifiedMs)) {
      throw remoteFault('list h/: it lacks what was just written');
    }
    this.#probes = listed
      .filter(
        (one) => one.name.startsWith(headName(PROBES)) && modifiedMs - one.modifiedMs > DUE_MS,
      )
      .map(({ name }) => name);
    await this.#readLive(listed);
  }

  /** Reads the heads, and finds the missing objects that they name. */
  async #readLive(listed: readonly RemoteObject[]): Promise<void> {
    const { shared, refs } = this.#context;
    // Not the refs of the context, which a pull may be using.
    const state = await new SyncRefs(shared, refs.names).look();
    this.#live = new LiveObjects(this.#context, state, { signal: this.#job.signal });
    await this.#live.read(listed);
    this.#missing = await this.#live.missing(this.#listed);
  }

  /** Reads the marks of the record. Skips the unreadable ones: their objects are marked again. */
  async #marks({ marks }: FoundRecord): Promise<Mark[]> {
    const { remote, tools } = this.#context;
    const found: Mark[] = [];
    for (const record of marks) {
      const { nameBytes } = record;
      const path = objectPath('d', nameBytes);
      const bytes = await remote.get(path, undefined, { signal: this.#job.signal });
      if (bytes === undefined) continue;
      try {
        verifyObjectName('mark', nameBytes, bytes, tools.hash);
        const { p, d } = await decodeMark(bytes, recordScope(this.#context));
        const names = [
          ...p.map((one) => objectPath('p', one)),
          ...d.map((one) => objectPath('d', one)),
        ];
        found.push({ record, names });
      } catch (cause) {
        if (kindOfError(cause) !== 'remote/data') throw cause;
      }
    }
    return found;
  }

  /** Deletes the objects of a mark. `false` if the remote refuses. */
  async #delete({ names }: Mark): Promise<boolean> {
    const there = names.filter((name) => this.#listed.has(name) && !this.#live.has(name));
    let refused = 0;
    for (let at = 0; at < there.length && refused < MAX_REFUSED; at += BATCH) {
      checkSignal(this.#job.signal);
      const batch = there.slice(at, at + BATCH);
      try {
        await this.#context.remote.remove(batch, { signal: this.#job.signal });
      } catch (cause) {
        if (!isRefusal(cause)) throw cause;
        this.#refusal ??= cause;
        refused += 1;
        continue;
      }
      for (const name of batch) {
        this.#deleted.objects += 1;
        this.#deleted.bytes += this.#listed.get(name)?.length ?? 0;
        this.#listed.delete(name);
      }
      this.#job.onProgress?.({ deleted: Math.min(at + BATCH, there.length), all: there.length });
    }
    return refused === 0;
  }

  /** Marks objects that no head and no mark names. `undefined` if there are no such objects, or it is too early. */
  async #mark(
    marked: ReadonlySet<string>,
    marks: readonly Mark[],
    nowMs: number,
  ): Promise<Mark | undefined> {
    const paceMs = this.#job.graceMs / PACE;
    const isEarly = marks.some(({ record }) => nowMs - (record.stamp ?? 0) * 1000 < paceMs);
    // Without any head, the objects in use are not known.
    if (isEarly || marks.length >= MAX_MARKS || this.#live.heads === 0) return undefined;
    const isGarbage = ({ name, modifiedMs }: RemoteObject) =>
      !this.#live.has(name) && !marked.has(name) && nowMs - modifiedMs >= paceMs;
    const old = [...this.#listed.values()].filter(isGarbage);
    old.sort((a, b) => a.modifiedMs - b.modifiedMs);
    const some = old.slice(0, MAX_MARK_NAMES);
    const newest = some[some.length - 1];
    if (newest === undefined) return undefined;
    await this.#live.fence(newest.modifiedMs);
    const names = some.map(({ name }) => name).filter((name) => !this.#live.has(name));
    if (names.length === 0) return undefined;
    const { tools, remote } = this.#context;
    const bytes = await encodeMark(
      { p: bytesIn('p', names), d: bytesIn('d', names) },
      tools.random(16),
      recordScope(this.#context),
    );
    const nameBytes = tools.hash(bytes);
    await remote.put(objectPath('d', nameBytes), bytes, { signal: this.#job.signal });
    return { record: { nameBytes, length: bytes.length, stamp: undefined }, names };
  }

  #result(marks: readonly Mark[]): CollectResult {
    const [live, waiting, kept] = [new Counts(), new Counts(), new Counts()];
    // A mark counts with the objects that it lists.
    const marked = new Set(marks.flatMap((mark) => mark.names));
    for (const { record } of marks) marked.add(objectPath('d', record.nameBytes));
    for (const { name, length } of this.#listed.values()) {
      const unnamed = marked.has(name) ? waiting : kept;
      const counts = this.#live.has(name) ? live : unnamed;
      counts.objects += 1;
      counts.bytes += length;
    }
    const amount = ({ objects, bytes }: Counts): RemoteAmount => ({ objects, bytes });
    return {
      ...{ deleted: amount(this.#deleted), live: amount(live) },
      ...{ waiting: amount(waiting), kept: amount(kept), missing: this.#missing },
    };
  }
}

/** Returns the record with a stamp for each mark: the record that named it first was written then. */
function stampMarks({ collected, marks, modifiedMs }: FoundRecord): MarkRecords {
  const now = Math.ceil(modifiedMs / 1000);
  return { collected, marks: marks.map((mark) => ({ ...mark, stamp: mark.stamp ?? now })) };
}

/** Returns the bytes of the names of one folder, in ascending order. */
function bytesIn(folder: Folder, names: readonly string[]): Uint8Array[] {
  const own = names.filter((name) => name.startsWith(folder)).sort();
  return own.map((name) => unhex(name.slice(folder.length + 1)));
}

/** Returns whether the remote refuses to delete: a right is missing, or the object is locked. */
function isRefusal(cause: unknown): cause is HedgerowError {
  if (!(cause instanceof HedgerowError)) return false;
  return (
    cause.code === 'unauthorized' || (kindOfError(cause) === 'remote/status' && !cause.retryable)
  );
}
