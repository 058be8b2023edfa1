/** The output of `diff`, `changes` and `watch` is a patch that leads from the old state to the new one. */
import { describe, expect, it } from 'vitest';
import {
  type Change,
  memory,
  open,
  type Patch,
  type PatchOperation,
  type Store,
} from '../../../src/index.js';
import {
  all,
  type Entry,
  expectSame,
  failure,
  refuses,
  storeOf,
} from '../../support/models/store-model.js';
import { forSeeds } from '../../support/property.js';
import type { Random } from '../../support/random.js';
import { until } from '../../support/watching.js';

const lines = (patch: Iterable<unknown>) =>
  [...patch].map((operation) => `${JSON.stringify(operation)}\n`).join('');

/** Makes a stream of the bytes of a text, in parts of any length. */
function streamOf(text: string, from: Random): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      const end = Math.min(bytes.length, at + 1 + from.below(200));
      if (end > at) controller.enqueue(bytes.slice(at, end));
      else controller.close();
      at = end;
    },
  });
}

/** Copies `rows`, with some deleted, some changed and some added. */
function changed(rows: ReadonlyMap<string, unknown>, from: Random): Map<string, unknown> {
  const result = new Map(rows);
  for (const key of rows.keys()) {
    const kind = from.below(6);
    if (kind === 0) result.delete(key);
    else if (kind === 1) result.set(key, from.value(3));
  }
  for (let count = from.below(20); count > 0; count--) {
    result.set(`${from.pick(['a', 'k/', '\u{ff5e}', '😀'])}${from.below(60)}`, from.value(3));
  }
  return result;
}

const ways: [string, (changes: Change[], db: Store, from: Random) => Promise<unknown>][] = [
  ['as it is', (changes, db) => db.applyPatch(changes)],
  [
    'as it comes',
    async (changes, db) => {
      const slowly = async function* () {
        for (const change of changes) yield change;
      };
      await db.applyPatch(slowly());
    },
  ],
  ['by way of JSON', (changes, db) => db.applyPatch(JSON.parse(JSON.stringify(changes)))],
  ['as a text of lines', (changes, db) => db.applyPatch(new Response(lines(changes)))],
  ['as a text of an array', (changes, db) => db.applyPatch(new Blob([JSON.stringify(changes)]))],
  ['as a stream', (changes, db, from) => db.applyPatch(streamOf(lines(changes), from))],
];

it.each(ways)('a diff, %s, leads from one state to the other', async (_, apply) => {
  await forSeeds(25, async (from) => {
    const before = changed(new Map(), from);
    const after = changed(before, from);
    const db = await storeOf([...before]);
    const a = db.snapshot();
    await db.clear();
    await db.putMany([...after]);
    const b = db.snapshot();
    const changes = await db.history.diff(a.root, b.root).toArray();
    const other = await storeOf([...before]);
    expect(other.root).toBe(a.root);
    await apply(changes, other, from);
    expect(other.root).toBe(b.root);
    // The way back works, too.
    await apply(await db.history.diff(b.root, a.root).toArray(), other, from);
    expect(other.root).toBe(a.root);
  });
});

it('bytes and large values stay unchanged', async () => {
  const big = 'x'.repeat(300_000);
  const rows: Entry[] = [
    ['big', { big }],
    ['bytes', Uint8Array.of(1, 2, 3)],
    ['none', new Uint8Array()],
  ];
  const db = await storeOf([['bytes', 'text']]);
  const before = db.root;
  await db.putMany(rows);
  const other = await storeOf([['bytes', 'text']]);
  await other.applyPatch(await db.history.since(before).toArray());
  expectSame(await all(other), rows);
  expect(other.root).toBe(db.root);
});

it('a store that applies the changes of a watch follows the watched store', async () => {
  const db = await storeOf();
  const copy = await storeOf();
  db.watch({}, async (changes) => copy.applyPatch(changes), { initial: true });
  await db.putMany([
    ['a', 1],
    ['b', { n: 2 }],
  ]);
  await db.put('a', 3);
  await db.delete('b');
  await until(() => copy.root === db.root);
  await db.close();
});

describe('changes among operations', () => {
  it('take effect in their order', async () => {
    const db = await storeOf([['old', 1]]);
    await db.applyPatch([
      { op: 'clear' },
      { op: 'insert', key: 'a', newValue: { n: 1 } },
      { op: 'update', key: 'a', merge: { m: 2 } },
      { op: 'put', key: 'b', value: 1 },
      { op: 'update', key: 'b', newValue: 2 },
      { op: 'insert', key: 'c', newValue: 1 },
      { op: 'delete', key: 'c' },
      { op: 'insert', key: 'd', newValue: 1 },
      { op: 'update', key: 'd', newValue: null },
    ]);
    expect(await all(db)).toEqual([
      ['a', { n: 1, m: 2 }],
      ['b', 2],
      ['d', null],
    ]);
  });

  it('may have members of other operations, which are ignored', async () => {
    const db = await storeOf([['c', 1]]);
    const patch = [
      { op: 'insert', key: 'a', newValue: 1, value: new Map() },
      { op: 'put', key: 'b', value: 2, newValue: () => 1, secondary: 's' },
      // A Replicache back end may send any other members.
      { op: 'delete', key: 'c', secondary: 's' },
      { op: 'clear', newValue: 1n, oldValue: 1n },
    ] as unknown[] as PatchOperation[];
    await db.applyPatch(patch.slice(0, 3));
    expect(await all(db)).toEqual([
      ['a', 1],
      ['b', 2],
    ]);
    await db.applyPatch(patch.slice(3));
    expect(await db.count()).toBe(0);
  });

  const bads: [string, unknown, RegExp][] = [
    ['an add with the member of a put', { op: 'insert', key: 'a', value: 1 }, /newValue/],
    ['a change without a value', { op: 'update', key: 'a', oldValue: 1 }, /newValue/],
    ['a put with the member of an add', { op: 'put', key: 'a', newValue: 1 }, /`value`/],
    ['a change without a key', { op: 'update', newValue: 1 }, /key/],
    ['a number for a key', { op: 'insert', key: 5, newValue: 1 }, /key/],
    ['another word', { op: 'set', key: 'a', newValue: 1 }, /insert, update/],
    ['an entry that came', { op: 'insert', key: 'a', newValue: 1, secondary: 1 }, /secondary/],
    [
      'an entry that went',
      { op: 'delete', key: 'a', oldValue: 1, secondary: ['x', 1] },
      /secondary/,
    ],
    ['a list to merge', { op: 'update', key: 'a', merge: [] }, /merge/],
    ['a text to constrain', { op: 'update', key: 'a', constrain: 'a' }, /constrain/],
  ];

  it.each(bads)('%s is refused, by the name of the member', async (_, bad, member) => {
    const db = await storeOf([['a', {}]]);
    const good: PatchOperation = { op: 'insert', key: 'new', newValue: 1 };
    const patch = [good, bad] as PatchOperation[];
    const sources: (() => Patch)[] = [() => patch, () => new Response(lines(patch))];
    for (const source of sources) {
      await refuses(db, () => db.applyPatch(source()), failure('invalid-data/patch', { row: 1 }));
      await expect(db.applyPatch(source())).rejects.toThrow(member);
    }
  });

  it('a value that JSON cannot hold is refused with its place', async () => {
    const db = await storeOf();
    const patch = [{ op: 'insert', key: 'a', newValue: { at: [new Map()] } }] as PatchOperation[];
    const error = failure('invalid-data/patch', { row: 0, pointer: '/newValue/at/0' });
    await refuses(db, () => db.applyPatch(patch), error);
  });

  it('changes of a watched index are refused', async () => {
    const indexes = { n: { path: '/n' } };
    const db = await open('watched', { storage: memory(), indexes });
    const reportedChanges: Change[] = [];
    db.watch({ index: 'n' }, (changes) => void reportedChanges.push(...changes), { initial: true });
    await db.put('a', { n: 1 });
    await until(() => reportedChanges.length > 0);
    await db.put('a', { n: 2 });
    await until(() => reportedChanges.some(({ op }) => op === 'delete'));
    const copy = await storeOf([['a', { n: 1 }]]);
    await refuses(
      copy,
      () => copy.applyPatch(reportedChanges),
      failure('invalid-data/patch', { row: 0 }),
    );
    await db.close();
  });
});
