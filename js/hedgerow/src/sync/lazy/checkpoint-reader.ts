/** Reads parts of a checkpoint at a remote: directories, frames of rows and frames of nodes. */

import { HedgerowError } from '../../base/errors.js';
import type { SharedStore } from '../../engine/history/state-shared-by-branches.js';
import { readRowsRoot } from '../link/delta.js';
import type { SyncContext } from '../link/link-context.js';
import { Heads } from '../link/remote-head-reader.js';
import { type Scope, scopeInside } from '../remote/format/cipher-suite.js';
import { objectPath, verifyObjectName } from '../remote/format/content-names.js';
import { wholeDeltaBody } from '../remote/format/delta-body.js';
import { invalidRemote, NO_HASH } from '../remote/format/field-codec.js';
import {
  type HeadRecord,
  type Layer,
  type RowTree,
  sameRows,
} from '../remote/format/head-record.js';
import { decodeDirectory } from '../remote/format/layer-directory.js';
import { LayerParts, type ObjectFrame } from './read-layer-directory.js';

/** The parts of a connection that a source needs. */
export type SourceContext = Pick<
  SyncContext,
  'remote' | 'remoteBranch' | 'scope' | 'tools' | 'heads' | 'refs' | 'shared'
>;

/** Bytes of frames in memory: a reader of a frame soon reads it again, or the next one. */
const KEPT_BYTES = 4 << 20;
/** The most bytes of neighbours in one request. */
const REQUEST_BYTES = 1 << 20;
/** The most requests at once: browsers open six connections to a host. */
const AT_ONCE = 6;

/** Any head is good: reads by it are compared with the hashes of a known tree. */
const NOTHING_SEEN = { repositoryBytes: undefined, seq: 0, epoch: 0, seenBytes: NO_HASH };

/** The layers that lead to the rows of a checkpoint. */
export interface CheckpointBase {
  readonly head: HeadRecord;
  readonly layers: readonly LayerParts[];
}

interface CachedFrame {
  readonly bytes: Promise<Uint8Array>;
  length: number;
}

export class CheckpointReader {
  readonly #context: SourceContext;
  /** Its own `Heads`: the connection needs the other one for pulls and pushes. */
  readonly #heads: Heads;
  readonly #directories = new Map<string, Promise<LayerParts>>();
  readonly #frames = new Map<string, CachedFrame>();
  #keptBytes = 0;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(context: SourceContext) {
    this.#context = context;
    const { remote, remoteBranch, tools, scope } = context;
    this.#heads = new Heads(remote, remoteBranch, tools.hash, scope);
  }

  /** Resolves to the head that was seen last; sends one request if no head was seen, or for `isNew`. */
  async head(isNew = false): Promise<HeadRecord> {
    const { heads, remoteBranch } = this.#context;
    const own = this.#heads.last?.head;
    const seen = heads.last?.head;
    const known = own === undefined || (seen !== undefined && seen.seq > own.seq) ? seen : own;
    if (known !== undefined && !isNew) return known;
    // This does not read the remembered state of the remote: that waits for the commit that may wait for this.
    const found = await this.#heads.latest(NOTHING_SEEN);
    if (found !== undefined) return found.head;
    throw new HedgerowError('remote/gone', `there is no head of ${remoteBranch} at the remote`);
  }

  /**
   * Resolves to the layers up to the checkpoint whose rows were here last: rows that were not read since are
   * unchanged in them. Resolves to all of them if the head has lost that one, or for `isAll`.
   */
  async base(isAll = false): Promise<CheckpointBase> {
    const head = await this.head();
    const { layers } = head.checkpoint;
    const { shared, refs } = this.#context;
    const commit = refs.bytes('checkpoint');
    let count = layers.length;
    if (!isAll && commit?.some(Boolean)) {
      const rows = await rowsIfSound(shared, commit);
      const nth = rows === undefined ? -1 : layers.findIndex((one) => sameRows(one.rows, rows));
      if (nth >= 0) count = nth + 1;
    }
    return { head, layers: await this.parts(head, layers.slice(0, count)) };
  }

  /** Reads the directories of layers: one request for each unknown one. */
  parts(head: HeadRecord, layers: readonly Layer[]): Promise<LayerParts[]> {
    const scope = scopeInside(this.#context.scope, head);
    const known = layers.map((layer) => {
      const last = layer.packs[layer.packs.length - 1];
      if (last === undefined || last.edits > 0) {
        const message =
          'the remote has no directory: a version before has written it, clone it whole';
        throw new HedgerowError('unsupported', message);
      }
      const path = objectPath('p', last.nameBytes);
      const found = this.#directories.get(path);
      if (found !== undefined) return found;
      const fetching = this.#directory(layer, path, last.nameBytes, scope);
      this.#directories.set(path, fetching);
      fetching.catch(() => this.#directories.delete(path));
      return fetching;
    });
    return Promise.all(known);
  }

  async #directory(
    layer: Layer,
    path: string,
    nameBytes: Uint8Array,
    scope: Scope,
  ): Promise<LayerParts> {
    const { tools } = this.#context;
    const bytes = await this.#get(path, undefined);
    verifyObjectName('directory', nameBytes, bytes, tools.hash);
    const directory = await decodeDirectory(bytes, tools.inflate, scope);
    const parts = LayerParts.of(layer, directory, scope);
    if (parts !== undefined) return parts;
    throw invalidRemote('directory', 'it is of another layer', 0);
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

  /** Reads these frames. Neighbours that are not in memory share one request. */
  frames(places: readonly ObjectFrame[]): Promise<Uint8Array>[] {
    const wanted = places.filter((place) => !this.#frames.has(nameOf(place)));
    for (const group of neighbours(wanted)) this.#fetch(group);
    const found = places.map((place) => {
      const name = nameOf(place);
      const kept = this.#frames.get(name) as CachedFrame;
      // The map has the frames in the order of their last use.
      this.#frames.delete(name);
      this.#frames.set(name, kept);
      return kept.bytes;
    });
    this.#evict(places.length);
    return found;
  }

  /** Forgets all frames: the remote may have others by now, or may have made them to deceive. */
  forget(): void {
    this.#frames.clear();
    this.#keptBytes = 0;
  }

  /** Fetches frames before they are wanted. Their reader gets the error of a failure. */
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

/** Reads the rows of a commit; resolves to `undefined` for a damaged one, which no other data needs. */
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
