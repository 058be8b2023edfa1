/** Rows that come as bytes have the roots of the same rows put as objects. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it, vi } from 'vitest';
import type { ByteSource } from '../../../src/base/byte-source.js';
import type { PutManyOptions } from '../../../src/engine/write/bulk-options.js';
import { memory, open } from '../../../src/index.js';
import { ofKind } from '../../support/error-kind.js';
import { all, type Entry, SOON } from '../../support/models/store-model.js';
import { random } from '../../support/random.js';

const encode = (text: string) => new TextEncoder().encode(text);

async function rootOf(source: ByteSource | Iterable<unknown>, options: PutManyOptions<unknown>) {
  const db = await open('bytes', { storage: memory() });
  const result = await db.putMany(source, options);
  expect(result.root).toBe(db.root);
  return { root: db.root, rows: result.rows };
}

/** Cuts bytes into parts at random. */
function* cut(bytes: Uint8Array, next: () => number, longest: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; ) {
    const length = 1 + Math.floor(next() * longest);
    // A buffer that is used again: `putMany` copies its bytes at once.
    yield bytes.slice(at, at + length);
    at += length;
  }
}

async function* later<T>(parts: Iterable<T>): AsyncGenerator<T> {
  for (const part of parts) {
    await new Promise((resolve) => setImmediate(resolve));
    yield part;
  }
}

const NUMBERS = [
  0,
  -0,
  1,
  -1,
  0.1,
  1e21,
  1e-7,
  123456789012345680000,
  5e-324,
  1.7976931348623157e308,
  2 ** 53,
  0.30000000000000004,
  1 / 3,
  4.35,
  1e300,
  -1.5e-9,
];

/** Makes a JSON value of any shape. */
function anyValue(next: () => number, depth = 0): unknown {
  const pick = Math.floor(next() * (depth < 4 ? 9 : 6));
  const length = Math.floor(next() * 5);
  const text = () =>
    String.fromCodePoint(
      ...Array.from(
        { length },
        () => [0x61, 0x22, 0x5c, 0x0a, 0xe9, 0x1f600, 0xd800][Math.floor(next() * 7)] ?? 1,
      ),
    );
  if (pick === 0) return null;
  if (pick === 1) return next() < 0.5;
  if (pick === 2) return NUMBERS[Math.floor(next() * NUMBERS.length)];
  if (pick === 3) return (next() - 0.5) * 10 ** Math.floor(next() * 40 - 20);
  if (pick < 6) return text();
  if (pick === 6) return Array.from({ length }, () => anyValue(next, depth + 1));
  return Object.fromEntries(
    Array.from({ length }, (_, at) => [
      next() < 0.4 ? String(Math.floor(next() * 12)) : `${text()}${at}`,
      anyValue(next, depth + 1),
    ]),
  );
}

/** Returns the text of a value with spaces, escapes and other forms of its numbers. */
function ornate(value: unknown, next: () => number): string {
  const space = () => [' ', '', '\t', ' ', ''][Math.floor(next() * 5)] ?? '';
  if (typeof value === 'number') {
    if (Object.is(value, -0)) return '-0.0';
    const exact = String(value);
    const forms = [exact, value.toExponential(), exact.includes('e') ? exact : `${exact}e0`];
    if (/^-?\d+\.\d+$/.test(exact)) forms.push(`${exact}00`, `${exact}E+0`);
    return forms.map((form) => form.replace('e+', 'E'))[Math.floor(next() * forms.length)] ?? exact;
  }
  if (typeof value === 'string') {
    const escaped = Array.from({ length: value.length }, (_, at) => {
      const unit = value.charCodeAt(at).toString(16).padStart(4, '0');
      if (next() < 0.5) return `\\u${next() < 0.5 ? unit.toUpperCase() : unit}`;
      return value[at] === '/' ? '\\/' : JSON.stringify(value[at]).slice(1, -1);
    });
    // Two adjacent halves of a pair are one character, in any spelling.
    return /[\ud800-\udfff]/.test(value) ? JSON.stringify(value) : `"${escaped.join('')}"`;
  }
  if (Array.isArray(value)) {
    const members = value.map((member) => space() + ornate(member, next) + space());
    return `[${members.join(',') || space()}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([name, member]) =>
        `${space()}${ornate(name, next)}${space()}:${space()}${ornate(member, next)}${space()}`,
    );
    // The last of repeated members counts, at the place of the first.
    const [first] = members;
    if (first !== undefined && next() < 0.3) members.push(first);
    return `{${members.join(',') || space()}}`;
  }
  return JSON.stringify(value);
}

describe('bytes and objects have one root', () => {
  it('in the form that Python prints', async () => {
    const file = await readFile(new URL('fixtures/python.ndjson', import.meta.url));
    const rows = file
      .toString()
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    const expected = await rootOf(rows, { key: '/id' });
    expect(await rootOf(file, { key: '/id' })).toEqual(expected);
    const array = encode(`[${file.toString().trimEnd().split('\n').join(',\n ')}]\n`);
    expect(await rootOf(array, { key: '/id' })).toEqual(expected);
  });

  for (let seed = 1; seed <= 40; seed++) {
    it(`in every form, seed ${seed}`, async () => {
      const next = random(seed).next;
      const count = 1 + Math.floor(next() * 200);
      const rows = Array.from({ length: count }, () => ({
        id: `k${Math.floor(next() * count)}`,
        value: anyValue(next),
      }));
      const lines = rows.map((row) => (next() < 0.5 ? JSON.stringify(row) : ornate(row, next)));
      // In the order of a parsed object: names that are numbers first.
      const parsed = lines.map((line): unknown => JSON.parse(line));
      const expected = await rootOf(parsed, { key: '/id', prefix: 'p/' });
      const [end, join] = next() < 0.5 ? ['\n', '\n'] : ['', '\r\n \n'];
      const ndjson = encode((next() < 0.3 ? '\ufeff' : '') + lines.join(join) + end);
      const json = encode(` [ ${lines.join(' ,\n')} ] `);
      const pairs = rows.map(({ id }, at) => `[${JSON.stringify(id)}, ${lines[at]}]`);
      const longest = [1, 7, 100, 100_000][Math.floor(next() * 4)] ?? 1;
      const options = { key: '/id', prefix: 'p/' };
      const same = async (source: ByteSource, by: PutManyOptions<unknown> = options) =>
        expect(await rootOf(source, by)).toEqual(expected);
      await same(cut(ndjson, next, longest));
      await same([...cut(ndjson, next, longest)]);
      await same(later(cut(json, next, 1000)), { ...options, format: 'json' });
      await same(new Blob([ndjson]), { ...options, format: 'ndjson' });
      await same(new Response(json));
      await same(encode(pairs.join('\n')), { prefix: 'p/' });
      await same(encode(`[${pairs.join(',')}]`).buffer, { prefix: 'p/' });
    });
  }

  it('in any order, over several runs, with repeated keys', async () => {
    const next = random(7).next;
    const rows = Array.from({ length: 60_000 }, (_, at) => ({
      id: `k${Math.floor(next() * 40_000)}`,
      at,
    }));
    const expected = await rootOf(rows, { key: '/id' });
    const text = rows.map((row) => JSON.stringify(row)).join('\n');
    expect(await rootOf(new Blob([text]), { key: '/id' })).toEqual(expected);
  });
});

describe('bytes of rows', () => {
  it('may be empty', async () => {
    const db = await open('empty', { storage: memory() });
    for (const source of ['', '\n', '[]', ' \ufeff'.trim()]) {
      expect((await db.putMany(encode(source), { key: '/id' })).rows).toBe(0);
      expect((await db.putMany(new Blob([source]), { key: '/id' })).rows).toBe(0);
    }
    expect((await db.putMany(new Response(null), { key: '/id' })).rows).toBe(0);
  });

  for (const [title, text, row, offset] of [
    ['a line that ends too early', '{"id":"b"}\n{"id":"c"', 1, 20],
    ['an array that ends too early', '[{"id":"b"},{"id":"c"}', 2, 22],
    ['a row without a key', '{"id":"b"}\n{"x":1}\n', 1, 11],
    ['a key that is a number', '{"id":5}', 0, 6],
    ['a key with half a pair', '{"id":"\\ud800"}', 0, 6],
    ['a key that is too long', `{"id":"${'k'.repeat(1025)}"}`, 0, 6],
    ['nesting that is too deep', `{"id":"b","v":${'['.repeat(600)}${']'.repeat(600)}}`, 0, 525],
    ['text after a row', '{"id":"b"},\n', 0, 10],
    ['what is no JSON', '<html>', 0, 0],
  ] as const) {
    it(`are refused for ${title}`, async () => {
      const db = await open('refused', { storage: memory() });
      await db.put('a', 1);
      const before: [string, Entry[]] = [db.root, await all(db)];
      const error = expect.objectContaining({ code: 'invalid-data', detail: 'row', row, offset });
      for (const longest of [3, 1000]) {
        const source = cut(encode(text), random(1).next, longest);
        await expect(db.putMany(source, { key: '/id' })).rejects.toEqual(error);
      }
      expect([db.root, await all(db)]).toEqual(before);
      expect((await db.health.stats()).segments).toBe(1);
    });
  }

  it('need a key by pointer, and a known format', async () => {
    const db = await open('options', { storage: memory() });
    const error = expect.objectContaining(ofKind('invalid-argument'));
    const blob = new Blob(['{"id":"a"}']);
    await expect(db.putMany(blob, { key: () => 'a' })).rejects.toEqual(error);
    await expect(db.putMany(blob, { key: 'id' })).rejects.toEqual(error);
    const format = 'csv' as 'json';
    await expect(db.putMany(blob, { key: '/id', format })).rejects.toEqual(error);
    await expect(db.putMany([['a', 1]], { format: 'json' })).rejects.toEqual(error);
    const missing = new Response('no', { status: 404 });
    const bad = expect.objectContaining({ code: 'remote', detail: 'response', status: 404 });
    await expect(db.putMany(missing, { key: '/id' })).rejects.toEqual(bad);
    const read = new Response('{"id":"a"}');
    await read.text();
    await expect(db.putMany(read, { key: '/id' })).rejects.toEqual(error);
  });

  it('are cancelled at their source', async () => {
    const db = await open('cancelled', { storage: memory() });
    for (const [text, code] of [
      ['{"id":"a"}\n', 'aborted'],
      ['nonsense\n', 'invalid-data/row'],
    ] as const) {
      const controller = new AbortController();
      let cancelled = false;
      const stream = new ReadableStream<Uint8Array>({
        pull(sink) {
          sink.enqueue(encode(text));
          if (code === 'aborted') setTimeout(() => controller.abort(), 5);
          return new Promise((resolve) => setTimeout(resolve, 1));
        },
        cancel() {
          cancelled = true;
        },
      });
      const put = db.putMany(stream, { key: '/id', signal: controller.signal });
      await expect(put).rejects.toEqual(expect.objectContaining(ofKind(code)));
      await vi.waitFor(() => expect(cancelled).toBe(true), SOON);
      expect(await db.count()).toBe(0);
    }
  });

  it('report their progress', async () => {
    const db = await open('progress', { storage: memory() });
    const text = Array.from(
      { length: 50_000 },
      (_, id) => `{"id":"k${id}","x":"${'x'.repeat(90)}"}\n`,
    ).join('');
    const fractions: (number | undefined)[] = [];
    const onProgress = ({ fraction }: { fraction?: number }) => fractions.push(fraction);
    const result = await db.putMany(new Blob([text]), { key: '/id', onProgress });
    expect(result).toMatchObject({ rows: 50_000, stats: { bytes: text.length } });
    expect(fractions.at(-1)).toBe(1);
    expect(fractions).toEqual([...fractions].sort());
    expect(fractions[0]).toBeLessThan(1);
  });
});
