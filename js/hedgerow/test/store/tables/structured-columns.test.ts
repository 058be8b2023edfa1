/** Columns of indexes over structured values, and files within rows. */
import { describe, expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';
import { decodeStructured } from '../../../src/store/tables/values/decode-structured.js';
import { encodeStructured } from '../../../src/store/tables/values/encode-structured.js';
import { toColumnValue } from '../../../src/store/tables/values/index-column-value.js';
import { file, StoredFile } from '../../../src/store/tables/values/stored-file.js';
import { compareKeys, failure } from '../../support/models/store-model.js';
import { forSeeds } from '../../support/property.js';
import { expectEqual, someDate, someValue, stored } from './structured-values.js';

/** Returns the value of a column, in the form of a row. */
const valueIn = (column: unknown) => (decodeStructured([column]) as unknown[])[0];

describe('columns of structured values', () => {
  it('have dates in the order of time', async () => {
    await forSeeds(50, async (from) => {
      const dates = Array.from({ length: 50 }, () => someDate(from));
      const texts = dates.map((date) => toColumnValue(date) as string);
      const byText = texts.toSorted(compareKeys).map((text) => (valueIn(text) as Date).getTime());
      expect(byText).toEqual(dates.map(Number).sort((a, b) => a - b));
    });
  });

  it('have strings in their order, and a common beginning is a range', async () => {
    await forSeeds(50, async (from) => {
      const texts = Array.from(
        { length: 20 },
        () => from.pick(['~', '~t', '', 'z', 'é']) + from.text(3),
      );
      const columns = texts.map((text) => toColumnValue(text) as string);
      expect(columns.toSorted(compareKeys).map(valueIn)).toEqual(texts.toSorted(compareKeys));
      const start = from.pick(texts).slice(0, 2);
      const found = columns.filter((column) => column.startsWith(toColumnValue(start) as string));
      // An empty beginning matches dates, too.
      expect(found.map(valueIn)).toEqual(texts.filter((text) => text.startsWith(start)));
    });
  });

  it('are the stored form of a scalar', async () => {
    await forSeeds(100, async (from) => {
      const value = someValue(from, 0);
      const form = stored([value]) as unknown[];
      const isScalar = value === null || /^[sn]|^bo/.test(typeof value) || value instanceof Date;
      if (!isScalar || (typeof value === 'number' && !Number.isFinite(value))) return;
      expect(toColumnValue(value)).toEqual(form[0]);
      expectEqual(valueIn(form[0]), value);
    });
  });

  it('leave alone the values that an index refuses', () => {
    for (const value of [5n, Number.NaN, undefined, new Set([1])])
      expect(toColumnValue(value)).toBe(value);
    const invalid = new Date(Number.NaN);
    expect(toColumnValue(invalid)).toBe(invalid);
  });

  it('find rows by an index', async () => {
    const indexes = { due: { path: '/due' } };
    const db = await open('columns', { storage: memory(), indexes });
    const rows = [5, 3, 9, -1, 7].map(
      (ms, at) => [`k${at}`, { due: new Date(ms), id: at }] as const,
    );
    for (const [key, row] of rows) await db.put(key, encodeStructured(row));
    const range = {
      index: 'due',
      gt: toColumnValue(new Date(0)) as string,
      lt: toColumnValue(new Date(9)) as string,
    };
    const found = await db.scan(range).toArray();
    expect(found.map(([, row]) => Number((decodeStructured(row) as { due: Date }).due))).toEqual([
      3, 5, 7,
    ]);
    await db.close();
  });
});

describe('files within rows', () => {
  it('come from blobs and files, and are blobs when read', async () => {
    const photo = await file(new File(['text'], 'a.txt', { type: 'text/plain', lastModified: 5 }));
    expect(photo).toEqual(
      new StoredFile(new TextEncoder().encode('text'), 'a.txt', 'text/plain', 5),
    );
    expect(photo.size).toBe(4);
    const back = decodeStructured(stored({ photo })) as { photo: StoredFile };
    expectEqual(back, { photo });
    expect(back.photo).toBeInstanceOf(StoredFile);
    const blob = back.photo.blob();
    expect([blob.size, blob.type, await blob.text()]).toEqual([4, 'text/plain', 'text']);
    const bare = await file(new Blob(['x']));
    expect([bare.name, bare.type, bare.lastModified]).toEqual(['', '', undefined]);
  });

  it('have 1 MiB at most', async () => {
    const most = await file(new Blob([new Uint8Array(1 << 20)]));
    expectEqual(decodeStructured(stored(most)), most);
    const more = new Blob([new Uint8Array((1 << 20) + 1)]);
    await expect(file(more)).rejects.toEqual(failure('invalid-argument/value'));
    await expect(file(more)).rejects.toThrow(/under a key of their own/);
    const form = ['~#file', 'AAAA'.repeat(349_526), '', '', null];
    expect(() => decodeStructured({ a: form })).toThrow(/a StoredFile has/);
  });

  it('refuse other values', async () => {
    const bytes = Uint8Array.of(1, 2);
    const named = new StoredFile(bytes, 'a.png', 'image/png');
    for (const other of [undefined, null, 'text', bytes, {}]) {
      await expect(file(other as never)).rejects.toEqual(failure('invalid-argument/value'));
    }
    for (const args of [['text'], [bytes, 5], [bytes, '', 5], [bytes, '', '', Number.NaN]]) {
      expect(() => new StoredFile(...(args as [never]))).toThrow(failure('invalid-argument/value'));
    }
    expect(() => Object.assign(named, { name: 5 })).toThrow(TypeError);
  });
});
