/** An app may keep a closed store, its branches and its snapshots; the memory of the core is freed. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, expect, it } from 'vitest';
import { memory, open } from '../../src/index.js';
import { failure } from '../support/models/store-model.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const { instantiate } = WebAssembly;
afterEach(() => {
  WebAssembly.instantiate = instantiate;
});

/** Collects the memories of the cores that start from now on. */
function memories(): WeakRef<WebAssembly.Memory>[] {
  const all: WeakRef<WebAssembly.Memory>[] = [];
  // A mock would keep its return values.
  WebAssembly.instantiate = (async (module: WebAssembly.Module, imports: WebAssembly.Imports) => {
    const instance = await instantiate(module, imports);
    const { memory: own } = instance.exports;
    // Node has modules of its own, and the later part of the core shares the memory of the first part.
    if ('add_table' in instance.exports) all.push(new WeakRef(own as WebAssembly.Memory));
    return instance;
  }) as typeof instantiate;
  return all;
}

async function isCollected(one: WeakRef<WebAssembly.Memory> | undefined): Promise<boolean> {
  for (let tries = 0; tries < 20 && one?.deref() !== undefined; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    collectGarbage();
  }
  return one?.deref() === undefined;
}

it('the memory of the core is freed when the store closes', async () => {
  const all = memories();
  const db = await open('test', { storage: memory(), indexes: { s: { path: '/s' } } });
  await db.putMany(
    Array.from({ length: 5000 }, (_, at): [string, unknown] => [`k${at}`, { s: at }]),
  );
  const draft = await db.branches.open('draft');
  await draft.put('a', { s: 1 });
  const snapshot = db.snapshot();
  const rows = db.scan()[Symbol.asyncIterator]();
  await rows.next();
  await db.history.diff(db.root, draft.root).toArray();
  await db.branches.merge('draft');
  expect(all).toHaveLength(1);
  expect(await isCollected(all[0])).toBe(false);
  const { root } = db;
  await db.close();
  expect(await isCollected(all[0])).toBe(true);
  // Members that need no core still work, and all other calls fail with `closed`.
  expect(db.root).toBe(root);
  snapshot.close();
  await expect(db.get('a')).rejects.toEqual(failure('closed'));
  await expect(snapshot.get('a')).rejects.toEqual(failure('closed'));
  await expect(draft.get('a')).rejects.toEqual(failure('closed'));
  await expect(db.health.stats()).rejects.toEqual(failure('closed'));
  await db.close();
  expect(all).toHaveLength(1);
});
