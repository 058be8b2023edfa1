/**
 * What the heads of a remote name. An object that none names is never named again, if each head was replaced since the
 * object was put: who put it did so after it had read the head that it swaps against, and that swap is lost now.
 */

import { sameBytes } from '../../base/bytes.js';
import { type ErrorCode, HedgerowError } from '../../base/errors.js';
import { hex } from '../../base/hex.js';
import { objectPath } from '../remote/format/content-names.js';
import { invalidRemote, NO_HASH, utf8 } from '../remote/format/cursor.js';
import { encodeHead } from '../remote/format/head-codec.js';
import { packsOf } from '../remote/format/head-record.js';
import { successorOf } from '../remote/format/head-rules.js';
import type { Scope } from '../remote/format/suite.js';
import { headName, isReserved, parseName } from '../remote/names.js';
import { swapPatiently } from '../remote/patient-swap.js';
import type { RemoteObject } from '../remote/remote.js';
import { goneFault, remoteFault } from '../remote/remote-faults.js';
import type { SyncContext, SyncJob } from './context.js';
import { Heads, type SeenHead } from './heads.js';
import type { LinkState } from './link-state.js';
import { tailSince } from './logs.js';

/** Heads that are read at once. */
const AT_ONCE = 4;
/** Most times that a head is read that moves on meanwhile. */
const MAX_TRIES = 20;
/** How much later than an object a head must have been written, for clocks of one store may differ by some seconds. */
const MARGIN_MS = 60_000;
/** How a head fails that was read. */
const HEAD_FAULTS: ReadonlySet<ErrorCode> = new Set([
  'invalid-remote',
  'rollback',
  'unsupported-format',
  'wrong-key',
]);

/** The error of a head that cannot be read, which says whose head it is: a remote has many. */
function addHeadName(branch: string, cause: unknown): unknown {
  if (!(cause instanceof HedgerowError) || !HEAD_FAULTS.has(cause.code)) return cause;
  const { code, message, object, offset } = cause;
  return new HedgerowError(code, `${headName(branch)}: ${message}`, { cause, object, offset });
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

  /** Whether a head names it, or did since they were read. */
  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** The objects that heads name and that are not among `listed`: one request for each, since it may have been put after they were listed. */
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

  /** Reads the heads that the remote lists, and the own one, with all logs. Rejects unless it knows all that they name. */
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

  /** Makes sure that no object of `newestMs`, or older, will be named that is not named now. */
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
        // Where it is not told, it is as if it were old.
        const modifiedMs = found.modifiedMs ?? Number.NEGATIVE_INFINITY;
        this.#branches.set(name, { name, heads, seen, modifiedMs });
        return;
      } catch (cause) {
        // A log that is gone may be one that a newer head does not name.
        if (!(cause instanceof HedgerowError) || cause.code !== 'invalid-remote') throw cause;
        const again = await remote.readHead(name, { signal, pastCaches: true });
        if (again?.token === found.token || tries === MAX_TRIES) throw cause;
      }
    }
  }

  /** Where the head of a branch belongs. */
  #scopeOf(name: string): Scope {
    return { ...this.#context.scope, contextBytes: utf8(name) };
  }

  /** What a head must not go back behind. */
  #knownOf(name: string): Pick<LinkState, 'repositoryBytes' | 'seq' | 'seenBytes' | 'epoch'> {
    const seen = this.#branches.get(name)?.seen;
    if (seen !== undefined) {
      const { repositoryBytes, seq, epoch } = seen.head;
      return { repositoryBytes, seq, epoch, seenBytes: seen.hashBytes };
    }
    if (name === this.#context.remoteBranch) return this.#state;
    return { repositoryBytes: undefined, seq: 0, epoch: 0, seenBytes: NO_HASH };
  }

  /** Adds all that a head names, and its logs. */
  async #add({ head }: SeenHead): Promise<void> {
    const { tail } = await tailSince(this.#context, head, 0, this.#job);
    for (const { nameBytes } of packsOf(head.checkpoint))
      this.#names.add(objectPath('p', nameBytes));
    for (const { nameBytes } of [...head.logs, ...head.checkpoint.history]) {
      this.#names.add(objectPath('d', nameBytes));
    }
    for (const { delta } of tail) {
      if (delta.kind === 'object') this.#names.add(objectPath('d', delta.nameBytes));
    }
  }

  /** Replaces a head by one that says the same. `false` if another one is there. */
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
