/**
 * The script of commits during which the browser is killed. It follows from a seed, so that a page that knows only the
 * seed can compute each possible state.
 *
 * A script has lanes. The commits of a lane come one after the other, each awaited; the lanes of a phase run at the
 * same time and have their own keys. So a store may hold, for each lane, the state after one of its commits.
 */

/** The work during which the browser is killed. */
export type Phase = 'load' | 'change' | 'puts' | 'writers' | 'collect';

export type LaneName = 'load' | 'change' | 'puts';

/** All inputs of a page. */
export interface Plan {
  readonly store: string;
  readonly seed: number;
  readonly phase: Phase;
  /** Rows of a bulk lane. */
  readonly rows: number;
  readonly durability: 'relaxed' | 'strict';
}

/** One commit: the numbers of rows to put, or rows to delete. */
export type Commit =
  | { readonly kind: 'putMany' | 'put'; readonly ids: readonly number[] }
  | { readonly kind: 'deleteMany' | 'delete'; readonly ids: readonly number[] }
  | { readonly kind: 'deleteAll' };

/** The part of a lane in a phase. */
export interface Part {
  readonly lane: LaneName;
  /** Commits that are made before the clock starts. */
  readonly prepared: number;
  /** Whether further commits follow, one after the other, until the end. */
  readonly goesOn: boolean;
}

export const PARTS: Readonly<Record<Phase, readonly Part[]>> = {
  load: [{ lane: 'load', prepared: 0, goesOn: true }],
  change: [{ lane: 'change', prepared: 1, goesOn: true }],
  puts: [
    { lane: 'change', prepared: 1, goesOn: false },
    { lane: 'puts', prepared: 0, goesOn: true },
  ],
  writers: [
    { lane: 'change', prepared: 1, goesOn: true },
    { lane: 'puts', prepared: 0, goesOn: true },
  ],
  collect: [
    { lane: 'change', prepared: 2, goesOn: true },
    { lane: 'puts', prepared: 20, goesOn: true },
  ],
};

/** Different rows of the lane of single puts. */
const SINGLE_ROWS = 500;

/** Hashes two numbers to 32 bits. */
export function mix(a: number, b: number): number {
  let h = Math.imul(a ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(b + 0x7f4a7c15, 0xc2b2ae35);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  h = Math.imul(h ^ (h >>> 12), 0x297a2d39);
  return (h ^ (h >>> 15)) >>> 0;
}

const numbers = (count: number) => Array.from({ length: count }, (_, id) => id);

/** Returns the commit with the number `at`, from 1, of a lane. */
export function commitOf({ seed, rows }: Plan, lane: LaneName, at: number): Commit {
  const chosen = mix(seed, at);
  const some = (share: number) => numbers(rows).filter((id) => mix(chosen, id) % share === 0);
  switch (lane) {
    case 'load':
      // Each load begins with an empty lane; every other one comes out of order.
      if (at % 2 === 0) return { kind: 'deleteAll' };
      return {
        kind: 'putMany',
        ids: at % 4 === 1 ? numbers(rows) : numbers(rows).map((id) => (id * 7919) % rows),
      };
    case 'change':
      if (at === 1) return { kind: 'putMany', ids: numbers(rows) };
      return at % 5 === 0
        ? { kind: 'deleteMany', ids: some(10) }
        : { kind: 'putMany', ids: some(3) };
    case 'puts':
      return { kind: at % 7 === 0 ? 'delete' : 'put', ids: [chosen % SINGLE_ROWS] };
  }
}

export const prefixOf = (lane: LaneName) => `${lane}/`;

export const keyOf = (lane: LaneName, id: number) =>
  `${prefixOf(lane)}${String(id).padStart(7, '0')}`;

const NOISE_LENGTH = 1 << 20;
const TEXT_LENGTH = 720;
let noise = '';

/** Makes text that follows from a seed and hardly compresses. */
export function textOf(seed: number, length: number): string {
  if (noise === '') {
    const pieces: string[] = [];
    for (let from = 0; from < NOISE_LENGTH; from += 6) {
      pieces.push(mix(1, from).toString(36).padStart(7, '0').slice(-6));
    }
    noise = pieces.join('');
  }
  const from = mix(seed, length) % (NOISE_LENGTH - length);
  return noise.slice(from, from + length);
}

/** Makes the value of a row that the commit `at` has put. */
export function rowOf(id: number, at: number) {
  return { id, at, text: textOf(mix(id, at), TEXT_LENGTH) };
}

/** Whether a stored value is the one that its commit has put. */
export function isValue(value: unknown, id: number, at: number): boolean {
  const expected = rowOf(id, at);
  const found = value as typeof expected;
  const isSame = found.id === id && found.at === at && found.text === expected.text;
  return isSame && Object.keys(found).length === 3;
}

/** Yields the rows of a commit, made on demand. */
export function* rowsOf(
  lane: LaneName,
  at: number,
  ids: readonly number[],
): Generator<[string, ReturnType<typeof rowOf>]> {
  for (const id of ids) yield [keyOf(lane, id), rowOf(id, at)];
}

/** The rows of a lane: the commit that has put each. */
export class LaneState {
  readonly rows = new Map<number, number>();
  /** Of all rows, whatever their order: unequal sums mean unequal states. */
  sum = 0;

  put(id: number, at: number): void {
    this.delete(id);
    this.rows.set(id, at);
    this.sum = (this.sum + mix(id, at)) >>> 0;
  }

  delete(id: number): void {
    const before = this.rows.get(id);
    if (before === undefined) return;
    this.rows.delete(id);
    this.sum = (this.sum - mix(id, before)) >>> 0;
  }

  apply(commit: Commit, at: number): void {
    if (commit.kind === 'deleteAll') for (const id of [...this.rows.keys()]) this.delete(id);
    else if (commit.kind === 'delete' || commit.kind === 'deleteMany') {
      for (const id of commit.ids) this.delete(id);
    } else for (const id of commit.ids) this.put(id, at);
  }

  equals(other: LaneState): boolean {
    if (this.sum !== other.sum || this.rows.size !== other.rows.size) return false;
    for (const [id, at] of this.rows) if (other.rows.get(id) !== at) return false;
    return true;
  }
}

/** Commits to look ahead: acknowledgements can be lost with the page that sent them. */
const AHEAD = 200;

/**
 * Returns the commit of its lane whose state this is, looking at commits after `acknowledged` first; `-1` when there is
 * none.
 */
export function placeOf(plan: Plan, lane: LaneName, state: LaneState, acknowledged: number) {
  const replayed = new LaneState();
  let earlier = -1;
  for (let at = 0; at <= acknowledged + AHEAD; at++) {
    if (at > 0) replayed.apply(commitOf(plan, lane, at), at);
    if (replayed.sum !== state.sum || !replayed.equals(state)) continue;
    if (at >= acknowledged) return at;
    earlier = at;
  }
  return earlier;
}
