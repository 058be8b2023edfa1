/** Compaction: how a document gets by with fewer rows. */
import { describe, expect, it } from 'vitest';
import type * as Y from 'yjs';
import { crash, openTab, rowsOf, sharedMemory, stateOf, storedDoc } from './yjs-tabs.js';

const text = (doc: Y.Doc) => doc.getText('text');
const MANY = { maxRows: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY };

describe('compaction', () => {
  it('keeps a document in few rows, however often it is changed', async () => {
    const storage = sharedMemory();
    const tab = await openTab(storage, 'doc', { maxRows: 20 });
    let most = 0;
    for (let at = 0; at < 300; at++) {
      text(tab.doc).insert(text(tab.doc).length, `${at} `);
      await tab.provider.flush();
      most = Math.max(most, (await rowsOf(tab.db)).size);
    }
    await expect.poll(async () => (await rowsOf(tab.db)).size).toBeLessThan(20);
    // It runs during the changes, which wait for it before the rows have doubled.
    expect(most).toBeLessThanOrEqual(41);
    expect(stateOf(await storedDoc(tab.db))).toEqual(stateOf(tab.doc));
    expect(tab.errors).toEqual([]);
    await crash(tab);
    const again = await openTab(storage);
    expect(stateOf(again.doc)).toEqual(stateOf(tab.doc));
  });

  it('does not rewrite a large row for a few small ones', async () => {
    const storage = sharedMemory();
    const tab = await openTab(storage, 'doc', { maxRows: 12 });
    text(tab.doc).insert(0, 'x'.repeat(200_000));
    await tab.provider.flush();
    const [large] = [...(await rowsOf(tab.db)).keys()];
    for (let at = 0; at < 100; at++) {
      text(tab.doc).insert(0, 'y');
      await tab.provider.flush();
    }
    await expect.poll(async () => (await rowsOf(tab.db)).size).toBeLessThan(12);
    expect((await rowsOf(tab.db)).has(large as string)).toBe(true);
    expect(stateOf(await storedDoc(tab.db))).toEqual(stateOf(tab.doc));
  });

  it('is due by bytes as well: when the other rows have more than the largest', async () => {
    const storage = sharedMemory();
    const tab = await openTab(storage, 'doc', { maxBytes: 1000 });
    for (let at = 0; at < 8; at++) {
      text(tab.doc).insert(0, 'z'.repeat(600));
      await tab.provider.flush();
    }
    await expect.poll(async () => (await rowsOf(tab.db)).size).toBeLessThan(8);
    expect(text(await storedDoc(tab.db)).length).toBe(4800);
  });

  it('leaves out deleted content once it writes all rows', async () => {
    const storage = sharedMemory();
    const writer = await openTab(storage, 'doc', MANY);
    for (let at = 0; at < 20; at++) {
      text(writer.doc).insert(0, 'w'.repeat(1000));
      await writer.provider.flush();
    }
    text(writer.doc).delete(0, text(writer.doc).length);
    await writer.provider.flush();
    expect((await rowsOf(writer.db)).size).toBe(21);
    await writer.provider.destroy();
    // Rows that another tab finds when it opens are due at once.
    const tab = await openTab(storage, 'doc', { maxRows: 2 });
    await expect.poll(async () => (await rowsOf(tab.db)).size).toBe(1);
    const [row] = (await rowsOf(tab.db)).values();
    expect(row?.length).toBeLessThan(1000);
    expect(text(await storedDoc(tab.db)).toString()).toBe('');
  });

  it('by several tabs at once loses no change, and only one of them merges each row', async () => {
    const storage = sharedMemory();
    const options = { maxRows: 5 };
    const tabs = await Promise.all([0, 1, 2].map(() => openTab(storage, 'doc', options)));
    for (let at = 0; at < 60; at++) {
      for (const [tab, { doc, provider }] of tabs.entries()) {
        doc.getArray('list').push([`${tab}/${at}`]);
        // Some wait for their commit and some do not.
        if ((at + tab) % 3 === 0) await provider.flush();
      }
    }
    await Promise.all(tabs.map(({ provider }) => provider.flush()));
    const [first] = tabs as [(typeof tabs)[number]];
    const lengths = () => tabs.map(({ doc }) => doc.getArray('list').length);
    await expect.poll(lengths).toEqual([180, 180, 180]);
    await expect.poll(async () => (await rowsOf(first.db)).size).toBeLessThan(5 + 3);
    const wanted = tabs.flatMap((_, tab) => Array.from({ length: 60 }, (_, at) => `${tab}/${at}`));
    const list = (await storedDoc(first.db)).getArray<string>('list').toArray();
    expect(list.toSorted()).toEqual(wanted.toSorted());
    for (const { errors } of tabs) expect(errors).toEqual([]);
  });

  it('by a tab that is behind keeps the rows that it has not seen', async () => {
    const storage = sharedMemory();
    const blind = await openTab(storage, 'doc', { maxRows: 4 });
    const other = await openTab(storage, 'doc', MANY);
    // Both write in the same turns: neither has heard of the other when it merges.
    for (let at = 0; at < 12; at++) {
      blind.doc.getMap('map').set(`b${at}`, at);
      other.doc.getMap('map').set(`o${at}`, at);
      await Promise.all([blind.provider.flush(), other.provider.flush()]);
    }
    await expect.poll(async () => (await storedDoc(other.db)).getMap('map').size).toBe(24);
    await expect.poll(() => blind.doc.getMap('map').size).toBe(24);
    await expect.poll(() => other.doc.getMap('map').size).toBe(24);
  });
});
