/** The trace of one store: of all its traced handles. */

import type { Store } from 'hedgerow';
import type { BranchWatches, Host } from 'hedgerow/kit';
import {
  TRACED,
  type TracedLink,
  type TracedStore,
  type TracedWatch,
} from './cross-window-trace-types.js';
import { traceSlices } from './measure-slices.js';
import { MeasuredCalls, NAMESPACE_CALLS, STORE_CALLS } from './measured-calls.js';
import { Bars } from './timing-recorder.js';
import { Links } from './traced-sync-links.js';
import { Watches } from './traced-watches.js';

/** The internals of a handle that a trace uses, as live queries do. */
export interface TracedHandle {
  readonly from: { readonly host: Host };
  readonly handle: { readonly watchers: BranchWatches };
}

const innerOf = (db: Store) => db as unknown as TracedHandle;

/** The traces, by the hosts of their stores. */
const traces = new WeakMap<Host, StoreTrace>();

const global = globalThis as { [TRACED]?: Set<TracedStore> };

export class StoreTrace implements TracedStore {
  readonly store: string;
  readonly #host: Host;
  readonly #bars: Bars;
  readonly #calls: MeasuredCalls;
  readonly #links: Links;
  readonly #handles = new Map<Store, { readonly watches: Watches; readonly undo: () => void }>();
  readonly #stopSlices: () => void;

  private constructor(db: Store, minMs: number) {
    this.store = db.name;
    this.#host = innerOf(db).from.host;
    this.#bars = new Bars(db.name, minMs);
    this.#calls = new MeasuredCalls(this.#bars);
    this.#links = new Links(this.#bars);
    this.#stopSlices = traceSlices(this.#host, (startMs, endMs) =>
      this.#bars.put('slice', 'slice', startMs, endMs),
    );
    traces.set(this.#host, this);
    global[TRACED] ??= new Set();
    global[TRACED].add(this);
  }

  /** Returns the trace of a handle's store, which the handle joins. */
  static of(db: Store, minMs: number): StoreTrace {
    const trace = traces.get(innerOf(db).from.host) ?? new StoreTrace(db, minMs);
    trace.#add(db);
    return trace;
  }

  get bars() {
    return this.#bars.all;
  }

  get count() {
    return this.#bars.count;
  }

  watches(): TracedWatch[] {
    return [...this.#handles.values()].flatMap(({ watches }) => watches.list());
  }

  links(): TracedLink[] {
    return this.#links.list();
  }

  stop(): void {
    for (const { watches, undo } of this.#handles.values()) {
      undo();
      watches.stop();
    }
    this.#handles.clear();
    this.#links.stop();
    this.#stopSlices();
    this.#bars.isOver = true;
    if (traces.get(this.#host) === this) traces.delete(this.#host);
    global[TRACED]?.delete(this);
  }

  #add(db: Store): void {
    if (this.#handles.has(db)) return;
    const addHandle = (name: string, result: unknown) => {
      if (!this.#handles.has(db)) return;
      if (name === 'branches.open') this.#add(result as Store);
      if (name === 'connect') this.#links.add(result as never);
    };
    const all = [
      this.#calls.measure(db, STORE_CALLS, addHandle),
      ...(['branches', 'history', 'health', 'backup'] as const).map((name) =>
        this.#calls.measure(db[name], NAMESPACE_CALLS[name], addHandle, `${name}.`),
      ),
    ];
    const undo = () => {
      for (const one of all) one();
    };
    const { watchers } = innerOf(db).handle;
    const onClose = () => this.#close(db);
    const watches = new Watches(watchers, () => db.branches.current, this.#bars, onClose);
    this.#handles.set(db, { watches, undo });
  }

  #close(db: Store): void {
    const traced = this.#handles.get(db);
    traced?.undo();
    traced?.watches.stop();
    this.#handles.delete(db);
    if (this.#handles.size === 0) this.stop();
  }
}
