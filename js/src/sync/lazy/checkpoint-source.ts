/** Reads parts of a checkpoint at a remote: directories, frames of rows and frames of nodes. */

import { HedgerowError } from '../../base/errors.js';
import type { SharedStore } from '../../engine/history/shared-store.js';
import type { SyncContext } from '../link/context.js';
import { readRowsRoot } from '../link/delta.js';
import { Heads } from '../link/heads.js';
import { objectPath, verifyObjectName } from '../remote/format/content-names.js';
import { invalidRemote, NO_HASH } from '../remote/format/cursor.js';
import { wholeDeltaBody } from '../remote/format/delta-body.js';
import { decodeDirectory } from '../remote/format/directory.js';
import {
  type Generation,
  type HeadRecord,
  type RowTree,
  sameRows,
} from '../remote/format/head-record.js';
import { type Scope, scopeInside } from '../remote/format/suite.js';
import { GenerationParts, type ObjectFrame } from './directories.js';

/** As much of a link as a source needs. */
export type SourceContext = Pick<
  SyncContext,
  'remote' | 'remoteBranch' | 'scope' | 'tools' | 'heads' | 'refs' | 'shared'
>;

/** Bytes of frames that are kept in memory: who reads one soon reads it again, or the next. */
const KEPT_BYTES = 4 << 20;
/** Most bytes of neighbours that are asked for in one request. */
const REQUEST_BYTES = 1 << 20;
/** Requests at once: browsers open six connections to a host. */
const AT_ONCE = 6;

/** Any head is good: what is read by it is compared with the hashes of a tree that is known. */
const NOTHING_SEEN = { repositoryBytes: undefined, seq: 0, epoch: 0, seenBytes: NO_HASH };

/** The generations that lead to the rows of a checkpoint. */
export interface CheckpointBase {
  readonly head: HeadRecord;
  readonly generations: readonly GenerationParts[];
}

interface CachedFrame {
  readonly bytes: Promise<Uint8Array>;
  length: number;
}

export class CheckpointSource {
  readonly #context: SourceContext;
  /** Its own: the one of the link belongs to pulls and pushes. */
  readonly #heads: Heads;
  readonly #directories = new Map<string, Promise<GenerationParts>>();
  readonly #frames = new Map<string, CachedFrame>();
  #keptBytes = 0;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(context: SourceContext) {
    this.#context = context;
    const { remote, remoteBranch, tools, scope } = context;
    this.#heads = new Heads(remote, remoteBranch, tools.hash, scope);
  }

  /** The head that was seen last; one request if none was, or `isNew` is wanted. */
  async head(isNew = false): Promise<HeadRecord> {
    const { heads, remoteBranch } = this.#context;
    const own = this.#heads.last?.head;
    const seen = heads.last?.head;
    const known = own === undefined || (seen !== undefined && seen.seq > own.seq) ? seen : own;
    if (known !== undefined && !isNew) return known;
    // What is remembered of the remote is not asked for here: that waits for the commit that may wait for this.
    const found = await this.#heads.latest(NOTHING_SEEN);
    if (found !== undefined) return found.head;
    throw new HedgerowError('remote-gone', `there is no head of ${remoteBranch} at the remote`);
  }

  /**
   * The generations up to the checkpoint whose rows were here last: what was not read since is in them as it was.
   * All of the head, if it does not have that one any more, or `isAll` is wanted.
   */
  async base(isAll = false): Promise<CheckpointBase> {
    const head = await this.head();
    const { generations } = head.checkpoint;
    const { shared, refs } = this.#context;
    const commit = refs.bytes('checkpoint');
    let count = generations.length;
    if (!isAll && commit?.some(Boolean)) {
      const rows = await rowsIfSound(shared, commit);
      const nth =
        rows === undefined ? -1 : generations.findIndex((one) => sameRows(one.rows, rows));
      if (nth >= 0) count = nth + 1;
    }
    return { head, generations: await this.parts(head, generations.slice(0, count)) };
  }

  /** What the directories of generations tell: one request for each that is not known. */
  parts(head: HeadRecord, generations: readonly Generation[]): Promise<GenerationParts[]> {
    const scope = scopeInside(this.#context.scope, head);
    const known = generations.map((generation) => {
      const last = generation.packs[generation.packs.length - 1];
      if (last === undefined || last.edits > 0) {
        const message =
          'the remote has no directory: a version before has written it, clone it whole';
        throw new HedgerowError('unsupported', message);
      }
      const path = objectPath('p', last.nameBytes);
      const found = this.#directories.get(path);
      if (found !== undefined) return found;
      const fetching = this.#directory(generation, path, last.nameBytes, scope);
      this.#directories.set(path, fetching);
      fetching.catch(() => this.#directories.delete(path));
      return fetching;
    });
    return Promise.all(known);
  }

  async #directory(
    generation: Generation,
    path: string,
    nameBytes: Uint8Array,
    scope: Scope,
  ): Promise<GenerationParts> {
    const { tools } = this.#context;
    const bytes = await this.#get(path, undefined);
    verifyObjectName('directory', nameBytes, bytes, tools.hash);
    const directory = await decodeDirectory(bytes, tools.inflate, scope);
    const parts = GenerationParts.of(generation, directory, scope);
    if (parts !== undefined) return parts;
    throw invalidRemote('directory', 'it is of another generation', 0);
  }

  async #get(path: string, range: ObjectFrame['range'] | undefined): Promise<Uint8Array> {
    if (this.#running >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running += 1;
    try {
      const bytes = await this.#context.remote.get(path, range);
      if (bytes !== undefined) return bytes;
      throw invalidRemote('pack', `there is no ${path}, which the head names`, 0);
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }

  /** What is in these frames. Neighbours that are not in memory are one request. */
  frames(places: readonly ObjectFrame[]): Promise<Uint8Array>[] {
    const wanted = places.filter((place) => !this.#frames.has(nameOf(place)));
    for (const group of neighbours(wanted)) this.#fetch(group);
    const found = places.map((place) => {
      const name = nameOf(place);
      const kept = this.#frames.get(name) as CachedFrame;
      // The last in the order of the map is the one that was used last.
      this.#frames.delete(name);
      this.#frames.set(name, kept);
      return kept.bytes;
    });
    this.#evict(places.length);
    return found;
  }

  /** Forgets all frames: they may be of what is not there any more, or made to deceive. */
  forget(): void {
    this.#frames.clear();
    this.#keptBytes = 0;
  }

  /** Fetches frames that are not wanted yet. A failure is told by who wants them. */
  fetchAhead(places: readonly ObjectFrame[]): void {
    if (places.length === 0) return;
    for (const fetching of this.frames(places)) fetching.catch(() => {});
  }

  #fetch(group: readonly ObjectFrame[]): void {
    const [first, last] = [group[0] as ObjectFrame, group[group.length - 1] as ObjectFrame];
    const { from } = first.range;
    const got = this.#get(first.path, { from, to: last.range.to });
    for (const place of group) {
      const name = nameOf(place);
      const bytes = got.then((all) => this.#frame(place, all, from));
      const kept: CachedFrame = { bytes, length: 0 };
      this.#frames.set(name, kept);
      bytes.then(
        ({ length }) => {
          kept.length = length;
          if (this.#frames.get(name) === kept) this.#keptBytes += length;
        },
        () => {
          if (this.#frames.get(name) === kept) this.#frames.delete(name);
        },
      );
    }
  }

  async #frame(
    { kind, range, open }: ObjectFrame,
    all: Uint8Array,
    from: number,
  ): Promise<Uint8Array> {
    const bytes = all.subarray(range.from - from, range.to - from);
    if (bytes.length !== range.to - range.from) {
      throw invalidRemote(kind, `it ends before byte ${range.to}`, range.from);
    }
    return wholeDeltaBody(await open(bytes), this.#context.tools.inflate, kind);
  }

  /** Frees the frames that were used longest ago, but not the last `most`. */
  #evict(most: number): void {
    for (const [name, { length }] of this.#frames) {
      if (this.#keptBytes <= KEPT_BYTES || this.#frames.size <= most) return;
      if (length === 0) continue;
      this.#frames.delete(name);
      this.#keptBytes -= length;
    }
  }
}

/** Undefined for a commit that is damaged: what it was is then not known, and nothing else depends on it. */
async function rowsIfSound(shared: SharedStore, commit: Uint8Array): Promise<RowTree | undefined> {
  try {
    return await readRowsRoot(shared, commit);
  } catch (cause) {
    const { code } = cause as Partial<HedgerowError>;
    if (code === 'corrupt-chunk' || code === 'missing-chunk') return undefined;
    throw cause;
  }
}

const nameOf = ({ path, range }: ObjectFrame) => `${path} ${range.from}`;

/** Groups frames that follow each other in one object, each once. */
function neighbours(places: readonly ObjectFrame[]): ObjectFrame[][] {
  const groups: ObjectFrame[][] = [];
  const sorted = [...places].sort(
    (a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0) || a.range.from - b.range.from,
  );
  for (const place of sorted) {
    const group = groups[groups.length - 1];
    const [first, last] = [group?.[0], group?.[group.length - 1]];
    if (last !== undefined && nameOf(last) === nameOf(place)) continue;
    const follows = last?.path === place.path && last.range.to === place.range.from;
    const bytes = place.range.to - (first?.range.from ?? 0);
    if (group !== undefined && follows && bytes <= REQUEST_BYTES) group.push(place);
    else groups.push([place]);
  }
  return groups;
}
