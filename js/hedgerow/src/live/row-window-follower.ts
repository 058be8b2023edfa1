import * as ReadFlag from '../base/abi/read-flag.js';
import { freezeShared } from '../base/freeze-shared.js';
import { sameValue } from '../base/same-value.js';
import { turn } from '../base/slice-queue.js';
import type { SecondaryKey } from '../core/indexes/index-range.js';
import { isOfIndex } from '../core/indexes/index-set.js';
import type { ReadContext } from '../engine/read/context.js';
import type { Change } from '../engine/read/decode-diff.js';
import { optionsOfPlan } from '../engine/read/scan-options.js';
import type { Snapshot } from '../store/snapshot.js';
import { type ChangeBatch, split } from './change-batch.js';
import { Follower, type FollowerSpec } from './range-follower.js';
import { answerNow } from './read-synchronously.js';
import type { PositionedEntry } from './row-window-list.js';
import type { LiveSource, LiveStatus } from './types.js';

/** Rows after which the clock is read. */
const CLOCK_ROWS = 256;

/** A row as it is shown, with the value that it was made from. */
interface Entry<Row> extends PositionedEntry {
  readonly value: unknown;
  readonly row: Row | undefined;
  /** The error that `rowOf` threw. */
  readonly fault: { readonly error: unknown } | undefined;
}

/** A window on a range: which of its rows are shown. */
export interface WindowSpec<Row> extends FollowerSpec {
  readonly rowOf: LiveSource<Row>['rowOf'];
  /** Equal for windows whose rows are made in the same way. */
  readonly kind: string;
}

/** A function that makes a state of the rows of a `Window`. */
export type StateOf<Row, State> = (rows: readonly Row[], told: LiveStatus, offset: number) => State;

type EntryMap<Row> = ReadonlyMap<string, Entry<Row>>;

const NONE: readonly never[] = [];
const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();

/** A follower that keeps the rows of a window up to date. */
export class RowWindowFollower<
  Row = unknown,
  State extends LiveStatus = LiveStatus,
> extends Follower<State, WindowSpec<Row>> {
  readonly #stateOf: StateOf<Row, State>;
  entries: readonly Entry<Row>[] = NONE;
  #rows: readonly Row[] = NONE;

  /** Reuses rows of the window `before` that have not changed. */
  constructor(wanted: WindowSpec<Row>, stateOf: StateOf<Row, State>, before?: object) {
    const told = { status: 'loading', isStale: false, error: undefined } as const;
    super(wanted, stateOf(NONE, told, wanted.offset));
    this.#stateOf = stateOf;
    if (before instanceof RowWindowFollower && before.wanted.kind === wanted.kind) {
      this.entries = before.entries;
    }
  }

  protected override readNow({ host: { indexes, reads }, head }: ReadContext): boolean {
    const { engine } = head.host;
    const { range, cut, reverse, offset, limit } = this.wanted;
    const isIndex = isOfIndex(range);
    const call = {
      range: indexes.encode(range, cut),
      parts: ReadFlag.keys | ReadFlag.values | (isIndex ? ReadFlag.secondary : 0),
      reverse,
      offset,
      limit,
    };
    const op = reads.scan(engine, head.view, call);
    const members = answerNow(engine, op, () => reads.output(engine));
    if (members === undefined) return false;
    const known = this.#mapEntries();
    const entries: Entry<Row>[] = [];
    for (let at = 0; at < members.length; at += isIndex ? 3 : 2) {
      const secondary = isIndex ? (members[at + 2] as SecondaryKey) : undefined;
      entries.push(this.#entry(known, members[at] as string, members[at + 1], secondary));
    }
    this.#show(entries);
    return true;
  }

  protected override async read(snapshot: Snapshot, isWanted: () => boolean): Promise<void> {
    const partMs = this.wanted.hub.from.host.sliceMs / 2;
    const known = this.#mapEntries();
    const entries: Entry<Row>[] = [];
    let endMs = 0;
    for await (const row of this.scan(snapshot)) {
      if (!isWanted()) return;
      const [key, value, secondary] = row as readonly [string, unknown, SecondaryKey?];
      entries.push(this.#entry(known, key, value, secondary));
      if (entries.length % CLOCK_ROWS > 0 || performance.now() < endMs) continue;
      await turn();
      endMs = performance.now() + partMs;
    }
    if (isWanted()) this.#show(entries);
  }

  /** Scans the rows of the window. */
  protected scan(snapshot: Snapshot): AsyncIterable<readonly unknown[]> {
    const { range, cut, reverse, offset, limit } = this.wanted;
    const plan = { range, cut, reverse, offset, limit, wait: false, signal: undefined };
    return snapshot.scan(optionsOfPlan(plan)) as AsyncIterable<readonly unknown[]>;
  }

  /** Returns the present entries by their positions. */
  #mapEntries(): EntryMap<Row> {
    return new Map(this.entries.map((entry) => [entry.position, entry]));
  }

  /** Returns the entry of a row: the known entry if it is equal. */
  #entry(known: EntryMap<Row>, key: string, value: unknown, secondary?: SecondaryKey): Entry<Row> {
    const { places, rowOf } = this.wanted;
    const position = places.positionOf(key, secondary);
    const old = known.get(position);
    if (old !== undefined && sameValue(old.value, value)) return old;
    try {
      return { position, value, row: rowOf(key, freezeShared(value), secondary), fault: undefined };
    } catch (error) {
      return { position, value, row: undefined, fault: { error } };
    }
  }

  override *apply(news: ChangeBatch): Generator<void, boolean, void> {
    const { entries } = this;
    const { offset, limit } = this.wanted;
    const { length } = entries;
    if (limit === 0) return false;
    const [first, last] = [entries[0], entries[limit - 1]];
    // The rows before a window, and behind a full one, are unknown.
    if (first === undefined && offset > 0) return news.net() > 0;
    const start = first === undefined || offset === 0 ? 0 : news.before(first.position, false);
    const end = last === undefined ? news.length : news.before(last.position, true);
    const shift = offset === 0 ? 0 : news.net(start);
    if (start === end && shift === 0) return false;
    const left = length + news.net(end) - news.net(start) + shift;
    if (shift > 0 || (last !== undefined && left < limit)) return true;
    const all = yield* this.#mergeEntries(news, start, end);
    this.#show(shift === 0 && all.length <= limit ? all : all.slice(-shift, limit - shift));
    return false;
  }

  /** Merges some of the changes into the entries. */
  *#mergeEntries(
    news: ChangeBatch,
    start: number,
    end: number,
  ): Generator<void, Entry<Row>[], void> {
    const { entries } = this;
    const all: Entry<Row>[] = [];
    let from = 0;
    for (let at = start; at < end; at++) {
      const position = news.at(at);
      const isBefore = (index: number) =>
        news.compare((entries[index] as Entry<Row>).position, position) < 0;
      const to = split(entries.length, isBefore, from);
      while (from < to) all.push(entries[from++] as Entry<Row>);
      if (entries[from]?.position === position) from += 1;
      const change = news.changes[at] as Change;
      if (change.op !== 'delete') {
        const { key, newValue, secondary } = change;
        all.push(this.#entry(NOTHING, key, newValue, secondary as SecondaryKey | undefined));
      }
      if (at % CLOCK_ROWS === 0) yield;
    }
    while (from < entries.length) all.push(entries[from++] as Entry<Row>);
    return all;
  }

  #show(entries: readonly Entry<Row>[]): void {
    this.entries = entries;
    const fault = entries.find((entry) => entry.fault !== undefined)?.fault;
    // A row that cannot be made holds back no other.
    const made = fault === undefined ? entries : entries.filter((entry) => !entry.fault);
    const old = this.#rows;
    let isSame = this.isLoaded && old.length === made.length;
    const rows = made.map(({ row }, at) => {
      isSame &&= row === old[at];
      return row as Row;
    });
    if (!isSame) this.#rows = rows;
    this.isLoaded = true;
    const status = fault === undefined || rows.length > 0 ? 'ready' : 'error';
    const told = { status, isStale: false, error: fault?.error } as const;
    this.show(this.#stateOf(this.#rows, told, this.wanted.offset));
  }
}
