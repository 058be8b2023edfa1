/**
 * Random histories of branches, merges, resets and reopenings with other definitions, against a model: every branch
 * has the indexes and sum trees of its handle's definitions, refuses rows that break their rules, and has the root of
 * a fresh store with its rows.
 */
import { expect, it } from 'vitest';
import type { SumDefinitions } from '../../src/core/sum-tree-definition.js';
import { memory, open, type Store } from '../../src/index.js';
import {
  areBroken,
  areSame,
  check,
  type Definitions,
  KEYS,
  merged,
  openedWith,
  type Rows,
  someDefinitions,
  someRow,
} from '../support/models/definitions-model.js';
import { failure } from '../support/models/store-model.js';
import { type BeginStep, forSeeds, hasAllSeeds } from '../support/property.js';
import type { Random } from '../support/random.js';
import { until } from '../support/watching.js';

const SEEDS = 60;
const STEPS = 16;
const NAMES = ['main', 'one', 'two'];
/** The steps of a history that come before its change. */
const KINDS = ['fork', 'merge', 'keep', 'reset', 'reset', 'reopen', 'collect'];

interface Branch {
  rows: Rows;
  /** The rules of its commit, also for handles without definitions; `unknown` while rows break them. */
  rules: SumDefinitions | 'unknown';
  /** The rows that the branch shares with the branch that it was forked from. */
  base: Rows;
  parent: string;
}

/** Changes rows, and returns a function that changes a handle in the same way. */
function someChange(from: Random, rows: Rows): (db: Store) => Promise<unknown> {
  const [key, row] = [from.pick(KEYS), someRow(from)];
  switch (from.below(8)) {
    case 0:
      rows.delete(key);
      return (db) => db.delete(key);
    case 1: {
      const many = KEYS.filter(() => from.next() < 0.6).map((one) => [one, someRow(from)] as const);
      for (const [one, value] of many) rows.set(one, value);
      return (db) => db.putMany(many);
    }
    case 2: {
      const prefix = from.pick(['s/', 't/']);
      for (const one of KEYS) if (one.startsWith(prefix)) rows.delete(one);
      return (db) => db.deleteMany({ prefix });
    }
    case 3:
      if (from.next() < 0.8) break;
      rows.clear();
      return (db) => db.clear();
    case 4: {
      const other = from.pick(KEYS);
      rows.set(key, row);
      if (other !== key) rows.delete(other);
      return (db) =>
        db.transaction(async (tx) => {
          tx.put(key, row);
          if (other !== key) tx.delete(other);
        });
    }
    case 5: {
      const merge = { n: from.below(50) };
      rows.set(key, { ...(rows.get(key) as object | undefined), ...merge });
      return (db) => db.applyPatch([{ op: 'update', key, merge }]);
    }
  }
  rows.set(key, row);
  return (db) => db.put(key, row);
}

const tally = { writes: 0, refused: 0, broken: 0, merges: 0, resets: 0, reopened: 0, roots: 0 };

async function history(from: Random, seed: number, begin: BeginStep): Promise<void> {
  const storage = memory();
  const branches = new Map<string, Branch>();
  const none = { rows: new Map(), rules: {}, base: new Map(), parent: '' };
  branches.set('main', { ...none });
  /** Commits that branches keep and no handle opens. */
  const kept: { name: string; rows: Rows; rules: SumDefinitions | 'unknown' }[] = [];
  let definitions: Definitions = someDefinitions(from, false);
  let first = await open(`d${seed}`, { storage, ...openedWith(definitions) });
  const handles = new Map<string, Store>([['main', first]]);

  const of = (name: string) => branches.get(name) as Branch;
  /** Returns the rules that a write to a branch must obey. */
  const rulesOf = (name: string) => definitions.sums ?? (of(name).rules as SumDefinitions);
  const note = (name: string, rows: Rows) => {
    const branch = of(name);
    if (rows.size === 0) branch.rules = {};
    else if (definitions.sums !== undefined) branch.rules = definitions.sums;
    branch.rows = rows;
  };
  const checked = async (name: string) => {
    const db = handles.get(name) as Store;
    const { rows } = of(name);
    await check(db, rows, definitions, true);
    // The branch has the wanted definitions now.
    if (definitions.sums === undefined) return;
    const isBroken = areBroken(rows, definitions.sums);
    if (isBroken) tally.broken += 1;
    else if (definitions.indexes !== undefined) tally.roots += 1;
    of(name).rules = isBroken ? 'unknown' : rows.size === 0 ? {} : definitions.sums;
  };
  /** Makes a change that leads to `rows`, or expects its refusal. */
  const change = async (name: string, rows: Rows, run: (db: Store) => Promise<unknown>) => {
    const db = handles.get(name) as Store;
    const before = of(name).rows;
    const isRefused = !areSame(rows, before) && areBroken(rows, rulesOf(name));
    tally.writes += 1;
    if (!isRefused) {
      await run(db);
      if (!areSame(rows, before)) note(name, rows);
      return true;
    }
    tally.refused += 1;
    const { root } = db;
    await expect(run(db)).rejects.toEqual(failure('invalid-argument/value'));
    expect(new Map(await db.scan().toArray())).toEqual(before);
    expect(typeof root).toBe('string');
    return false;
  };

  for (let step = 0; step < STEPS; step++) {
    const name = from.pick([...branches.keys()]);
    if (!handles.has(name)) handles.set(name, await first.branches.open(name));
    const db = handles.get(name) as Store;
    const { rows } = of(name);
    const kind = from.below(9);
    begin({ branch: name, kind: KINDS[kind] ?? 'change', rows });
    switch (kind) {
      case 0: {
        const child = NAMES.find((one) => !branches.has(one));
        if (child === undefined) break;
        await checked(name);
        await (await db.branches.open(child)).close();
        const { rules } = of(name);
        branches.set(child, { rows: new Map(rows), rules, base: new Map(rows), parent: name });
        break;
      }
      case 1: {
        const children = [...branches].filter(([, { parent }]) => parent === name);
        const [child] = from.shuffle(children);
        if (child === undefined) break;
        const [childName, { base, rows: theirs }] = child;
        const isOurs = from.next() < 0.5;
        const decide = (_: string, own: unknown, other: unknown) => (isOurs ? own : other);
        const result = merged(base, rows, theirs, decide);
        const onConflict = ({ ours, theirs: other }: { ours: unknown; theirs: unknown }) =>
          isOurs ? ours : other;
        tally.merges += 1;
        if (await change(name, result, (one) => one.branches.merge(childName, { onConflict }))) {
          of(childName).base = new Map(theirs);
        }
        break;
      }
      case 2: {
        await checked(name);
        const keep = `kept ${step}`;
        await (await db.branches.open(keep)).close();
        kept.push({ name: keep, rows: new Map(rows), rules: of(name).rules });
        break;
      }
      case 3:
      case 4: {
        if (kept.length === 0) break;
        const target = from.pick(kept);
        tally.resets += 1;
        const root = (await first.branches.list()).find((one) => one.name === target.name)?.root;
        const call = () => db.branches.reset(from.next() < 0.5 ? target.name : (root as string));
        if (areBroken(target.rows, definitions.sums)) {
          await expect(call()).rejects.toEqual(failure('invalid-argument/value'));
          break;
        }
        await call();
        if (definitions.sums === undefined) of(name).rules = target.rules;
        note(name, new Map(target.rows));
        // The trees of the definitions exist at once.
        if (definitions.sums !== undefined) {
          for (const sum of Object.keys(definitions.sums))
            expect(db.sumTree(sum).root).toBeDefined();
        }
        break;
      }
      case 5: {
        for (const open of handles.keys()) await checked(open);
        for (const one of handles.values()) await one.close();
        handles.clear();
        const all = [...branches.values(), ...kept];
        definitions = someDefinitions(
          from,
          all.every(({ rules }) => rules !== 'unknown'),
        );
        first = await open(`d${seed}`, { storage, ...openedWith(definitions) });
        handles.set('main', first);
        tally.reopened += 1;
        break;
      }
      case 6:
        await first.health.compact();
        break;
    }
    if (!handles.has(name)) handles.set(name, await first.branches.open(name));
    const next = new Map(of(name).rows);
    const run = someChange(from, next);
    await change(name, next, run);
    if (from.next() < 0.5) await checked(name);
  }
  for (const name of branches.keys()) {
    if (!handles.has(name)) handles.set(name, await first.branches.open(name));
    await checked(name);
  }
  await first.close();
}

it('every branch has its definitions, in random histories', async () => {
  await forSeeds(SEEDS, history);
  console.info(Object.entries(tally).flat().join(' '));
  if (hasAllSeeds(SEEDS)) {
    expect(Math.min(...Object.values(tally))).toBeGreaterThan(SEEDS / 4);
  }
});

async function versions(from: Random, seed: number, begin: BeginStep): Promise<void> {
  const storage = { ...memory(), isShared: true };
  const name = `versions ${seed}`;
  /** The rules of all tabs so far: the rules of a closed tab hold until its trees are dropped. */
  const seen: Definitions['sums'][] = [];
  const opened = async () => {
    const definitions = someDefinitions(from, false);
    seen.push(definitions.sums);
    return { definitions, db: await open(name, { storage, ...openedWith(definitions) }) };
  };
  const tabs = [await opened(), await opened()];
  let rows: Rows = new Map();
  const kept: { snapshot: ReturnType<Store['snapshot']>; rows: Rows }[] = [];
  for (let step = 0; step < STEPS; step++) {
    const at = from.below(tabs.length);
    const { db, definitions } = tabs[at] as (typeof tabs)[number];
    let next: Rows = new Map(rows);
    let run: () => Promise<unknown>;
    const kind = from.below(6);
    const isReset = kind === 0 && kept.length > 0;
    begin({ tab: at, kind: isReset ? 'reset' : 'change', definitions, rows });
    if (isReset) {
      const target = from.pick(kept);
      next = target.rows;
      run = () => db.branches.reset(target.snapshot.root);
    } else {
      const change = someChange(from, next);
      run = () => change(db);
    }
    const isChange = isReset || !areSame(rows, next);
    if (isChange && areBroken(next, definitions.sums)) {
      await expect(run()).rejects.toEqual(failure('invalid-argument/value'));
      other.refused += 1;
    } else if (isChange && !isReset && seen.some((sums) => areBroken(next, sums))) {
      // The rules of another tab hold as long as its trees exist.
      const error = await run().then(
        () => undefined,
        (cause: unknown) => cause,
      );
      if (error === undefined) rows = next;
      else expect(error).toEqual(failure('invalid-argument/value'));
      other.either += 1;
    } else {
      await run();
      rows = next;
    }
    other.steps += 1;
    await until(() => tabs.every((tab) => tab.db.root === db.root));
    for (const tab of from.shuffle(tabs)) await check(tab.db, rows, tab.definitions, false);
    if (kind === 1) kept.push({ snapshot: db.snapshot(), rows: new Map(rows) });
    if (kind === 2) {
      // A tab loads again, with another version of the app.
      for (const one of kept.splice(0)) one.snapshot.close();
      await db.close();
      tabs[at] = await opened();
    }
    if (kind === 3) await tabs[0]?.db.health.compact();
  }
  for (const { db } of tabs) await db.close();
}

const other = { steps: 0, refused: 0, either: 0 };

it('two tabs with different definitions each read their own, in random histories', async () => {
  await forSeeds(SEEDS, versions);
  console.info(Object.entries(other).flat().join(' '));
  if (hasAllSeeds(SEEDS)) {
    expect(Math.min(...Object.values(other))).toBeGreaterThan(SEEDS / 4);
  }
});
