/** Two handles of one `memory()`: each follows the commits of the other, as tabs do. */
import { expect, it } from 'vitest';
import { memory, open } from '../../src/index.js';
import { all, type Entry, expectSame } from '../support/models/store-model.js';
import { Copy, until } from '../support/watching.js';

it('handles of one memory() follow each other: root, reads, watches and branches', async () => {
  const storage = memory();
  const [one, other] = [await open('m', { storage }), await open('m', { storage })];
  const copy = new Copy([]);
  other.watch({}, copy.take);
  await one.putMany(Array.from({ length: 500 }, (_, at): Entry => [`k${at}`, at]));
  await until(() => other.root === one.root);
  expect(await other.get('k1')).toBe(1);
  await other.put('k1', 'other');
  await until(() => one.root === other.root);
  expect(await one.get('k1')).toBe('other');
  expectSame(await all(one), await all(other));
  await copy.becomes(await all(one));
  const [draft, theirs] = [await one.branches.open('draft'), await other.branches.open('draft')];
  await draft.put('draft', 1);
  await until(() => theirs.root === draft.root);
  expect(await theirs.get('draft')).toBe(1);
  const onError: unknown[] = [];
  theirs.watch({}, () => {}, { onError: (cause) => onError.push(cause) });
  await one.branches.delete('draft');
  await until(() => onError.length === 1);
  await expect(theirs.get('draft')).rejects.toMatchObject({ code: 'not-found', detail: 'branch' });
  // A closed handle is not called any more, and blocks no other.
  await other.close();
  await one.put('k2', 'one');
  expect(await one.get('k2')).toBe('one');
  await one.close();
});

it('a commit that comes back through an undo of the other handle is followed, too', async () => {
  const storage = memory();
  const [one, other] = [await open('m', { storage }), await open('m', { storage })];
  await one.put('a', 1);
  const before = one.snapshot();
  await one.put('a', 2);
  await until(() => other.root === one.root);
  await other.branches.reset(before.root);
  await until(() => one.root === before.root);
  expect(await one.get('a')).toBe(1);
  await Promise.all([one.close(), other.close()]);
});
