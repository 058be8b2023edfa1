/**
 * Runs a workload on storage of which one call fails, and looks after each change whether
 * what is stored is what was before it or what is after it.
 */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { HedgerowError, memory, open, type Store } from '../src/index.js';
import { type Fault, faulty } from '../src/segment-stores/faulty.js';
import { all, type Entry, expectSame, sorted, within } from './model.js';
import { random } from './random.js';

/** What the call that fails rejects with. */
export const error = new HedgerowError('disconnected', 'for a test');

/** A change of the store, and what it makes of its rows. */
export interface Operation {
  readonly title: string;
  run(db: Store): Promise<unknown>;
  model(rows: Map<string, unknown>): void;
}

function load(title: string, rows: readonly Entry[]): Operation {
  return {
    title,
    run: (db) => db.putMany(rows),
    model: (model) => {
      for (const [key, value] of rows) model.set(key, value);
    },
  };
}

function edits(title: string, puts: readonly Entry[], deletes: readonly string[]): Operation {
  return {
    title,
    run: (db) =>
      Promise.all([
        ...puts.map(([key, value]) => db.put(key, value)),
        ...deletes.map((key) => db.delete(key)),
      ]),
    model: (model) => {
      for (const [key, value] of puts) model.set(key, value);
      for (const key of deletes) model.delete(key);
    },
  };
}

export function rows(name: string, count: number, bytes: number): Entry[] {
  const from = random(count);
  return Array.from(
    { length: count },
    (_, at): Entry => [
      `${name}${String(at).padStart(5, '0')}`,
      bytes === 0 ? { at, name } : from.bytes(bytes),
    ],
  );
}

export const WORKLOADS: Record<string, Operation[]> = {
  'small changes': [
    load('load', rows('a', 200, 0)),
    edits('put', [['b', 1]], []),
    edits(
      'edits',
      [
        ['c', Uint8Array.of(1)],
        ['a00001', 'new'],
      ],
      ['a00002', 'b'],
    ),
    load('load again', rows('a', 100, 3)),
  ],
  // So much that segments are written before the last transaction.
  'a large load': [load('load', rows('a', 45, 40_000)), edits('put', [['a00005', 1]], ['a00006'])],
  'a large load among others': [
    load('load', rows('a', 30, 0)),
    load('load among them', [...rows('a', 10, 7), ...rows('b', 115, 40_000)]),
  ],
};

/**
 * Runs a workload; returns the number of storage calls that it made. A change may fail once,
 * with the fault's error; made again it must succeed, though a lost answer may first show
 * as the conflict that it looks like.
 */
export async function sweep(
  operations: readonly Operation[],
  fault: Omit<Fault, 'error'>,
): Promise<number> {
  const inner = memory();
  const storage = faulty(inner, { ...fault, error });
  const model = new Map<string, unknown>();
  let failures = 0;
  /** Resolves to the error, when it is the one expected. */
  const settle = async (call: Promise<unknown>): Promise<unknown> => {
    const caught = await within(
      20_000,
      call.then(
        () => undefined,
        (cause: unknown) => cause,
      ),
    );
    if (caught !== undefined && caught !== error) throw caught;
    if (caught === error) expect(++failures).toBe(1);
    return caught;
  };
  const stored = async () => {
    const fresh = await open('test', { storage: inner });
    const entries = await all(fresh);
    await fresh.close();
    return entries;
  };

  let opening = open('test', { storage });
  if ((await settle(opening)) !== undefined) {
    opening = open('test', { storage });
    await settle(opening);
  }
  const db: Store = await opening;
  for (const { title, run, model: change } of operations) {
    const before = sorted(model);
    change(model);
    const after = sorted(model);
    const caught = await settle(run(db));
    const found = await stored();
    if (caught === undefined) expectSame(found, after, title);
    else {
      expectSame(found, isDeepStrictEqual(found, after) ? after : before, `${title}, failed`);
      await db.scan().toArray();
      const again = run(db).catch((cause: unknown) => {
        if ((cause as HedgerowError).code !== 'conflict') throw cause;
        return run(db);
      });
      await settle(again);
      expectSame(await stored(), after, `${title}, again`);
    }
    const read = all(db);
    expectSame((await settle(read)) === undefined ? await read : await all(db), after, title);
  }
  await settle(db.close());
  expectSame(await stored(), sorted(model));
  return storage.calls();
}
