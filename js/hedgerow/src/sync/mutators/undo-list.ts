/** Lists of the calls that this connection can undo, and can make again. */
import { memberOf } from '../../base/runtime-type-checks.js';

/** The most calls of a list: the oldest one leaves it. */
const MAX_CALLS = 100;

export class UndoList {
  readonly #toUndo: unknown[] = [];
  readonly #toRedo: unknown[] = [];
  readonly #undo: (done: unknown) => Promise<unknown>;
  readonly #onChange: () => void;

  /** `undo` makes the call that another one has returned as its `undo`. */
  constructor(undo: (done: unknown) => Promise<unknown>, onChange: () => void) {
    this.#undo = undo;
    this.#onChange = onChange;
  }

  get canUndo(): boolean {
    return this.#toUndo.length > 0;
  }

  get canRedo(): boolean {
    return this.#toRedo.length > 0;
  }

  /** Adds a call of the app by its result, unless it cannot be undone. No undone call is made again after it. */
  async add<Done>(call: Promise<Done>): Promise<Done> {
    const done = await call;
    if (push(this.#toUndo, done)) {
      this.#toRedo.length = 0;
      this.#onChange();
    }
    return done;
  }

  /** Undoes a call by its result, which leaves the lists. */
  undo(done: unknown): Promise<unknown> {
    for (const calls of [this.#toUndo, this.#toRedo]) {
      const at = calls.indexOf(done);
      if (at >= 0) calls.splice(at, 1);
    }
    this.#onChange();
    return this.#undo(done);
  }

  undoLast(): Promise<unknown> {
    return this.#move(this.#toUndo, this.#toRedo);
  }

  redoLast(): Promise<unknown> {
    return this.#move(this.#toRedo, this.#toUndo);
  }

  /** Undoes the last call of a list. If that call can be undone, too, it becomes the last one of the other list. */
  async #move(from: unknown[], to: unknown[]): Promise<unknown> {
    if (from.length === 0) return undefined;
    const undoing = this.#undo(from.pop());
    this.#onChange();
    const undone = await undoing;
    if (push(to, undone)) this.#onChange();
    return undone;
  }
}

/** Adds the result of a call; returns `false` if the call cannot be undone. */
function push(calls: unknown[], done: unknown): boolean {
  if (memberOf(done, 'undo') === undefined) return false;
  calls.push(done);
  if (calls.length > MAX_CALLS) calls.shift();
  return true;
}
