/** Random queries by words, against the words of each row. */
import { expect, it } from 'vitest';
import { memory, open } from '../src/index.js';
import { table } from '../src/tables/index.js';
import { modelWords } from './index-model.js';
import { forSeeds, hasAllSeeds } from './property.js';
import type { Random } from './random.js';

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
  json: table<Note>()({
    key: 'id',
    indexes: { words: [{ words: 'text' }], kinds: ['kind', { words: 'text' }] },
  }),
  structured: table<Note>()({
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
      // Handles have the calls that are made here in common.
      const place = (handle as { notes: typeof db.notes }).notes;
      // What is typed: words of which the end may be missing.
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
      // Of a kind without a word no index has each row once.
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
    if (expected.length > 0) expect(await query.delete()).toBe(expected.length);
    for (const { id } of expected) notes.delete(id);
    await check(db);
    expect(await db.notes.count()).toBe(notes.size);
    await db.close();
  });
  if (hasAllSeeds(SEEDS)) expect(Math.min(tally.found, tally.several)).toBeGreaterThan(SEEDS / 4);
});
