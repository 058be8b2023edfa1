/** `applyPatch`: sources of operations, their effects, and refused operations. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { memory, open, type Patch, type PatchOperation } from '../../../src/index.js';
import {
  all,
  type Entry,
  expectSame,
  failure,
  refuses,
  sorted,
  storeOf,
} from '../../support/models/store-model.js';
import { forSeeds } from '../../support/property.js';
import { type Random, random } from '../../support/random.js';

interface Case {
  readonly name: string;
  readonly initial: Entry[];
  readonly patch: PatchOperation[];
  readonly expected: Entry[];
  readonly error?: boolean;
}

const VECTORS = new URL('../../../../../vectors/patch/apply.json', import.meta.url);
const { apply } = JSON.parse(readFileSync(VECTORS, 'utf8')) as { apply: Case[] };

const lines = (patch: Iterable<unknown>) =>
  [...patch].map((operation) => `${JSON.stringify(operation)}\n`).join('');

async function* slowly<T>(items: Iterable<T>): AsyncGenerator<T> {
  for (const item of items) {
    await new Promise((resolve) => setTimeout(resolve, 0));
    yield item;
  }
}

function partsOf(bytes: Uint8Array, length: number): Uint8Array[] {
  const count = Math.ceil(bytes.length / length);
  return Array.from({ length: count }, (_, at) => bytes.subarray(at * length, (at + 1) * length));
}

/** The sources of a patch. */
const SOURCES: [string, (patch: PatchOperation[]) => Patch][] = [
  ['an array', (patch) => patch],
  ['a Set', (patch) => new Set(patch)],
  ['a generator', (patch) => patch.values()],
  ['an async generator', slowly],
  ['a stream of operations', (patch) => new Blob([]).stream().pipeThrough(emitting(patch))],
  ['a Response of lines', (patch) => new Response(lines(patch))],
  ['a Response of an array', (patch) => new Response(JSON.stringify(patch))],
  ['a Blob', (patch) => new Blob([lines(patch)])],
  ['bytes', (patch) => new TextEncoder().encode(JSON.stringify(patch, null, 2))],
  ['parts of bytes', (patch) => slowly(partsOf(Buffer.from(lines(patch)), 61))],
];

function emitting<T>(items: readonly T[]): TransformStream<unknown, T> {
  return new TransformStream({
    flush(controller) {
      for (const item of items) controller.enqueue(item);
    },
  });
}

describe.each(SOURCES)('from %s', (_, sourceOf) => {
  it.each(apply)('$name', async ({ initial, patch, expected, error = false }) => {
    const db = await storeOf(initial);
    if (error) {
      await refuses(db, () => db.applyPatch(sourceOf(patch)), failure('invalid-data/patch'));
      return;
    }
    const result = await db.applyPatch(sourceOf(patch));
    expect(result).toMatchObject({ root: db.root, rows: patch.length });
    expectSame(await all(db), sorted(expected));
    expect(db.root).toBe((await storeOf(expected)).root);
  });
});

const NAMES = ['a', 'b', '10', '9', '09', '4294967295', '4294967294', '-1', '__proto__', ''];
const STRANGE = ['constructor', 'toString', 'é', '😀', '\u{ff5e}', '"\\/\n\u0007', '\ud800', 'b c'];

/** Makes a random object as `JSON.parse` might return it, with members in any order. */
function objectOf({ below, pick, value }: Random): Record<string, unknown> {
  const members = Array.from({ length: below(6) }, () => {
    const name = pick([...NAMES, ...STRANGE]);
    return `${JSON.stringify(name)}:${JSON.stringify(value(2))}`;
  });
  return JSON.parse(`{${members.join(',')}}`);
}

/** The rules of a patch, written in JavaScript. */
function applyTo(rows: Map<string, unknown>, operation: PatchOperation): void {
  if (operation.op === 'put') rows.set(operation.key, operation.value);
  else if (operation.op === 'delete') rows.delete(operation.key);
  else if (operation.op === 'clear') rows.clear();
  else if (operation.op === 'update' && !('newValue' in operation)) {
    const { key, merge, unset = [], constrain = [] } = operation;
    const existing = (rows.get(key) ?? {}) as object;
    const isKept = ([name]: [string, unknown]) =>
      !unset.includes(name) && (constrain.length === 0 || constrain.includes(name));
    const members = Object.entries({ ...existing, ...merge }).filter(isKept);
    rows.set(key, Object.fromEntries(members));
  }
}

it('merges objects like JavaScript, including the order of members', async () => {
  await forSeeds(60, async (chance, _, begin) => {
    const { below, next, pick } = chance;
    const key = () => pick(['a', 'b', 'c', '\u{ff5e}', '😀', 'k/1', 'k/2', 'k/3']);
    const operation = (): PatchOperation => {
      const kind = next();
      if (kind < 0.3) return { op: 'put', key: key(), value: objectOf(chance) };
      if (kind < 0.4) return { op: 'delete', key: key() };
      if (kind < 0.43) return { op: 'clear' };
      const names = () => Array.from({ length: below(9) }, () => pick([...NAMES, ...STRANGE]));
      const merge = next() < 0.8 ? { merge: objectOf(chance) } : {};
      const unset = next() < 0.4 ? { unset: names() } : {};
      const constrain = next() < 0.4 ? { constrain: names() } : {};
      return { op: 'update', key: key(), ...merge, ...unset, ...constrain };
    };
    const rows = new Map<string, unknown>();
    const db = await storeOf();
    for (let round = 0; round < 6; round++) {
      const patch = Array.from({ length: below(60) }, operation);
      for (const one of patch) applyTo(rows, one);
      const [source, sourceOf] = pick(SOURCES);
      begin({ source, patch });
      await db.applyPatch(sourceOf(patch));
      const expected = sorted(rows);
      // As texts: the order of members counts.
      expectSame(JSON.stringify(await all(db)), JSON.stringify(expected), 'rows');
      expect(db.root, 'the root of a fresh store').toBe((await storeOf(expected)).root);
    }
  });
});

describe('a refused operation is reported with its position', () => {
  const good: PatchOperation = { op: 'put', key: 'new', value: 1 };
  const last: PatchOperation = { op: 'put', key: 'last', value: 1 };
  const around = (bad: unknown) => [good, good, bad, last] as PatchOperation[];
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  const bads: [string, unknown][] = [
    ['no object', 5],
    ['null', null],
    ['nothing', undefined],
    ['an array', ['put', 'a', 1]],
    ['another op', { op: 'move', key: 'a' }],
    ['no op', { key: 'a', value: 1 }],
    ['put without key', { op: 'put', value: 1 }],
    ['put without value', { op: 'put', key: 'a' }],
    ['del without key', { op: 'delete' }],
    ['a number for a key', { op: 'delete', key: 5 }],
    ['half a pair in the key', { op: 'delete', key: '\ud800' }],
    ['a long key', { op: 'delete', key: 'k'.repeat(1025) }],
    ['a list to merge', { op: 'update', key: 'a', merge: [] }],
    ['null to merge', { op: 'update', key: 'a', merge: null }],
    ['a text to constrain', { op: 'update', key: 'a', constrain: 'a' }],
    ['numbers to constrain', { op: 'update', key: 'a', constrain: [1] }],
    ['a text to unset', { op: 'update', key: 'a', unset: 'a' }],
    ['null to unset', { op: 'update', key: 'a', unset: [null] }],
    ['an update of a text', { op: 'update', key: 'text', merge: { a: 1 } }],
    ['an update of bytes', { op: 'update', key: 'bytes' }],
    ['an update of what was put', { op: 'update', key: 'new', merge: {} }],
  ];
  const beyondJson: [string, unknown][] = [
    ['a function', { op: 'put', key: 'a', value: () => 1 }],
    ['not a number', { op: 'put', key: 'a', value: Number.NaN }],
    ['a Map', { op: 'put', key: 'a', value: new Map() }],
    ['a Map to merge', { op: 'update', key: 'a', merge: new Map() }],
    ['bytes to merge', { op: 'update', key: 'a', merge: Uint8Array.of(1) }],
    ['a bigint', { op: 'put', key: 'a', value: 1n }],
    ['a cycle', { op: 'put', key: 'a', value: cyclic }],
    ['a cycle to constrain', { op: 'update', key: 'a', constrain: [cyclic] }],
  ];
  const scene = () =>
    storeOf([
      ['text', 'a'],
      ['bytes', Uint8Array.of(1)],
    ]);

  it.each([...bads, ...beyondJson])('%s', async (_, bad) => {
    const db = await scene();
    const cause = expect.objectContaining({ name: 'HedgerowError' });
    const error = failure('invalid-data/patch', { row: 2, cause });
    await refuses(db, () => db.applyPatch(around(bad)), error);
    await refuses(db, () => db.applyPatch(slowly(around(bad))), error);
  });

  it.each(bads.filter(([, bad]) => bad !== undefined))('%s, as bytes', async (_, bad) => {
    const db = await scene();
    const text = lines(around(bad));
    const start = lines([good, good]).length;
    const isThere = (offset: number) => offset >= start && offset < start + lines([bad]).length;
    const error = failure('invalid-data/patch', {
      row: 2,
      offset: expect.toSatisfy(isThere) as unknown as number,
    });
    await refuses(db, () => db.applyPatch(new Response(text)), error);
    await refuses(db, () => db.applyPatch(new Blob([text]), { format: 'ndjson' }), error);
  });

  it('malformed patches', async () => {
    const db = await scene();
    for (const bad of [5, null, undefined, {}]) {
      const patch = bad as unknown as Patch;
      await refuses(db, () => db.applyPatch(patch), failure('invalid-argument'));
    }
    const format = 'xml' as 'json';
    const bytes = () => db.applyPatch(new Blob(['']), { format });
    await refuses(db, bytes, failure('invalid-argument'));
    const rows = () => db.applyPatch([{ op: 'clear' }], { format: 'json' });
    await refuses(db, rows, failure('invalid-argument'));
    await refuses(
      db,
      () => db.applyPatch(new Response('[{"op":"clear"}')),
      failure('invalid-data/patch', { row: 1, offset: 15 }),
    );
  });
});

it('values are stored unchanged', async () => {
  const db = await storeOf([['old', 1]]);
  const big = 'x'.repeat(300_000);
  const reused = Uint8Array.of(1, 2, 3);
  const patch = function* (): Generator<PatchOperation> {
    yield { op: 'put', key: 'bytes', value: reused };
    reused.fill(0);
    yield { op: 'delete', key: 'old', value: new Map() } as PatchOperation;
    yield { op: 'put', key: 'big', value: { big } };
    yield { op: 'put', key: 'empty', value: new Uint8Array() };
    yield { op: 'put', key: 'null', value: null };
    yield { op: 'put', key: 'date', value: new Date(0) };
    yield { op: 'update', key: 'big', merge: { at: new Date(0), none: undefined } };
    yield { op: 'update', key: 'bare', merge: undefined, constrain: undefined };
  };
  await db.applyPatch(patch());
  const date = '1970-01-01T00:00:00.000Z';
  const expected: Entry[] = [
    ['bare', {}],
    ['big', { big, at: date }],
    ['bytes', Uint8Array.of(1, 2, 3)],
    ['date', date],
    ['empty', new Uint8Array()],
    ['null', null],
  ];
  expectSame(await all(db), expected);
  // A value out of line is read back for an update of another commit.
  await db.applyPatch([{ op: 'update', key: 'big', merge: { at: 1 }, constrain: ['at', 'big'] }]);
  expectSame(await db.get('big'), { big, at: 1 });
});

it('a patch of many operations is one commit, in any order', async () => {
  const rows = Array.from({ length: 20_000 }, (_, at): Entry => [`k${1e6 + at}`, { at, n: 0 }]);
  const patch = rows.flatMap(([key], at): PatchOperation[] => {
    if (at % 10 === 0) return [{ op: 'update', key, merge: { n: at } }];
    if (at % 10 === 1) return [{ op: 'delete', key }];
    return at % 10 === 2 ? [{ op: 'put', key: `${key}+`, value: Uint8Array.of(at) }] : [];
  });
  const roots = new Set<string>();
  for (const operations of [patch, [...patch].reverse(), random(1).shuffle(patch)]) {
    const storage = memory();
    const filled = await open('test', { storage });
    await filled.putMany(rows);
    await filled.close();
    // After reopening, the patch must read the rows that it updates.
    const db = await open('test', { storage });
    const fractions: number[] = [];
    const onProgress = ({ fraction = -1 }) => fractions.push(fraction);
    await db.applyPatch(operations, { onProgress, durability: 'strict' });
    expect(fractions.at(-1)).toBe(1);
    roots.add(db.root);
    expect(await db.count()).toBe(20_000);
    expect(await db.get('k1000010')).toEqual({ at: 10, n: 10 });
  }
  expect(roots.size).toBe(1);
});

it('edits of later calls win, and writes of other handles stay', async () => {
  const storage = memory();
  const db = await open('test', { storage });
  const other = await open('test', { storage });
  await db.putMany([
    ['a', { n: 1 }],
    ['b', { n: 1 }],
  ]);
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const patch = async function* (): AsyncGenerator<PatchOperation> {
    yield { op: 'update', key: 'a', merge: { patched: true } };
    yield { op: 'update', key: 'b', merge: { patched: true } };
    await gate;
    yield { op: 'put', key: 'c', value: 1 };
  };
  const applied = db.applyPatch(patch());
  await db.put('a', { later: true });
  await other.put('d', 'theirs');
  release();
  await applied;
  await other.put('d', 'again');
  expect(await all(other)).toEqual([
    ['a', { later: true }],
    ['b', { n: 1, patched: true }],
    ['c', 1],
    ['d', 'again'],
  ]);
});

it('an abort, or a source that throws, leaves the store as it was', async () => {
  const db = await storeOf([['a', { n: 1 }]]);
  const control = new AbortController();
  const endless = async function* (): AsyncGenerator<PatchOperation> {
    yield { op: 'clear' };
    for (let at = 0; ; at++) {
      if (at === 5000) control.abort();
      yield { op: 'put', key: `k${at}`, value: at };
    }
  };
  const { signal } = control;
  await refuses(db, () => db.applyPatch(endless(), { signal }), failure('aborted'));
  await refuses(db, () => db.applyPatch([], { signal }), failure('aborted'));
  const reason = new Error('the network is gone');
  const throwing = async function* (): AsyncGenerator<PatchOperation> {
    yield { op: 'clear' };
    throw reason;
  };
  await refuses(db, () => db.applyPatch(throwing()), reason);
  const parts = async function* () {
    yield new TextEncoder().encode('{"op":"clear"}\n{"op":"put",');
    throw reason;
  };
  await refuses(db, () => db.applyPatch(parts()), reason);
});

it('an update of a row that is not an object is refused, unless a later operation overrides it', async () => {
  const db = await storeOf([['a', 5]]);
  const update: PatchOperation = { op: 'update', key: 'a', merge: { n: 1 } };
  const refused = failure('invalid-data/patch', { row: 1 });
  const other: PatchOperation = { op: 'put', key: 'b', value: 1 };
  await refuses(db, () => db.applyPatch([other, update]), refused);
  await refuses(db, () => db.applyPatch([other, update, { ...update }]), refused);
  // In that case the old row is not checked.
  for (const [last, value] of [
    [{ op: 'put', key: 'a', value: 'put' }, 'put'],
    [{ op: 'delete', key: 'a' }, undefined],
    [{ op: 'clear' }, undefined],
  ] as [PatchOperation, unknown][]) {
    await db.put('a', 5);
    await db.applyPatch([update, last]);
    expect(await db.get('a')).toBe(value);
  }
  await db.put('a', 5);
  await db.applyPatch([{ op: 'clear' }, update]);
  expect(await db.get('a')).toEqual({ n: 1 });
});
