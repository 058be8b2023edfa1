/** Tabs that edit a document at random, while it is compacted, closed and opened again. */
import { describe, expect, it } from 'vitest';
import * as Y from 'yjs';
import { forSeeds } from '../../hedgerow/test/support/property.js';
import type { Random } from '../../hedgerow/test/support/random.js';
import {
  crash,
  openTab,
  rowsOf,
  sharedMemory,
  stateOf,
  storedDoc,
  type YjsTab,
} from './yjs-tabs.js';

function edit(doc: Y.Doc, from: Random): void {
  const text = doc.getText('text');
  const list = doc.getArray<unknown>('list');
  const map = doc.getMap('map');
  doc.transact(() => {
    for (let left = 1 + from.below(3); left > 0; left--) {
      const kind = from.below(6);
      if (kind < 2) text.insert(from.below(text.length + 1), `${from.below(1000)} `);
      else if (kind === 2 && text.length > 0) text.delete(from.below(text.length), 1);
      else if (kind === 3) list.insert(from.below(list.length + 1), [from.below(1000)]);
      else if (kind === 4 && list.length > 0) list.delete(from.below(list.length), 1);
      else map.set(`k${from.below(5)}`, from.below(1000));
    }
  });
}

describe('three tabs', () => {
  it('end with the document that the store has', async () => {
    let compacted = 0;
    await forSeeds(12, async (from, seed, begin) => {
      const storage = sharedMemory();
      const options = { maxRows: 2 + from.below(6), maxBytes: 1 + from.below(400) };
      // Changes that tabs have acknowledged are stored; a crash may lose the rest.
      const promised = new Y.Doc();
      const openOne = () => openTab(storage, 'doc', options);
      const tabs: YjsTab[] = [await openOne(), await openOne(), await openOne()];
      for (let step = 0; step < 60; step++) {
        const at = from.below(3);
        const tab = tabs[at] as YjsTab;
        const kind = from.below(20);
        begin({ step, at, kind });
        if (kind < 14) edit(tab.doc, from);
        else if (kind < 17) {
          await tab.provider.flush();
          Y.applyUpdate(promised, Y.encodeStateAsUpdate(tab.doc));
        } else if (kind === 17) {
          await tab.provider.destroy();
          Y.applyUpdate(promised, Y.encodeStateAsUpdate(tab.doc));
          tabs[at] = await openOne();
        } else if (kind === 18) {
          await crash(tab);
          tabs[at] = await openOne();
        } else await new Promise((resolve) => setTimeout(resolve));
      }
      begin('the end');
      for (const tab of tabs) await tab.provider.flush();
      const keysOf = new Set(tabs.map(({ errors }) => errors.length));
      expect(keysOf).toEqual(new Set([0]));
      const [first] = tabs as [YjsTab, ...YjsTab[]];
      const isSame = () => tabs.every(({ doc }) => line(doc) === line(first.doc));
      await expect.poll(isSame, { timeout: 20_000 }).toBe(true);
      // The store alone has it, too.
      await expect.poll(async () => line(await storedDoc(first.db))).toBe(line(first.doc));
      // No promised change is lost.
      const before = line(first.doc);
      Y.applyUpdate(first.doc, Y.encodeStateAsUpdate(promised));
      expect(line(first.doc)).toBe(before);
      const rows = await rowsOf(first.db);
      if (rows.size < 10) compacted += 1;
      expect(seed).toBeGreaterThan(0);
    });
    // In nearly all of them rows were merged.
    expect(compacted).toBeGreaterThan(0);
  });
});

const line = (doc: Y.Doc) => JSON.stringify(stateOf(doc));
