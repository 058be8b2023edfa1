/** A JSON pointer finds the same member for indexes, for rows, and for both kinds of sum trees. */
import { describe, expect, it } from 'vitest';
import { memberAt, parsePointer } from '../../src/base/json-pointer.js';
import { memory, open } from '../../src/index.js';

describe('a pointer', () => {
  it.each([
    ['', []],
    ['/', ['']],
    ['/a', ['a']],
    ['/a/b', ['a', 'b']],
    ['/a//b', ['a', '', 'b']],
    ['/~0~1', ['~/']],
    ['/~01', ['~1']],
    ['/a\nb', ['a\nb']],
  ])('%j has the names %j', (pointer, names) => {
    expect(parsePointer(pointer)).toEqual(names);
  });

  it.each(['a', 'a/b', '/~', '/~2', '~', ' /a', 5, null, undefined, ['/a']])(
    '%j is not a pointer',
    (one) => {
      expect(parsePointer(one)).toBeUndefined();
    },
  );
});

const VALUE = { a: { b: [10, [20], 'text'] }, tags: ['x', 'y'], '': 1, '01': 2, 'm/n~': 3 };

const FOUND: readonly (readonly [pointer: string, found: unknown])[] = [
  ['', VALUE],
  ['/', 1],
  ['/01', 2],
  ['/m~1n~0', 3],
  ['/a/b/0', 10],
  ['/a/b/1/0', 20],
  ['/tags/1', 'y'],
  ['/tags/01', undefined],
  ['/tags/-', undefined],
  ['/tags/2', undefined],
  ['/tags/length', undefined],
  ['/tags/-1', undefined],
  ['/a/b/2/0', undefined],
  ['/a/b/2/length', undefined],
  ['/constructor', undefined],
  ['/a/toString', undefined],
  ['/__proto__', undefined],
];

it.each(FOUND)('%j leads to %j', (pointer, found) => {
  expect(memberAt(VALUE, parsePointer(pointer) ?? [])).toEqual(found);
});

describe.each(FOUND.filter(([, found]) => typeof found !== 'object'))('%j', (pointer, found) => {
  it('means the same for an index, for a manual sum tree and for one that follows rows', async () => {
    const sums = { follows: { sum: '/n', key: pointer } };
    const db = await open('test', {
      storage: memory(),
      indexes: { i: { path: pointer } },
      advanced: { sums },
    });
    const row = { ...VALUE, n: 5 };
    await db.put('row', row);
    const isThere = found !== undefined;
    expect(await db.count({ index: 'i' })).toBe(isThere ? 1 : 0);
    // A number stands for its text in a key.
    const leaf = await db.sumTree('follows').get(String(found));
    expect(leaf?.sum).toBe(isThere ? 5n : undefined);
    const byHand = db.sumTree('hand').putMany([row], { key: pointer, sum: '/n', value: '/n' });
    if (isThere) {
      await byHand;
      expect((await db.sumTree('hand').get(String(found)))?.sum).toBe(5n);
    } else await expect(byHand).rejects.toMatchObject({ code: 'invalid-argument', detail: 'key' });
    await db.close();
  });
});
