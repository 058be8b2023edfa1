/** The provider of Yjs: one tab, several, and a store that fails. */
import { describe, expect, it, vi } from 'vitest';
import * as Y from 'yjs';
import { HedgerowError, memory, open } from '../../hedgerow/src/index.js';
import { faulty } from '../../hedgerow/test/support/doubles/faulty-storage.js';
import { ofKind } from '../../hedgerow/test/support/error-kind.js';
import { HedgerowProvider } from '../src/yjs.js';
import { openTab, rowsOf, sharedMemory, stateOf, storedDoc } from './yjs-tabs.js';

const text = (doc: Y.Doc) => doc.getText('text');

describe('a document', () => {
  it('is there again after a restart, in rows of bytes', async () => {
    const storage = sharedMemory();
    const first = await openTab(storage);
    text(first.doc).insert(0, 'hello');
    first.doc.getMap('map').set('a', 1);
    expect(first.provider.pending).toBeGreaterThan(0);
    await first.provider.flush();
    expect(first.provider.pending).toBe(0);
    // Both changes were made in one turn.
    expect([...(await rowsOf(first.db)).values()]).toEqual([expect.any(Uint8Array)]);
    await first.provider.destroy();
    await first.db.close();

    const again = await openTab(storage);
    expect(stateOf(again.doc)).toEqual(stateOf(first.doc));
    expect(again.provider.synced).toBe(true);
    // Reading has written no row.
    expect((await rowsOf(again.db)).size).toBe(1);
  });

  it('keeps its earlier content, and stores it once', async () => {
    const storage = sharedMemory();
    const template = new Y.Doc();
    template.clientID = 7;
    text(template).insert(0, 'template');
    const update = Y.encodeStateAsUpdate(template);
    for (let at = 0; at < 3; at++) {
      const doc = new Y.Doc();
      Y.applyUpdate(doc, update);
      const tab = await openTab(storage, 'doc', {}, doc);
      await tab.provider.flush();
      expect(text(tab.doc).toString()).toBe('template');
      expect((await rowsOf(tab.db)).size).toBe(1);
      await tab.provider.destroy();
    }
  });

  it('is stored with its earlier content when it was changed and its tab ended before the sync', async () => {
    const db = await open('app', { storage: memory() });
    const doc = new Y.Doc();
    text(doc).insert(0, 'had');
    const provider = new HedgerowProvider(db, 'doc', doc);
    text(doc).insert(3, ', and more');
    await provider.flush();
    await provider.destroy();
    expect(text(await storedDoc(db)).toString()).toBe('had, and more');
    await db.close();
  });

  it('signals the sync by a promise, an event, and the event `load` of the document', async () => {
    const db = await open('app', { storage: memory() });
    const doc = new Y.Doc();
    const provider = new HedgerowProvider(async () => db, 'doc', doc);
    const told: unknown[] = [];
    provider.on('synced', (who) => told.push(who));
    // Changes are taken from the start, even from the turn that made the provider.
    text(doc).insert(0, 'early');
    expect(provider.synced).toBe(false);
    expect(await provider.whenSynced).toBe(provider);
    await doc.whenLoaded;
    expect(told).toEqual([provider]);
    await provider.flush();
    expect(text(await storedDoc(db)).toString()).toBe('early');
    await provider.destroy();
    await db.close();
  });

  it('shares its store with others, whatever their names', async () => {
    const storage = sharedMemory();
    const names = ['a', 'a/u', 'a/u/', 'a%2Fu', '', 'ä', 'u/a'];
    for (const name of names) {
      const tab = await openTab(storage, name);
      text(tab.doc).insert(0, name);
      await tab.provider.set('name', name);
      await tab.provider.destroy();
    }
    for (const name of names) {
      const tab = await openTab(storage, name);
      expect(text(tab.doc).toString()).toBe(name);
      expect(await tab.provider.get('name')).toBe(name);
    }
    const gone = await openTab(storage, 'a');
    await gone.provider.clearData();
    expect(await gone.provider.get('name')).toBeUndefined();
    expect((await rowsOf(gone.db, 'a')).size).toBe(0);
    expect((await rowsOf(gone.db, 'a/u')).size).toBe(1);
    // The one without a name has an empty text, and so no updates.
    expect(await gone.db.count()).toBe(2 * (names.length - 1) - 1);
  });

  it('has custom values by keys of texts and numbers', async () => {
    const { provider } = await openTab(sharedMemory());
    expect(await provider.set('a', 4)).toBe(4);
    await provider.set(4, 'meta');
    await provider.set('4', 'text');
    await provider.set('bytes', new Uint8Array([1, 2]));
    expect(await provider.get('a')).toBe(4);
    expect(await provider.get(4)).toBe('meta');
    expect(await provider.get('4')).toBe('text');
    expect(await provider.get('bytes')).toEqual(new Uint8Array([1, 2]));
    await provider.del('a');
    expect(await provider.get('a')).toBeUndefined();
    await expect(provider.get(Number.NaN)).rejects.toMatchObject(ofKind('invalid-argument'));
    await expect(provider.set({} as never, 1)).rejects.toMatchObject(ofKind('invalid-argument'));
  });
});

describe('tabs', () => {
  it('get the changes of others, marked as remote', async () => {
    const storage = sharedMemory();
    const [one, two] = [await openTab(storage), await openTab(storage)];
    const seen: [boolean, unknown][] = [];
    text(two.doc).observe((_, { local, origin }) => seen.push([local, origin]));
    text(one.doc).insert(0, 'one');
    await expect.poll(() => text(two.doc).toString()).toBe('one');
    expect(seen).toEqual([[false, two.provider]]);
    text(two.doc).insert(3, ', two');
    await expect.poll(() => text(one.doc).toString()).toBe('one, two');
    await Promise.all([one.provider.flush(), two.provider.flush()]);
    // The change of the other tab was not stored again.
    expect((await rowsOf(one.db)).size).toBe(2);
  });

  it('may open a document twice, on one handle', async () => {
    const { db, doc, provider } = await openTab(sharedMemory());
    const other = new HedgerowProvider(db, 'doc', new Y.Doc());
    await other.whenSynced;
    text(doc).insert(0, 'a');
    text(other.doc).insert(0, 'b');
    const both = () => [text(doc).toString(), text(other.doc).toString()];
    await expect
      .poll(() => new Set(both()))
      .toSatisfy((set) => set.size === 1 && both()[0]?.length === 2);
    await provider.flush();
    await other.destroy();
  });

  it('hear no changes after destroy, and the store stays open', async () => {
    const storage = sharedMemory();
    const [one, two] = [await openTab(storage), await openTab(storage)];
    text(two.doc).insert(0, 'last');
    two.doc.destroy();
    // Earlier changes are stored.
    await two.provider.destroy();
    await expect.poll(() => text(one.doc).toString()).toBe('last');
    text(one.doc).insert(0, 'more ');
    await one.provider.flush();
    await expect.poll(async () => (await rowsOf(two.db)).size).toBe(2);
    expect(text(two.doc).toString()).toBe('last');
    expect(one.errors).toEqual([]);
    expect(two.errors).toEqual([]);
  });

  it('may be destroyed before they are synced, and then emit no event', async () => {
    const db = await open('app', { storage: memory() });
    const provider = new HedgerowProvider(Promise.resolve(db), 'doc', new Y.Doc());
    let isTold = false;
    provider.on('synced', () => {
      isTold = true;
    });
    await provider.destroy();
    await expect(provider.whenSynced).rejects.toMatchObject({ code: 'closed' });
    await db.put('a', 1);
    expect(isTold).toBe(false);
    await db.close();
  });
});

describe('a store that fails', () => {
  it('keeps and reports unstored changes, and stores them once that is possible', async () => {
    const storage = faulty(memory());
    const tab = await openTab(storage);
    text(tab.doc).insert(0, 'kept');
    await tab.provider.flush();
    const error = new HedgerowError('quota-exceeded', 'the disk is full');
    storage.fail({ call: 'write', at: 1, lasting: true, when: 'before', error });
    text(tab.doc).insert(4, ' here');
    await expect(tab.provider.flush()).rejects.toMatchObject({ code: 'quota-exceeded' });
    text(tab.doc).insert(0, 'also ');
    await expect(tab.provider.flush()).rejects.toMatchObject({ code: 'quota-exceeded' });
    expect(tab.errors.length).toBeGreaterThanOrEqual(2);
    expect(tab.provider.pending).toBe(2);
    storage.heal();
    await tab.provider.flush();
    expect(tab.provider.pending).toBe(0);
    expect(stateOf(await storedDoc(tab.db))).toEqual(stateOf(tab.doc));
  });

  // Other entries have classes of their own.
  it.each([
    ['an error', new HedgerowError('unavailable/storage', 'not now')],
    ['an error of another entry', Object.assign(new Error('not now'), { retryable: true })],
  ])('is tried again by itself after %s', async (_, error) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const storage = faulty(memory());
      const db = await open('yjs', { storage });
      storage.fail({ call: 'write', at: 1, lasting: true, when: 'before', error });
      const provider = new HedgerowProvider(db, 'doc', new Y.Doc());
      const errors: unknown[] = [];
      provider.on('error', (cause) => errors.push(cause));
      await provider.whenSynced;
      text(provider.doc).insert(0, 'kept');
      await expect.poll(() => errors.length).toBe(1);
      await vi.advanceTimersByTimeAsync(1000);
      await expect.poll(() => errors.length).toBe(2);
      storage.heal();
      await vi.advanceTimersByTimeAsync(2000);
      await expect.poll(() => provider.pending).toBe(0);
      expect(text(await storedDoc(db)).toString()).toBe('kept');
      await provider.destroy();
      await db.close();
    } finally {
      vi.useRealTimers();
    }
  });

  it('to open rejects, and is reported', async () => {
    const cause = new HedgerowError('unsupported', 'no storage here');
    const provider = new HedgerowProvider(() => Promise.reject(cause), 'doc', new Y.Doc());
    const errors: unknown[] = [];
    provider.on('error', (error) => errors.push(error));
    await expect(provider.whenSynced).rejects.toBe(cause);
    await expect.poll(() => errors).toEqual([cause]);
    text(provider.doc).insert(0, 'lost');
    await expect(provider.flush()).rejects.toBe(cause);
    await expect(provider.destroy()).rejects.toBe(cause);
  });

  it('because it was closed is reported once', async () => {
    const tab = await openTab(sharedMemory());
    await tab.db.close();
    await expect.poll(() => tab.errors).toEqual([expect.objectContaining({ code: 'closed' })]);
    text(tab.doc).insert(0, 'lost');
    await expect(tab.provider.flush()).rejects.toMatchObject({ code: 'closed' });
  });
});

describe('rows that are no updates', () => {
  it('are reported and left alone, and the others are read, and merged', async () => {
    const storage = sharedMemory();
    const first = await openTab(storage);
    for (const word of ['one', 'two', 'three']) {
      text(first.doc).insert(0, word);
      await first.provider.flush();
    }
    const all = text(first.doc).toString();
    await first.provider.destroy();
    const strange: [string, unknown][] = [
      ['yjs/doc/u/', Uint8Array.of(1, 200, 7, 7)],
      ['yjs/doc/u/a', { a: 1 }],
      ['yjs/doc/u/b', null],
      ['yjs/doc/u/~', new Uint8Array(0)],
    ];
    await first.db.putMany(strange);

    const doc = new Y.Doc();
    const provider = new HedgerowProvider(first.db, 'doc', doc, { maxRows: 2 });
    const errors: unknown[] = [];
    provider.on('error', (cause) => errors.push(cause));
    await provider.whenSynced;
    expect(text(doc).toString()).toBe(all);
    const told = strange.map(([key]) =>
      expect.objectContaining({ code: 'invalid-argument', detail: 'value', key }),
    );
    await expect.poll(() => errors).toEqual(told);
    for (const word of ['four', 'five', 'six']) {
      text(doc).insert(0, word);
      await provider.flush();
    }
    await expect.poll(async () => (await rowsOf(first.db)).size).toBeLessThan(strange.length + 2);
    for (const [key, value] of strange) expect(await first.db.get(key)).toEqual(value);
    await provider.destroy();
    expect(errors).toEqual(told);

    for (const [key] of strange) await first.db.delete(key);
    expect(text(await storedDoc(first.db)).toString()).toBe(text(doc).toString());
  });
});

describe('an observer that throws', () => {
  it('is reported, and the document is synced all the same', async () => {
    const storage = sharedMemory();
    const first = await openTab(storage);
    text(first.doc).insert(0, 'stored');
    await first.provider.flush();
    const reported = vi.spyOn(console, 'error').mockImplementation(() => {});
    try {
      const doc = new Y.Doc();
      const fault = new Error('an observer of the app');
      text(doc).observe(() => {
        throw fault;
      });
      const tab = await openTab(storage, 'doc', {}, doc);
      expect(tab.provider.synced).toBe(true);
      expect(text(doc).toString()).toBe('stored');
      expect(reported.mock.calls).toEqual([[fault]]);
      expect(tab.errors).toEqual([]);
    } finally {
      reported.mockRestore();
    }
  });
});

describe('arguments', () => {
  it('that are invalid are refused', async () => {
    const db = await open('app', { storage: memory() });
    const doc = new Y.Doc();
    const invalid = ofKind('invalid-argument');
    const refused: [unknown[], object][] = [
      [['db', 'doc', doc], invalid],
      [[db, 5, doc], { code: 'invalid-argument', detail: 'key' }],
      [[db, '\ud800', doc], { code: 'invalid-argument', detail: 'key' }],
      [[db, 'x'.repeat(1000), doc], { code: 'invalid-argument', detail: 'key' }],
      [[db, 'doc', {}], invalid],
      [[db, 'doc'], invalid],
      [[db, 'doc', doc, { prefix: '\udc00' }], { code: 'invalid-argument', detail: 'key' }],
      [[db, 'doc', doc, { maxRows: 1.5 }], invalid],
      [[db, 'doc', doc, { maxBytes: -1 }], invalid],
      [[db, 'doc', doc, { durability: 'very' }], invalid],
      [[db, 'doc', doc, { rows: 5 }], invalid],
    ];
    for (const [given, error] of refused) {
      let thrown: unknown;
      try {
        new HedgerowProvider(...(given as ConstructorParameters<typeof HedgerowProvider>));
      } catch (cause) {
        thrown = cause;
      }
      expect(thrown, String(given.slice(1))).toMatchObject(error);
    }
    // The refused providers do not listen.
    expect(doc._observers.get('update')).toBeUndefined();
    await db.close();
  });
});
