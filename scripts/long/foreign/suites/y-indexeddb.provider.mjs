// Our provider with the names and the members that the tests of y-indexeddb use. The tests wait 100 ms until updates
// are stored and compacted; `fetchUpdates`, which they call then, waits for exactly that.

import { applyUpdate } from 'yjs';
import { HedgerowProvider } from '../../../../js/adapters/dist/yjs.js';
import { memory, open } from '../../../../js/hedgerow/dist/index.js';

export const PREFERRED_TRIM_SIZE = 500;
/** All changes of a test in one turn are one row, so two rows are many here. */
const MAX_ROWS = 2;

// Tabs of one store, which see each other's commits.
const storage = { ...memory(), isShared: true };
const prefixOf = (name) => `yjs/${encodeURIComponent(name)}/`;
const all = new Set();

export class IndexeddbPersistence extends HedgerowProvider {
  /** The delay before a compaction: ours has no delay. */
  _storeTimeout = 0;
  _dbsize = 0;

  constructor(name, doc) {
    const opened = open('y-indexeddb', { storage });
    super(opened, name, doc, { maxRows: MAX_ROWS });
    this.opened = opened;
    all.add(this);
  }

  async destroy() {
    all.delete(this);
    await super.destroy();
    await (await this.opened).close();
  }
}

/** Applies all updates of the store to a document. */
export async function fetchUpdates(persistence) {
  const { name, doc } = persistence;
  const same = [...all].filter((one) => one.name === name);
  await Promise.all(same.map((one) => one.flush()));
  const db = await open('y-indexeddb', { storage });
  const range = { prefix: `${prefixOf(name)}u/` };
  await new Promise((resolve) => {
    const take = async () => {
      if ((await db.count(range)) >= MAX_ROWS) return;
      stop();
      resolve();
    };
    const stop = db.watch(range, take, { initial: true });
  });
  const updates = await db.scan(range).values().toArray();
  for (const update of updates) applyUpdate(doc, update, persistence);
  for (const one of same) one._dbsize = updates.length;
  await db.close();
}

export async function clearDocument(name) {
  const db = await open('y-indexeddb', { storage });
  await db.deleteMany({ prefix: prefixOf(name) });
  await db.close();
}
