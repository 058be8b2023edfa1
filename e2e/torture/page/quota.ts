/** A workload that the disk becomes too small for, at a place that the driver chooses. */
import { open, type Store } from 'hedgerow';
import { mix, textOf } from './script.js';
import { Calls } from './settling.js';

const NAME = 'quota';
const ROUNDS = 5;
const BULK_ROWS = 400;
const TEXT_LENGTH = 5000;
const SINGLE_ROWS = 12;
const SINGLE_LENGTH = 60_000;

type Rows = Map<string, string>;

interface Step {
  readonly kind: 'load' | 'merge' | 'put';
  readonly rows: Rows;
}

/** Makes loads of new rows, merges into all of them, and single puts. */
function steps(): Step[] {
  const all: Step[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const bulk = (names: readonly number[], length: number): Rows =>
      new Map(names.map((id) => [`bulk/${id % 10}/${id}`, textOf(mix(id, round), length)]));
    const fresh = Array.from({ length: BULK_ROWS }, (_, at) => round * BULK_ROWS + at);
    const old = Array.from({ length: fresh[0]! }, (_, id) => id).filter(
      (id) => mix(id, round) % 4 === 0,
    );
    all.push({ kind: 'load', rows: bulk(fresh, TEXT_LENGTH) });
    if (old.length > 0) all.push({ kind: 'merge', rows: bulk(old, TEXT_LENGTH + 1) });
    for (let at = 0; at < SINGLE_ROWS; at++) {
      const id = round * SINGLE_ROWS + at;
      const row = [`single/${id}`, textOf(id, SINGLE_LENGTH)] as const;
      all.push({ kind: 'put', rows: new Map([row]) });
    }
  }
  return all;
}

export interface Filled {
  readonly problems: string[];
  /** The kind and number of the failed step; `undefined` when there was room for all. */
  readonly failed: { readonly kind: Step['kind']; readonly step: number } | undefined;
  readonly root: string;
  readonly usage: number;
}

let db: Store;
let at = 0;
const held: Rows = new Map();

async function run({ rows }: Step): Promise<void> {
  if (rows.size > 1) await db.putMany(rows);
  else for (const [key, value] of rows) await db.put(key, value);
}

/** Checks that the store holds exactly the acknowledged rows. */
async function compare(where: string, calls: Calls): Promise<void> {
  const ending = await calls.ended(`${where}: a scan`, () => db.scan<string>().toArray());
  if ('code' in ending) {
    calls.problems.push(`${where}: a scan fails with ${ending.message}`);
    return;
  }
  const { result } = ending;
  const isSame =
    result.length === held.size && result.every(([key, value]) => held.get(key) === value);
  if (!isSame) calls.problems.push(`${where}: ${result.length} rows, not the ${held.size} written`);
}

/** Goes on with the workload until a step fails for lack of room, or to its end. */
export async function fill(): Promise<Filled> {
  const calls = new Calls();
  db ??= await open(NAME);
  const all = steps();
  let failed: Filled['failed'];
  for (; at < all.length; at++) {
    const step = all[at]!;
    const name = `step ${at} (${step.kind})`;
    const ending = await calls.ended(name, () => run(step));
    if ('result' in ending) {
      for (const [key, value] of step.rows) held.set(key, value);
      continue;
    }
    calls.allow(name, ending, ['quota-exceeded']);
    failed = { kind: step.kind, step: at };
    // The rows of before, through this handle and through another one.
    await compare(`after ${name}`, calls);
    await calls.ended('close', () => db.close());
    db = await open(NAME);
    await compare(`opened again after ${name}`, calls);
    break;
  }
  if (failed === undefined) await compare('at the end', calls);
  const { usage = 0 } = await navigator.storage.estimate();
  return { problems: calls.problems, failed, root: db.root, usage };
}
