/** A branch closes while the handle still follows news of it. */
import { expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';
import { watched } from '../../support/doubles/watched-storage.js';
import { failure, within } from '../../support/models/store-model.js';
import { rest, until } from '../../support/watching.js';

it('a handle does not take a view of the core from another handle, which would read and write another branch', async () => {
  const shared = { ...memory(), isShared: true };
  const storage = watched(shared);
  const db = await open('closed branch', { storage });
  const other = await open('closed branch', { storage: shared });
  await db.put('of', 'main');
  const draft = await db.branches.open('draft');
  await draft.put('of', 'draft');
  const theirs = await other.branches.open('draft');
  for (let round = 0; round < 10; round++) {
    const twin = await db.branches.open('draft');
    await rest();
    // The queue of the tab is busy when the news come and the twin closes.
    let release = () => {};
    storage.hooks.write = () => {
      delete storage.hooks.write;
      return new Promise<void>((resolve) => {
        release = resolve;
      });
    };
    const busy = db.put('busy', round);
    await rest(5);
    await theirs.put('round', round);
    await rest(5);
    const reading = twin
      .scan()
      .toArray()
      .catch((cause: unknown) => cause);
    await within(twin.close());
    release();
    await busy;
    await until(() => draft.root === theirs.root);
    await rest(5);
    // By now every freed view is taken again.
    await db.put('main', round);
    expect(await draft.get('of')).toBe('draft');
    expect(await draft.get('round')).toBe(round);
    expect(await db.get('of')).toBe('main');
    await draft.delete('none');
    expect(draft.root).toBe(theirs.root);
    expect(draft.root).not.toBe(db.root);
    const read = await within(reading);
    if (read instanceof Error) expect(read).toEqual(failure('closed'));
    else expect(new Map(read as [string, unknown][]).get('of')).toBe('draft');
  }
  await Promise.all([db.close(), other.close()]);
});
