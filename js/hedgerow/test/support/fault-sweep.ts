/**
 * Runs a workload on storage with faults: one call fails, or all calls from one on until the storage heals. After each
 * change the stored rows must be the rows before it or after it.
 */
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import { HedgerowError, memory, type OpenOptions, open, type Store } from '../../src/index.js';
import { type Fault, faulty } from './doubles/faulty-storage.js';
import type { Operation } from './fault-workloads.js';
import { all, type Entry, expectSame, sorted, within } from './models/store-model.js';
import { below, forSampled } from './property.js';

/** The error of the failing call. */
export const error = new HedgerowError('unavailable/disconnected', 'for a test');

/** The ways in which a call can fail. */
export const WAYS = (['before', 'after'] as const).flatMap((when) =>
  [false, true].map((lasting) => ({ when, lasting })),
);

/** A run that is not deep takes one fault in so many. */
const SHARE = 16;

/** Declares the test of a workload: each of its storage calls fails in turn, in each way. */
export function itIsWhole(
  title: string,
  operations: readonly Operation[],
  options: OpenOptions = {},
  holds?: (db: Store) => Promise<Entry[]>,
): void {
  it(`with ${title}, each change is complete or absent after any failing storage call`, async () => {
    const calls = await sweep(operations, { at: 0, when: 'before' }, options, holds);
    expect(calls).toBeGreaterThan(5);
    const faults = WAYS.flatMap((way) => below(calls).map((call) => ({ at: 1 + call, ...way })));
    await forSampled(
      faults,
      async (fault) => {
        await sweep(operations, fault, options, holds);
      },
      SHARE,
    );
  });
}

/**
 * Runs a workload; returns the number of storage calls that it made. A change may fail once, with the fault's error.
 * Its repetition must succeed, though a lost answer may first look like a conflict. While a fault lasts every change
 * fails. `inner` is new.
 */
export async function sweep(
  operations: readonly Operation[],
  fault: Omit<Fault, 'error'>,
  options: OpenOptions = {},
  /** Returns the rows of a store, as the model has them. */
  holds: (db: Store) => Promise<Entry[]> = all,
): Promise<number> {
  const inner = options.storage ?? memory();
  const { encryption } = options;
  const storage = faulty(inner, { ...fault, error });
  const model = new Map<string, unknown>();
  let failures = 0;
  /** Resolves to the expected error, or to `undefined`. */
  const settle = async (call: Promise<unknown>): Promise<unknown> => {
    const caught = await within(
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
    const fresh = await open('test', { storage: inner, encryption });
    const entries = await holds(fresh);
    await fresh.close();
    return entries;
  };
  /** Makes changes that must all fail while a fault lasts, and then ends the fault. */
  const outlast = async (db: Store | undefined) => {
    if (fault.lasting !== true) return;
    if (db !== undefined && fault.when === 'before') {
      const { root } = db;
      const calls = [db.put('never', 1), db.putMany([['never', 2]]), db.deleteMany({ gte: '' })];
      for (const result of await within(Promise.allSettled(calls))) {
        // An empty store, too, must look for rows to delete.
        expect(result).toEqual({ status: 'rejected', reason: error });
      }
      expect(db.root).toBe(root);
    }
    storage.heal();
  };

  /** A lost answer may first look like a conflict. */
  const again = (call: () => Promise<unknown>) =>
    call().catch((cause: unknown) => {
      if ((cause as HedgerowError).code !== 'conflict') throw cause;
      return call();
    });
  const insist = async (call: () => Promise<unknown>) => {
    if ((await settle(call())) === undefined) return;
    storage.heal();
    await again(call);
  };

  let opening = open('test', { ...options, storage });
  if ((await settle(opening)) !== undefined) {
    await outlast(undefined);
    opening = open('test', { ...options, storage });
    await settle(opening);
  }
  const db: Store = await opening;
  const other = await open('test', { ...options, storage: inner });
  const scene = { db, other, storage };
  for (const { title, run, model: change, between = [] } of operations) {
    const states: Entry[][] = [sorted(model)];
    const partly = new Map(model);
    for (const step of between) {
      step(partly);
      states.push(sorted(partly));
    }
    change(model);
    const after = sorted(model);
    const caught = await settle(run(scene));
    const found = await stored();
    if (caught === undefined) expectSame(found, after, title);
    else {
      const allowed = [...states, after].find((state) => isDeepStrictEqual(found, state));
      expectSame(found, allowed ?? states[0], `${title}, failed`);
      await outlast(db);
      expectSame(await stored(), found, `${title}, after a while`);
      await db.scan().toArray();
      await again(() => run(scene));
      expectSame(await stored(), after, `${title}, again`);
    }
    // This handle may be behind: it sees other handles' commits only when it writes.
    model.set('look', title);
    await insist(() => db.put('look', title));
    await insist(async () => expectSame(await holds(db), sorted(model), title));
  }
  await settle(db.close());
  expectSame(await stored(), sorted(model));
  return storage.calls();
}
