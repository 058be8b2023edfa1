/** Random queries by words, against the words of each row. */
import { describe, expect, it } from 'vitest';
import { memory, open, rowType, table } from '../../../src/index.js';
import { modelWords } from '../../support/models/index-model.js';
import { forSeeds, hasAllSeeds } from '../../support/property.js';
import type { Random } from '../../support/random.js';

interface Note {
  id: string;
  kind: string;
  text?: string | string[] | null;
}

const SEEDS = 60;
const WORDS = [
  'gate',
  'Gates',
  'ÉTÉ',
  'étage',
  'straße',
  'Ωmega',
  'ω',
  'жук',
  'Жизнь',
  '中文',
  '42',
  '~',
  'x',
];
const PARTS = [' ', ', ', '-', '\n', '/', '', '—'];

function someText(from: Random): string {
  let text = '';
  for (let count = from.below(5); count > 0; count--) text += from.pick(WORDS) + from.pick(PARTS);
  return text;
}

function someNote(from: Random): Note {
  const note: Note = { id: `${from.below(40)}`, kind: from.pick(['a', 'b']) };
  const what = from.next();
  if (what < 0.1) note.text = null;
  else if (what < 0.8) note.text = someText(from);
  else if (what < 0.9) note.text = [someText(from), someText(from)];
  return note;
}

const definitions = {
  json: table({
    schema: rowType<Note>(),
    key: 'id',
    indexes: { words: [{ words: 'text' }], kinds: ['kind', { words: 'text' }] },
  }),
  structured: table({
    schema: rowType<Note>(),
    key: 'id',
    values: 'structured',
    indexes: { words: [{ words: 'text' }], kinds: ['kind', { words: 'text' }] },
  }),
};

it('random sets of texts are found by their words', async () => {
  const tally = { found: 0, several: 0 };
  await forSeeds(SEEDS, async (from, seed, begin) => {
    const name = from.pick(['json', 'structured'] as const);
    const db = await open(`words${seed}`, {
      storage: memory(),
      tables: { notes: definitions[name] as typeof definitions.json },
    });
    const notes = new Map<string, Note>();
    const put = (note: Note) => {
      notes.set(note.id, note);
      return note;
    };
    await db.notes.putMany(Array.from({ length: 30 }, () => put(someNote(from))));
    const check = async (handle: object) => {
      // All handles have these calls.
      const place = (handle as { notes: typeof db.notes }).notes;
      // A typed text: words whose end may be missing.
      const typed = Array.from({ length: 1 + from.below(2) }, () => {
        const word = [...from.pick(WORDS)];
        return word.slice(0, 1 + from.below(word.length)).join('');
      }).join(' ');
      const kind = from.next() < 0.5 ? from.pick(['a', 'b']) : undefined;
      begin({ name, typed, kind });
      const wanted = modelWords(typed);
      const expected = [...notes.values()].filter((note) => {
        if (kind !== undefined && note.kind !== kind) return false;
        const words = [note.text ?? []].flat().flatMap(modelWords);
        return (
          wanted.length > 0 && wanted.every((start) => words.some((word) => word.startsWith(start)))
        );
      });
      // Without words, no index has each row of a kind once.
      const ofKind = kind === undefined ? {} : { kind };
      const query = place.where({ text: { words: typed }, ...ofKind }).scan();
      const found = await query.toArray();
      const byKey = (a: Note, b: Note) => (a.id < b.id ? -1 : 1);
      expect([...found].sort(byKey)).toEqual([...expected].sort(byKey));
      expect(await query.count()).toBe(expected.length);
      expect(await query.offset(1).limit(2).toArray()).toEqual(found.slice(1, 3));
      expect(await query.limit(3).count()).toBe(Math.min(3, expected.length));
      expect(await query.first()).toEqual(found[0]);
      tally.found += expected.length;
      if (wanted.length > 1 && expected.length > 0) tally.several += 1;
      return { query, expected };
    };
    for (let step = 0; step < 6; step++) {
      await check(db);
      using snapshot = db.snapshot();
      await check(snapshot);
      await db.transaction(async (tx) => {
        tx.notes.put(put(someNote(from)));
        await check(tx);
      });
      await db.notes.put(put(someNote(from)));
    }
    const { query, expected } = await check(db);
    if (expected.length > 0) expect((await query.delete()).rows).toBe(expected.length);
    for (const { id } of expected) notes.delete(id);
    await check(db);
    expect(await db.notes.count()).toBe(notes.size);
    await db.close();
  });
  if (hasAllSeeds(SEEDS)) expect(Math.min(tally.found, tally.several)).toBeGreaterThan(SEEDS / 4);
});

describe('texts in no index', () => {
  it('have no rows, and delete none; a query that filters compares long ones', async () => {
    const long = 'z'.repeat(1500);
    const tables = {
      t: table({
        schema: rowType<{ id: string; title: string; other: string }>(),
        key: 'id',
        indexes: { title: ['title'], words: [{ words: 'title' }], two: ['other', 'title'] },
      }),
    };
    const db = await open('nowhere', { storage: memory(), tables });
    await db.t.putMany([
      { id: 'short', title: 'a', other: 'b' },
      { id: 'long', title: long, other: long },
    ]);
    const half = '\ud83d';
    for (const conditions of [
      { title: long },
      { title: half },
      { title: `a${half}` },
      { title: { startsWith: long } },
      { title: { startsWith: half } },
      { title: { words: half } },
      { other: 'b', title: long },
      { id: long },
      { id: half },
      { id: { startsWith: half } },
    ] as never[]) {
      const what = JSON.stringify(conditions).slice(0, 40);
      expect(await db.t.where(conditions).toArray(), what).toEqual([]);
      expect(await db.t.where(conditions).count(), what).toBe(0);
      expect(await db.t.where(conditions).first(), what).toBeUndefined();
    }
    expect((await db.t.where({ title: long }).delete()).rows).toBe(0);
    expect(await db.t.count()).toBe(2);
    const found = await db.t.where({ other: long }).scan().toArray();
    expect(found.map(({ id }) => id)).toEqual(['long']);
    await db.close();
  });

  it('match each other composed and decomposed, in stored rows, transactions and filters', async () => {
    const tables = {
      t: table({
        schema: rowType<{ id: string; title: string }>(),
        key: 'id',
        indexes: { words: [{ words: 'title' }] },
      }),
    };
    const db = await open('forms', { storage: memory(), tables });
    const titles = ['Caf\u00e9', 'Vi\u1ec7t Nam', '\u0419\u043e\u0433\u0430', '\ud55c\uad6d'];
    const rows = titles.flatMap((title, at) =>
      (['NFC', 'NFD'] as const).map((form) => ({
        id: `${at}${form}`,
        title: title.normalize(form),
      })),
    );
    await db.t.putMany(rows);
    for (const [at, title] of titles.entries()) {
      for (const form of ['NFC', 'NFD'] as const) {
        const query = { title: { words: title.normalize(form) } };
        const ids = [`${at}NFC`, `${at}NFD`];
        const idsOf = (found: readonly { id: string }[]) => found.map(({ id }) => id).sort();
        expect(idsOf(await db.t.where(query).toArray())).toEqual(ids);
        const own = await db.transaction(async (tx) => {
          tx.t.put({ id: `${at}own`, title: title.normalize('NFD') });
          const found = await tx.t.where(query).toArray();
          tx.t.delete(`${at}own`);
          return found;
        });
        expect(idsOf(own)).toEqual([...ids, `${at}own`].sort());
      }
    }
    await db.close();
  });
});
