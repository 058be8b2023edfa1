/** Bytes that JavaScript cuts into rows, for tables that change rows on their way in: as the core cuts them. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type HedgerowError, memory, open, rowType, table } from '../../../src/index.js';
import { JsonRowSplitter } from '../../../src/store/tables/json-row-splitter.js';
import type { StandardSchema } from '../../../src/store/tables/standard-schema.js';
import { kindOf } from '../../support/error-kind.js';
import { forSeeds, hasAllSeeds } from '../../support/property.js';
import type { Random } from '../../support/random.js';

type Row = Record<string, unknown>;

const encoder = new TextEncoder();
const bytesOf = (text: string) => encoder.encode(text);

/** Cuts bytes that come in parts; each part is overwritten once it was taken, as sources do. */
function cutRows(parts: readonly Uint8Array[], format?: 'ndjson' | 'json', mostBytes?: number) {
  const cutter = new JsonRowSplitter(format, mostBytes);
  const rows: unknown[] = [];
  try {
    for (const part of parts) {
      const lent = new Uint8Array(part);
      cutter.add(lent);
      lent.fill(0x21);
      rows.push(...cutter.take());
    }
    cutter.end();
    for (let taken = cutter.take(); taken.length > 0; taken = cutter.take()) rows.push(...taken);
  } catch (cause) {
    const { row } = cause as HedgerowError;
    return { rows, fault: { code: kindOf(cause), row } };
  }
  return { rows, fault: undefined };
}

const halves = (bytes: Uint8Array, at: number) => [bytes.subarray(0, at), bytes.subarray(at)];

/** Parts of random lengths, mostly short ones, some empty. */
function someParts(from: Random, bytes: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = [];
  const most = from.pick([1, 3, 20, 500, bytes.length + 1]);
  for (let at = 0; at < bytes.length; ) {
    const length = from.below(most + 1);
    parts.push(bytes.subarray(at, at + length));
    at += length;
  }
  return parts;
}

const SPACES = ['', '', '', ' ', '\t', '\r', ' \t '];
const space = (from: Random) => from.pick(SPACES);

function someRow(from: Random): Row {
  const id = from.next() < 0.9 ? `${from.below(50)}` : from.text(8);
  return { ...(from.value(3) as object), [from.text(3)]: from.value(2), id };
}

/** A text of rows with spaces around each token that may have them. */
function someText(from: Random, rows: readonly Row[], format: 'ndjson' | 'json'): string {
  const texts = rows.map((row) =>
    JSON.stringify(row, undefined, format === 'json' ? from.below(3) : 0),
  );
  const mark = from.next() < 0.2 ? '\ufeff' : '';
  if (format === 'ndjson') {
    const lines = texts.flatMap((text) => [
      ...(from.next() < 0.1 ? [space(from)] : []),
      `${space(from)}${text}${space(from)}`,
    ]);
    return mark + lines.join('\n') + from.pick(['', '\n', '\n\n', '\r\n']);
  }
  const pad = () => space(from) + from.pick(['', '', '\n']);
  const list = texts.map((text) => `${pad()}${text}${pad()}`).join(',');
  return `${mark}${pad()}[${list}${pad()}]${pad()}`;
}

describe('bytes are cut into rows', () => {
  it('at every place, and give the rows of JSON.parse', () => {
    const rows = [{ id: 'a"\\', n: [1, { x: '}]' }] }, { id: 'é中😀\\"', t: '\\\\' }, { id: '' }];
    const texts = {
      array: JSON.stringify(rows),
      spaced: `\ufeff ${JSON.stringify(rows, undefined, 1)} \n`,
      lines: rows.map((row) => JSON.stringify(row)).join('\n'),
      windows: `\ufeff${rows.map((row) => ` ${JSON.stringify(row)}\t`).join('\r\n\r\n \n')}\r\n`,
    };
    for (const [name, text] of Object.entries(texts)) {
      const bytes = bytesOf(text);
      for (let at = 0; at <= bytes.length; at++) {
        expect(cutRows(halves(bytes, at)), `${name} at ${at}`).toEqual({ rows, fault: undefined });
      }
      const single = Array.from(bytes, (byte) => Uint8Array.of(byte));
      expect(cutRows(single), name).toEqual({ rows, fault: undefined });
    }
  });

  it('at random places, of random rows', () =>
    forSeeds(300, async (from) => {
      const rows = Array.from({ length: from.below(12) }, () => someRow(from));
      const format = from.pick(['ndjson', 'json'] as const);
      const bytes = bytesOf(someText(from, rows, format));
      const given = rows.length === 0 || from.next() < 0.5 ? format : undefined;
      const parsed = JSON.parse(JSON.stringify(rows)) as Row[];
      expect(cutRows(someParts(from, bytes), given)).toEqual({ rows: parsed, fault: undefined });
    }));

  it.each([
    ['', undefined],
    [' \r\n\t', undefined],
    ['\ufeff', undefined],
    ['[]', undefined],
    ['\ufeff [ \n ] \n', undefined],
    ['', 'json'],
    ['\n', 'ndjson'],
  ] as const)('%j in the format %s has no rows', (text, format) => {
    const bytes = bytesOf(text);
    for (let at = 0; at <= bytes.length; at++) {
      expect(cutRows(halves(bytes, at), format)).toEqual({ rows: [], fault: undefined });
    }
  });

  it.each([
    ['{"id":1}\n{"id":2', undefined, 1],
    ['{"id":1}\n{"id":2}}\n{"id":3}', undefined, 1],
    ['{"id":1}\n\n{"id":2}{"id":3}', undefined, 1],
    ['{"id":1}\n,', undefined, 1],
    ['{"id":1},\n{"id":2}', undefined, 0],
    ['[{"id":1},{"id":2}', undefined, 2],
    ['[{"id":1},{"id":2},', undefined, 2],
    ['[{"id":1},{"id":2},]', undefined, 2],
    ['[{"id":1},,{"id":2}]', undefined, 1],
    ['[,{"id":1}]', 'json', 0],
    ['[{"id":1} {"id":2}]', undefined, 1],
    ['[{"id":1}{"id":2},{"id":3}]', undefined, 1],
    ['[{"id":1}] x', undefined, 1],
    ['[{"id":1}][{"id":2}]', undefined, 1],
    ['[{"id":1}}', undefined, 1],
    ['[{"id":1]]', undefined, 0],
    ['[', undefined, 0],
    ['[{', undefined, 0],
    ['[{"id":"', undefined, 0],
    ['[{"id":"\\', undefined, 0],
    ['[{"id":1}', undefined, 1],
    ['{"id":1}', 'json', 0],
    ['x', 'json', 0],
    ['[\n1]', undefined, 0],
    ['[{"id":1},\n{"id":2}]', 'ndjson', 0],
    ['\ufeff\ufeff{"id":1}', undefined, 0],
    ['{"id":1}\n\u00a0', undefined, 1],
    ['{"id":01}', undefined, 0],
    ['{"id":"\n"}', undefined, 0],
    ['{"id":"\u0001"}', undefined, 0],
    ["{'id':1}", undefined, 0],
    ['nul', undefined, 0],
  ] as const)('%j in the format %s is refused at row %4$i', (text, format, row) => {
    const bytes = bytesOf(text);
    for (let at = 0; at <= bytes.length; at++) {
      const { rows, fault } = cutRows(halves(bytes, at), format);
      expect(fault, `cut at ${at}`).toEqual({ code: 'invalid-data/row', row });
      expect(rows.length).toBe(row);
    }
  });

  it('that are no UTF-8 only up to the row at fault', () => {
    for (const [start, middle, end] of [
      ['[{"id":"é"},', ',', ']'],
      ['{"id":"é"}\n', '\n', '\n'],
    ] as const) {
      for (const broken of [
        [0xff],
        [0xc3],
        [0xe4, 0xb8],
        [0xed, 0xa0, 0x80],
        [0xf5, 0x80, 0x80, 0x80],
      ]) {
        const row = [...bytesOf('{"id":"'), ...broken, ...bytesOf('"}')];
        const bytes = new Uint8Array([
          ...bytesOf(start),
          ...row,
          ...bytesOf(middle),
          ...bytesOf('{}'),
          ...bytesOf(end),
        ]);
        for (let at = 0; at <= bytes.length; at++) {
          const expected = {
            rows: [{ id: 'é' }],
            fault: { code: 'invalid-data/row', row: 1 },
          };
          expect(cutRows(halves(bytes, at))).toEqual(expected);
        }
      }
    }
  });

  it('with a row above the limit are refused, and the row is not kept', () => {
    for (const [start, end] of [
      ['[{"id":1},', ',{"id":2}]'],
      ['{"id":1}\n', '\n{"id":2}'],
    ] as const) {
      const long = (length: number) => `{"id":"${'x'.repeat(length)}"}`;
      const parts = (text: string) => {
        const bytes = bytesOf(text);
        return Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) =>
          bytes.subarray(7 * at, 7 * at + 7),
        );
      };
      expect(cutRows(parts(start + long(300) + end), undefined, 400).fault).toBeUndefined();
      const { rows, fault } = cutRows(parts(start + long(500) + end), undefined, 400);
      expect([rows, fault]).toEqual([[{ id: 1 }], { code: 'invalid-data/row', row: 1 }]);
      // Spaces do not belong to a row.
      const spaced = `${start}${' '.repeat(5000)}{"id":3}${end}`;
      expect(cutRows(parts(spaced), undefined, 400).fault).toBeUndefined();
    }
  });

  it('with one copy of each part, also one row of many parts', () => {
    const parts = 16_000;
    const part = bytesOf('x'.repeat(1024));
    let copied = 0;
    const prototype = Object.getPrototypeOf(Uint8Array.prototype);
    const { set } = prototype;
    const copies = vi.spyOn(prototype, 'set').mockImplementation(function (
      this: unknown,
      ...[source, at]: unknown[]
    ) {
      copied += (source as Uint8Array).length;
      set.call(this, source, at);
    });
    onTestFinished(() => copies.mockRestore());
    const cutter = new JsonRowSplitter(undefined);
    cutter.add(bytesOf('[{"id":"'));
    for (let at = 0; at < parts; at++) cutter.add(part);
    cutter.add(bytesOf('"}]'));
    cutter.end();
    const [row] = cutter.take() as [{ id: string }];
    expect(row.id.length).toBe(parts * 1024);
    // They are joined once, at the end. A join at each part would copy 8,000 times as much.
    expect(copied).toBeGreaterThan(0);
    expect(copied).toBeLessThan(2 * parts * 1024);
  });
});

/** Returns rows as they are, so that the store does not get the bytes. */
const asIs: StandardSchema<Row> = {
  '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value: value as Row }) },
};

const SEEDS = 400;

async function stores() {
  const plain = table({ schema: rowType<{ id: string }>(), key: 'id' });
  const checked = table({ schema: asIs as StandardSchema<{ id: string }>, key: 'id' });
  const storage = memory();
  const one = await open('plain', { storage, tables: { rows: plain } });
  const other = await open('checked', { storage, tables: { rows: checked } });
  const tried = async (db: typeof one, parts: Uint8Array[], format?: 'json' | 'ndjson') => {
    try {
      const { rows } = await db.rows.putMany(parts, format && { format });
      return { count: rows, rows: await db.scan().toArray() };
    } catch (cause) {
      const { row, table, message } = cause as HedgerowError;
      return { code: kindOf(cause), row, table, message };
    } finally {
      await db.clear();
    }
  };
  return {
    /** Returns the outcome of bytes by the core, and by JavaScript. */
    async both(parts: Uint8Array[], format?: 'json' | 'ndjson') {
      return [await tried(one, parts, format), await tried(other, parts, format)] as const;
    },
    async close() {
      await one.close();
      await other.close();
    },
  };
}

describe('the core takes, and refuses, the same bytes', () => {
  it('random ones, after changes to some bytes', async () => {
    const { both, close } = await stores();
    const tally = { taken: 0, refused: 0, later: 0 };
    await forSeeds(SEEDS, async (from, _, begin) => {
      const format = from.pick(['ndjson', 'json'] as const);
      const rows = Array.from({ length: from.below(6) }, () => someRow(from));
      let bytes = bytesOf(someText(from, rows, format));
      for (let faults = from.below(3); faults > 0 && bytes.length > 0; faults--) {
        const at = from.below(bytes.length);
        const byte = from.pick([...bytesOf(' \n\t\r,:[]{}"\\e1-.0tnu'), 0, 0xa0, 0xc3, 0xed, 0xff]);
        const [keep, drop] = from.pick([
          [[byte], 0],
          [[byte], 1],
          [[], 1],
          [[], 5],
        ] as [number[], number][]);
        bytes = new Uint8Array([...bytes.subarray(0, at), ...keep, ...bytes.subarray(at + drop)]);
      }
      begin(new TextDecoder().decode(bytes));
      const given = from.pick([undefined, undefined, format, 'ndjson', 'json'] as const);
      const [core, own] = await both(someParts(from, bytes), given);
      if (core.code === undefined) {
        tally.taken += 1;
        expect(own).toEqual(core);
        return;
      }
      tally.refused += 1;
      if ((core.row as number) > 0) tally.later += 1;
      expect(kindOf(own)).toMatch(/^invalid-/);
      // JavaScript refuses values that JSON.parse takes with their slice: another row may be refused first.
      if (/number is too large|surrogate/.test(core.message as string)) return;
      expect({ row: own.row, table: own.table }).toEqual({ row: core.row, table: 'rows' });
    });
    await close();
    if (hasAllSeeds(SEEDS)) {
      expect(Math.min(tally.taken, tally.refused, tally.later)).toBeGreaterThan(SEEDS / 20);
    }
  });
});
