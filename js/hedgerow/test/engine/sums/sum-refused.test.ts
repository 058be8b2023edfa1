/** Calls that sum trees refuse; a refused call does not change the store. */
import { describe, expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';
import { kindOf, ofKind } from '../../support/error-kind.js';
import { failure, within } from '../../support/models/store-model.js';
import { hex, sha256 } from '../../support/models/sum-reference.js';
import { leaves, SUMS, sumsOf, value } from './sum-rows.js';

describe('refused calls', () => {
  it('reject with their codes, and do not change the store', async () => {
    const db = await open('s', { storage: memory(), advanced: { sums: SUMS } });
    const tree = db.sumTree('t');
    await tree.put('a', { value, sum: 5n });
    await db.put('acct/1', { cents: 5 });
    const before = db.root;
    const many = (source: unknown, options = {}) => tree.putMany(source as never, options);
    const large = new Uint8Array((1 << 20) + 1);
    const calls: [string, string, () => Promise<unknown>][] = [
      ['a key of 31 bytes', 'invalid-argument/key', () => tree.get(new Uint8Array(31))],
      ['a key that is a number', 'invalid-argument/key', () => tree.get(7 as never)],
      ['half a surrogate', 'invalid-argument/key', () => tree.prove('\udc00')],
      ['among many', 'invalid-argument/key', () => tree.getMany(['a', null as never])],
      ['a key to prove', 'invalid-argument/key', () => tree.proveMany([new Uint8Array(33)])],
      ['a key to delete', 'invalid-argument/key', () => tree.deleteMany(['a', undefined as never])],
      [
        'a key to start at',
        'invalid-argument/key',
        () => tree.entries({ from: 1 as never }).toArray(),
      ],
      ['no value', 'invalid-argument/value', () => many([{ key: 'a', sum: 1n }])],
      [
        'a value too large',
        'invalid-argument/value',
        () => tree.put('a', { value: large, sum: 1n }),
      ],
      [
        'a sum that is a number',
        'invalid-argument/value',
        () => many([{ key: 'a', value, sum: 1 }]),
      ],
      ['a sum too large', 'invalid-argument/value', () => tree.put('a', { value, sum: 1n << 64n })],
      ['a sum below 0', 'invalid-argument/value', () => tree.put('a', { value, sum: -1n })],
      ['null for a leaf', 'invalid-argument/value', () => many([null])],
      ['no pointer', 'invalid-argument', () => many([{}], { sum: 'cents' })],
      [
        'rows without sums',
        'invalid-argument/value',
        () => many([{ key: 'x' }], { sum: '/cents' }),
      ],
      ['no source', 'invalid-argument', () => many(7)],
      ['bytes', 'invalid-argument', () => many(new Blob(['[]']))],
      ['a response', 'invalid-argument', () => many(new Response('[]'))],
      ['a root that is none', 'invalid-argument', () => tree.diff('xyz').toArray()],
      ['a root not there', 'missing-chunk', () => tree.diff('ab'.repeat(32)).toArray()],
      [
        'sums that do not fit',
        'invalid-argument/sum-overflow',
        () => many([{ key: 'b', value, sum: 2n ** 64n - 1n }]),
      ],
      [
        'sums that do not fit together',
        'invalid-argument/sum-overflow',
        () => many([...leaves('z', 2, 2n ** 63n)]),
      ],
      [
        'a tree that follows',
        'invalid-argument',
        () => db.sumTree('balances').put('x', { value, sum: 1n }),
      ],
      [
        'deleting in a tree that follows',
        'invalid-argument',
        () => db.sumTree('balances').delete('acct/1'),
      ],
      ['a row of half a cent', 'invalid-argument/value', () => db.put('acct/2', { cents: 0.5 })],
      [
        'a row of less than nothing',
        'invalid-argument/value',
        () => db.put('acct/2', { cents: -1 }),
      ],
      ['a row of a text', 'invalid-argument/value', () => db.put('acct/2', { cents: 'much' })],
      [
        'rows that come to too much',
        'invalid-argument/sum-overflow',
        () =>
          db.putMany([
            ['acct/2', { cents: '18446744073709551615' }],
            ['acct/3', { cents: 1 }],
          ]),
      ],
      [
        'in a transaction',
        'invalid-argument/value',
        () => db.transaction(async (tx) => tx.put('acct/2', { cents: [] })),
      ],
      [
        'in a patch',
        'invalid-argument/value',
        () => db.applyPatch([{ op: 'put', key: 'acct/2', value: { cents: -5 } }]),
      ],
      [
        'by a throwing source',
        'thrown',
        () =>
          many(
            (function* () {
              yield* leaves('t', 1000);
              throw Object.assign(new Error(), { code: 'thrown' });
            })(),
          ),
      ],
    ];
    for (const [title, code, call] of calls) {
      const made = async () => call();
      expect(kindOf(await within(made()).catch((error: unknown) => error)), title).toBe(code);
      expect(db.root, title).toBe(before);
    }
    expect(await sumsOf(db)).toEqual(new Map([[hex(sha256('a')), 5n]]));
    await tree.put('a', { value, sum: 6n });
    await db.put('acct/1', { cents: 6 });
    expect([tree.root.sum, db.sumTree('balances').root.sum]).toEqual([6n, 6n]);
    await db.close();
  });

  it('include open with malformed definitions', async () => {
    const refused = [
      { b: { sum: 'cents' } },
      { b: {} as never },
      { b: { sum: '/a', key: 'x' } },
      { b: { sum: '/a', value: '/~2' } },
      { [`b${'x'.repeat(300)}`]: { sum: '/a' } },
    ];
    for (const sums of refused) {
      await expect(open('s', { storage: memory(), advanced: { sums } })).rejects.toEqual(
        failure('invalid-argument'),
      );
    }
  });

  it('a tree with an invalid name is refused, not lost', async () => {
    const db = await open('s', { storage: memory() });
    for (const name of ['x'.repeat(300), 'ü'.repeat(130)]) {
      const put = async () => db.sumTree(name).put('a', { value, sum: 1n });
      await expect(put(), name).rejects.toEqual(failure('invalid-argument'));
    }
    expect(db.root).toBe('0'.repeat(64));
    for (const name of ['', 'ü', '\0', 'a/b']) {
      await db.sumTree(name).put('a', { value, sum: 1n });
      expect(db.sumTree(name).root.sum, name).toBe(1n);
    }
    await db.close();
  });
});

describe('the rule of a tree', () => {
  it('applies to other handles from its first commit, and not to an empty store', async () => {
    for (const hasCommit of [false, true]) {
      const storage = memory();
      const sums = { t: { prefix: 's/', sum: '/n' } };
      const db = await open('s', { storage, advanced: { sums } });
      if (hasCommit) await db.put('x', 1);
      await db.sumTree('t').get('q');
      const other = await open('s', { storage });
      const put = other.put('s/1', { n: -1 });
      if (hasCommit) await expect(put).rejects.toEqual(failure('invalid-argument/value'));
      else {
        await put;
        await expect(db.put('y', 1)).rejects.toMatchObject({
          ...ofKind('invalid-argument/value'),
          key: 's/1',
        });
        // One commit of either handle mends the row.
        await other.put('s/1', { n: 2 });
      }
      await db.put('y', 1);
      expect(db.sumTree('t').root.sum).toBe(hasCommit ? 0n : 2n);
      await db.close();
      await other.close();
    }
  });
});
