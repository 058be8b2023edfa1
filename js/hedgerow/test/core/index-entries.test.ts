/**
 * The core, the wrapper (for watches and transactions) and a model make the entries that the vectors say.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/index/definitions.json' with { type: 'json' };
import { type IndexDefinition, indexOf } from '../../src/core/indexes/definition.js';
import { deriveEntries } from '../../src/core/indexes/index-entries.js';
import { wordsOf } from '../../src/core/indexes/words.js';
import { loadWords } from '../../src/core/indexes/words-code.js';
import { type IndexDefinitions, memory, open } from '../../src/index.js';
import {
  comparePositions,
  entriesOfRows,
  type IndexedEntry,
  modelWords,
} from '../support/models/index-model.js';
import { compareKeys, type Entry, expectSame, sorted } from '../support/models/store-model.js';
import { forSeeds, isDeep, sampled } from '../support/property.js';
import type { Random } from '../support/random.js';

beforeAll(loadWords);

/** Returns the entries that the wrapper makes of rows, in the order of a scan. */
function entriesOfWrapper(definition: IndexDefinition, rows: readonly Entry[]): IndexedEntry[] {
  const index = indexOf('one', definition);
  const all = rows.flatMap(([key, value]) =>
    deriveEntries(index, key, value).map(({ position, secondary }) => ({
      position,
      entry: [key, value, secondary] as IndexedEntry,
    })),
  );
  return all.sort((a, b) => compareKeys(a.position, b.position)).map(({ entry }) => entry);
}

describe('the vectors', () => {
  it.each(vectors.entries)('hold for $tree', async ({ definition, tree, rows }) => {
    const index = indexOf('one', definition as IndexDefinition);
    expect(index.text).toBe(tree);
    for (const { key, value, entries } of rows) {
      const made = deriveEntries(index, key, JSON.parse(value)).map(({ position }) => position);
      expect(made, value).toEqual(entries);
      const indexes = { one: definition as IndexDefinition };
      const db = await open('vectors', { storage: memory(), indexes });
      await db.put(key, JSON.parse(value));
      const scanned = await db.scan({ index: 'one' }).toArray();
      expect(scanned, value).toEqual(entriesOfWrapper(indexes.one, [[key, JSON.parse(value)]]));
      await db.close();
    }
  });

  it.each(vectors.words)('say what the words of $text are', ({ text, words }) => {
    expect(wordsOf(text)).toEqual(words);
    expect([...new Set(modelWords(text))]).toEqual(words);
  });
});

/** All characters of the basic plane that JSON can hold, in rows; U+03A2 is unassigned. */
const CHARACTERS = Array.from({ length: 0xff + 1 }, (_, high) =>
  Array.from({ length: 256 }, (_, low) => String.fromCharCode(high * 256 + low)).filter(
    (char) => !/[\p{Surrogate}\u03a2]/u.test(char),
  ),
);

describe('words', () => {
  it('have the characters that the model says, letters and digits among them', () => {
    const odd: string[] = [];
    for (const char of CHARACTERS.flat()) {
      const words = wordsOf(`x${char}y`);
      expect(words, char.codePointAt(0)?.toString(16)).toEqual([
        ...new Set(modelWords(`x${char}y`)),
      ]);
      const isLetter = /^[\p{L}\p{Nd}\p{M}]$/u.test(char);
      // The space of Ogham is an exception.
      const isSpace = char !== '\u1680' && /^[\p{White_Space}\p{Cc}]$/u.test(char);
      if (isSpace) expect(words, char.codePointAt(0)?.toString(16)).not.toContain(`x${char}y`);
      if (isLetter && words.length > 1) odd.push(char);
    }
    // Signs that were letters once, marks above Arabic letters, and letters that are symbols, or old.
    const rest = odd.filter((char) => !/[ªµº\u0610-\u061a\u2000-\u2bff\u2e00-\u2e7f]/.test(char));
    expect(rest).toEqual([]);
  });

  it('are the same in the core, for every character', async () => {
    const some = sampled(CHARACTERS, 4);
    const indexes = { words: { path: { words: '/t' } } };
    const db = await open('characters', { storage: memory(), indexes });
    const rows = some.map(
      (chars, at): Entry => [
        `k${String(at).padStart(3, '0')}`,
        { t: chars.flatMap((char) => [`${char}${char}1`, `${char.normalize('NFD')}2`]) },
      ],
    );
    await db.putMany(rows);
    const expected = entriesOfWrapper(indexes.words, rows);
    expect(expected.length).toBeGreaterThan(isDeep ? 50_000 : 5_000);
    expectSame(await db.scan({ index: 'words' }).toArray(), expected, 'scan');
    await db.close();
  });

  it('that look the same are the same word, composed or not, in the core and in the wrapper', async () => {
    const letters: string[] = [];
    for (const [from, to] of [
      [0xc0, 0x24f],
      [0x386, 0x4ff],
      [0x1e00, 0x1eff],
      [0xac00, 0xd7a3],
    ] as const) {
      for (let code = from; code <= to; code += from === 0xac00 && !isDeep ? 7 : 1) {
        const char = String.fromCodePoint(code);
        if (/\p{L}/u.test(char) && char.normalize('NFD') !== char) letters.push(char);
      }
    }
    expect(letters.length).toBeGreaterThan(2000);
    for (const char of letters) {
      expect(wordsOf(char), char).toEqual(wordsOf(char.normalize('NFD')));
      expect(wordsOf(char), char).toEqual([...new Set(modelWords(char))]);
    }
    // Each letter with each mark: most pairs have no composed form.
    const marks = Array.from({ length: 0x40 }, (_, at) => String.fromCharCode(0x300 + at));
    const bases = [...new Set(letters.flatMap((one) => [...one.normalize('NFD')].slice(0, 1)))];
    const pairs = sampled(bases).flatMap((base) => marks.map((mark) => `${base}${mark}`));
    const indexes = { words: { path: { words: '/t' } } };
    const db = await open('composed', { storage: memory(), indexes });
    const rows = [letters, letters.map((one) => one.normalize('NFD')), pairs].flatMap((all, way) =>
      // An array of many members would take long.
      Array.from({ length: Math.ceil(all.length / 500) }, (_, at): Entry => {
        const t = all.slice(500 * at, 500 * (at + 1));
        return [`k${way}/${String(at).padStart(4, '0')}`, { t }];
      }),
    );
    await db.putMany(rows);
    expectSame(
      await db.scan({ index: 'words' }).toArray(),
      entriesOfWrapper(indexes.words, rows),
      'scan',
    );
    await db.close();
  });

  it('of a long text are cut, and count as members of an array do', async () => {
    const indexes = { words: { path: { words: '' } } };
    const db = await open('long', { storage: memory(), indexes });
    const many = (count: number) => Array.from({ length: count }, (_, at) => `w${at}`).join(' ');
    const rows: Entry[] = [
      ['cut', `${'é'.repeat(64)}x ${'é'.repeat(64)}y`],
      ['few', many(2000)],
      ['many', many(40_000)],
    ];
    await db.putMany(rows);
    const expected = entriesOfWrapper(indexes.words, rows);
    expect(expected.length).toBe(2001);
    expect(await db.scan({ index: 'words' }).toArray()).toEqual(expected);
    expect(await db.scan({ index: 'words', prefix: 'é' }).keys().toArray()).toEqual(['cut']);
    await db.close();
  });

  it('are searched by the same rules', async () => {
    const indexes = { words: { path: [{ words: '/title' }, '/at'] } };
    const db = await open('search', { storage: memory(), indexes });
    await db.putMany([
      ['a', { title: 'Der Fluß, das ÖL', at: 3 }],
      ['b', { title: 'Öl & Essig', at: 1 }],
      ['c', { title: 'ÖLPREIS', at: 2 }],
    ]);
    const [word] = wordsOf('Öl!');
    const found = (range: object) =>
      db
        .scan({ index: 'words', ...range })
        .keys()
        .toArray();
    expect(await found({ equals: word })).toEqual(['b', 'a']);
    expect(await found({ equals: [word as string], gte: 2 })).toEqual(['a']);
    expect(await found({ prefix: word })).toEqual(['b', 'a', 'c']);
    await db.close();
  });
});

const TEXTS = [
  '',
  '.',
  'Hello, World',
  'é É',
  'İI',
  'ΣΑΣ',
  'a\0b',
  '\ud800',
  '😀 x',
  '～',
  'x'.repeat(1100),
];
const NAMES = ['a', 'b', '~v'];
const PATHS = ['/a', '/b', '/~0v', '/a/0', '/b/a', ''];

function scalar(from: Random): unknown {
  return from.pick([
    () => from.pick(TEXTS),
    () => from.pick(TEXTS) + from.text(6),
    () => from.below(4) - 1,
    () => from.below(2) === 0,
    () => null,
  ])();
}

function someValue(from: Random, depth = 2): unknown {
  const kind = from.below(depth > 0 ? 6 : 3);
  if (kind < 3) return scalar(from);
  const size = from.below(4);
  if (kind === 3) return Array.from({ length: size }, () => someValue(from, depth - 1));
  return Object.fromEntries(
    from
      .shuffle(NAMES)
      .slice(0, size)
      .map((name) => [name, someValue(from, depth - 1)]),
  );
}

function definitionOf(from: Random): IndexDefinition {
  const columns = Array.from({ length: 1 + from.below(3) }, () => from.pick(PATHS));
  const words = from.below(2 * columns.length);
  const path = columns.map((column, at) => (at === words ? { words: column } : column));
  return {
    path: path.length === 1 ? (path[0] as string) : path,
    ...(from.below(3) === 0 && { prefix: 'k' }),
    ...(from.below(2) === 0 && { nulls: from.below(4) > 0 }),
    ...(from.below(2) === 0 && { below: from.pick([1, 'c', 'é', true, false, '', '\0', -0.5]) }),
  };
}

it('stored indexes have the entries that the wrapper and the model make', async () => {
  const made = { entries: 0, nulls: 0 };
  await forSeeds(40, async (from, seed, begin) => {
    const definitions: IndexDefinitions = Object.fromEntries(
      Array.from({ length: 6 }, (_, at) => [`i${at}`, definitionOf(from)]),
    );
    begin({ definitions });
    const db = await open(`entries ${seed}`, { storage: memory(), indexes: definitions });
    const rows = new Map<string, unknown>();
    for (let step = 0; step < 4; step++) {
      const many = Array.from({ length: from.pick([1, 1, 30]) }, (): Entry => {
        const value = from.below(20) === 0 ? new Uint8Array([1]) : someValue(from);
        return [from.pick(['k', 'j']) + from.below(40), value];
      });
      for (const [key, value] of many) rows.set(key, value);
      if (many.length === 1) await db.put(...(many[0] as Entry));
      else await db.putMany(many);
      const all = sorted(rows);
      for (const [index, definition] of Object.entries(definitions)) {
        const stored = await db.scan({ index }).toArray();
        expectSame(stored, entriesOfWrapper(definition, all), `${index} of the wrapper`);
        const long = ([key, , secondary]: IndexedEntry) =>
          JSON.stringify([secondary, key]).length < 900;
        expectSame(
          stored.filter(long),
          entriesOfRows(definition, all).filter(long),
          `${index} of the model`,
        );
        made.entries += stored.length;
        made.nulls += stored.filter(([, , secondary]) => [secondary].flat().includes(null)).length;
        const keys = await db.scan({ index, reverse: true }).keys().toArray();
        expect(keys).toEqual(stored.map(([key]) => key).reverse());
        if (stored.length === 0) continue;
        const [key, value, secondary] = from.pick(stored);
        const at = await db.rank([secondary, key], { index });
        expect(
          comparePositions(
            [(stored[at] as IndexedEntry)[2], (stored[at] as IndexedEntry)[0]],
            [secondary, key],
          ),
        ).toBe(0);
        expect(await db.at(at, { index })).toEqual([key, value, secondary]);
        expect(await db.scan({ index, equals: secondary }).toArray()).toContainEqual([
          key,
          value,
          secondary,
        ]);
      }
    }
    expect(await db.health.verify({ checkIndexes: true })).toMatchObject({ ok: true, faults: [] });
    await db.close();
  });
  expect(Math.min(made.entries, made.nulls * 10)).toBeGreaterThan(100);
});
