/**
 * The objects that the heads of a remote name. No head will name an unnamed object if each head was replaced after the
 * object was put: its writer had read the head before, and now loses the swap against it.
 */

import { sameBytes } from '../../base/bytes.js';
import { type ErrorKind, HedgerowError, kindOfError } from '../../base/errors.js';
import { hex } from '../../base/hex.js';
import type { Scope } from '../remote/format/cipher-suite.js';
import { objectPath } from '../remote/format/content-names.js';
import { invalidRemote, NO_HASH, utf8 } from '../remote/format/field-codec.js';
import { encodeHead } from '../remote/format/head-codec.js';
import { packsOf } from '../remote/format/head-record.js';
import { successorOf } from '../remote/format/head-succession.js';
import { headName, isReserved, parseName } from '../remote/object-names.js';
import type { RemoteObject } from '../remote/remote.js';
import { goneFault, remoteFault } from '../remote/remote-faults.js';
import { swapPatiently } from '../remote/swap-head-with-retries.js';
import { HeadObjects } from './head-objects.js';
import type { SyncContext, SyncJob } from './link-context.js';
import type { LinkState } from './link-state.js';
import { Heads, type SeenHead } from './remote-head-reader.js';

/** Heads that are read at the same time. */
const AT_ONCE = 4;
/** Most reads of a head that keeps moving. */
const MAX_TRIES = 20;
/** A head must be this much newer than an object: clocks of one store may differ by some seconds. */
const MARGIN_MS = 60_000;
/** The errors of a head that was read. */
const HEAD_FAULTS: ReadonlySet<ErrorKind> = new Set([
  'remote/data',
  'rollback',
  'newer-version/format',
  'wrong-key',
]);

/** Adds the name of the head to an error of it, since a remote has many. */
function addHeadName(branch: string, cause: unknown): unknown {
  if (!(cause instanceof HedgerowError) || !HEAD_FAULTS.has(kindOfError(cause))) return cause;
  const { message, object, offset } = cause;
  const text = `${headName(branch)}: ${message}`;
  return new HedgerowError(kindOfError(cause), text, { cause, object, offset });
}

/** A branch of the remote. */
interface Branch {
  readonly name: string;
  readonly heads: Heads;
  seen: SeenHead;
  modifiedMs: number;
}

export class LiveObjects {
  readonly #context: SyncContext;
  readonly #job: SyncJob;
  readonly #state: LinkState;
  readonly #branches = new Map<string, Branch>();
  readonly #names = new Set<string>();

  /** `state` is what this store remembers of the remote. */
  constructor(context: SyncContext, state: LinkState, job: SyncJob) {
    this.#context = context;
    this.#state = state;
    this.#job = job;
  }

  /** Returns whether a head names the object, or did at an earlier read. */
  has(name: string): boolean {
    return this.#names.has(name);
  }

  /**
   * Finds the objects that heads name and the remote lacks. Costs a request for each that is not in `listed`, since it
   * may have been put after the list.
   */
  async missing(listed: ReadonlyMap<string, unknown>): Promise<string[]> {
    const gone: string[] = [];
    for (const name of this.#names) {
      if (listed.has(name)) continue;
      const range = { from: 0, to: 1 };
      const found = await this.#context.remote.get(name, range, { signal: this.#job.signal });
      if (found === undefined) gone.push(name);
    }
    return gone;
  }

  get heads(): number {
    return this.#branches.size;
  }

  /** Reads the heads that the remote lists and its own, with all logs. Rejects unless it knows all their objects. */
  async read(listed: readonly RemoteObject[]): Promise<void> {
    const branches = new Set([this.#context.remoteBranch]);
    for (const { name } of listed) {
      const parsed = parseName(name);
      if (parsed?.kind === 'head' && !isReserved(parsed.branch)) branches.add(parsed.branch);
    }
    const left = branches[Symbol.iterator]();
    const faults: unknown[] = [];
    const work = async () => {
      for (const branch of left) {
        if (faults.length > 0) return;
        await this.#readBranch(branch).catch((cause) => faults.push(addHeadName(branch, cause)));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    if (faults.length > 0) throw faults[0];
    const ids = [...this.#branches.values()].map(({ seen }) => seen.head.repositoryBytes);
    if (ids.some((id) => !sameBytes(id, ids[0]))) {
      throw invalidRemote('head', 'the heads of this remote are of several repositories', 0);
    }
  }

  /** Ensures that no head will name an object of `newestMs`, or older, that no head names now. */
  async fence(newestMs: number): Promise<void> {
    for (const { name } of [...this.#branches.values()]) {
      for (let tries = 0; ; tries++) {
        const branch = this.#branches.get(name);
        if (branch === undefined || branch.modifiedMs >= newestMs + MARGIN_MS) break;
        if (tries === MAX_TRIES)
          throw remoteFault(`the head of ${name} stays older than it can be`);
        if (await this.#replace(branch)) break;
        await this.#readBranch(name);
      }
    }
  }

  async #readBranch(name: string): Promise<void> {
    const { remote, tools, remoteBranch } = this.#context;
    const { signal } = this.#job;
    const known = this.#branches.get(name);
    const heads = known?.heads ?? new Heads(remote, name, tools.hash, this.#scopeOf(name));
    const isOwn = name === remoteBranch;
    for (let tries = 0; ; tries++) {
      const found = await remote.readHead(name, { signal, pastCaches: true });
      if (found === undefined) {
        if (isOwn && this.#state.seq > 0) throw goneFault(headName(name));
        this.#branches.delete(name);
        return;
      }
      const seen = await heads.take(found.bytes, found.token, this.#knownOf(name));
      try {
        await this.#add(seen);
        // A head without a time counts as old.
        const modifiedMs = found.modifiedMs ?? Number.NEGATIVE_INFINITY;
        this.#branches.set(name, { name, heads, seen, modifiedMs });
        return;
      } catch (cause) {
        // A newer head may no longer name the log that is gone.
        if (kindOfError(cause) !== 'remote/data') throw cause;
        const again = await remote.readHead(name, { signal, pastCaches: true });
        if (again?.token === found.token || tries === MAX_TRIES) throw cause;
      }
    }
  }

  /** Returns the scope of a branch's head. */
  #scopeOf(name: string): Scope {
    return { ...this.#context.scope, contextBytes: utf8(name) };
  }

  /** Returns the state that a head must not fall behind. */
  #knownOf(name: string): Pick<LinkState, 'repositoryBytes' | 'seq' | 'seenBytes' | 'epoch'> {
    const seen = this.#branches.get(name)?.seen;
    if (seen !== undefined) {
      const { repositoryBytes, seq, epoch } = seen.head;
      return { repositoryBytes, seq, epoch, seenBytes: seen.hashBytes };
    }
    if (name === this.#context.remoteBranch) return this.#state;
    return { repositoryBytes: undefined, seq: 0, epoch: 0, seenBytes: NO_HASH };
  }

  /** Adds the objects that a head and its logs name. */
  async #add({ head }: SeenHead): Promise<void> {
    const { tail } = await new HeadObjects(this.#context, head, this.#job.signal).tailSince(0);
    for (const { nameBytes } of packsOf(head.checkpoint))
      this.#names.add(objectPath('p', nameBytes));
    for (const { nameBytes } of [...head.logs, ...head.checkpoint.history]) {
      this.#names.add(objectPath('d', nameBytes));
    }
    for (const { delta } of tail) {
      if (delta.kind === 'object') this.#names.add(objectPath('d', delta.nameBytes));
    }
  }

  /** Replaces a head by one with the same content. `false` if another head is there. */
  async #replace(branch: Branch): Promise<boolean> {
    const { remote, tools } = this.#context;
    const { head, hashBytes, token } = branch.seen;
    const author = {
      writerBytes: this.#state.writerBytes,
      nonceBytes: tools.random(16),
      previousBytes: hashBytes,
    };
    const next = successorOf(head, author);
    const bytes = await encodeHead(next, tools.random(16), this.#scopeOf(branch.name));
    const wanted = { branch: branch.name, token, bytes, signal: this.#job.signal };
    const { state } = await swapPatiently(remote, wanted, tools);
    if (state === 'swapped') return true;
    if (state === 'lost') return false;
    await this.#readBranch(branch.name);
    const now = this.#branches.get(branch.name);
    return now !== undefined && hex(now.seen.head.nonceBytes) === hex(author.nonceBytes);
  }
}
