/** The forms in which the inspector shows values, definitions, differences, locks and times. */
import { describe, expect, it } from 'vitest';
import { failure } from '../../hedgerow/test/support/models/store-model.js';
import { forSeeds } from '../../hedgerow/test/support/property.js';
import { definitionOf, titleOf, treesIn } from '../src/model/commit-trees.js';
import { linesBetween } from '../src/model/line-diff.js';
import { locksOf } from '../src/model/lock-list.js';
import { hashOf, parsePageAddress } from '../src/model/page-address.js';
import { joinBars, packBars, TimeLine } from '../src/model/page-work-timeline.js';
import { parseSearch } from '../src/model/parse-row-search.js';
import {
  dumpOf,
  editableOf,
  formatValue,
  previewOf,
  sizeText,
  valueFrom,
} from '../src/model/value-text.js';
import { TRACED } from '../src/trace/cross-window-trace-types.js';

describe('values', () => {
  it('come back from the edited text', async () => {
    await forSeeds(100, async (from) => {
      const value = from.value();
      expect(valueFrom(editableOf(value), 'json')).toEqual(JSON.parse(JSON.stringify(value)));
      const bytes = from.bytes(from.below(70));
      expect(valueFrom(editableOf(bytes), 'bytes')).toEqual(new Uint8Array(bytes));
    });
  });

  it('are shown in the form of their kind', () => {
    expect(formatValue({ a: [1] })).toBe('{\n  "a": [\n    1\n  ]\n}');
    expect(dumpOf(new TextEncoder().encode('Hedgerow is green\n'))).toBe(
      '00000000  48 65 64 67 65 72 6f 77 20 69 73 20 67 72 65 65  Hedgerow is gree\n' +
        '00000010  6e 0a                                            n.',
    );
    expect(dumpOf(new Uint8Array(40), 16)).toMatch(/\n… 24 bytes more$/);
    expect(previewOf('x'.repeat(300))).toHaveLength(161);
    expect(previewOf(Uint8Array.of(1, 255))).toBe('2 bytes: 01 ff');
    expect([0, 1023, 1024, 1536, 20 << 20].map(sizeText)).toEqual([
      '0 bytes',
      '1023 bytes',
      '1.0 KiB',
      '1.5 KiB',
      '20 MiB',
    ]);
  });

  it('are refused with the reason', () => {
    expect(() => valueFrom('{"a":', 'json')).toThrow(failure('invalid-argument/value'));
    for (const text of ['0', 'xy', '00 1']) {
      expect(() => valueFrom(text, 'bytes'), text).toThrow(failure('invalid-argument/value'));
    }
    expect(valueFrom(' 0A ff\n', 'bytes')).toEqual(Uint8Array.of(10, 255));
  });
});

describe('lines of two texts', () => {
  it('lead from each text to the other, and keep the common lines', async () => {
    await forSeeds(300, async (from) => {
      const text = () =>
        Array.from({ length: from.below(12) }, () => from.pick(['a', 'b', 'c'])).join('\n');
      const [before, after] = [text(), text()];
      const lines = linesBetween(before, after);
      const side = (other: string) =>
        lines.filter(({ op }) => op !== other).map((line) => line.text);
      expect(side('add').join('\n')).toBe(before);
      expect(side('del').join('\n')).toBe(after);
      if (before === after) expect(lines.every(({ op }) => op === 'same')).toBe(true);
    });
  });

  it('are as few as possible', () => {
    const ops = (before?: string, after?: string) =>
      linesBetween(before, after).map(({ op, text }) => `${op} ${text}`);
    expect(ops('{\n"a": 1,\n"b": 2\n}', '{\n"a": 1,\n"b": 3\n}')).toEqual([
      'same {',
      'same "a": 1,',
      'del "b": 2',
      'add "b": 3',
      'same }',
    ]);
    expect(ops(undefined, 'x')).toEqual(['add x']);
    expect(ops('x', undefined)).toEqual(['del x']);
  });

  it('of long texts are shown as replaced', () => {
    const long = (word: string) =>
      Array.from({ length: 1500 }, (_, n) => `${word} ${n}`).join('\n');
    expect(linesBetween(long('a'), long('b'))).toHaveLength(3000);
  });
});

describe('definitions', () => {
  it('are read from the names of trees, without guesses at unknown names', () => {
    expect(definitionOf('["","/a"]')).toEqual({ path: ['/a'] });
    expect(definitionOf('["t/","/a","w/b","?"]')).toEqual({
      path: ['/a', { words: '/b' }],
      prefix: 't/',
      nulls: true,
    });
    for (const text of ['', '{}', '[""]', '["","/a","!"]', '["", "/a"]', '["","a"]', '[1,"/a"]']) {
      expect(definitionOf(text), text).toBeUndefined();
    }
  });

  it('have titles', () => {
    expect(
      titleOf({ path: ['/state', { words: '/title' }], prefix: 'issue/', nulls: true, below: 3 }),
    ).toBe('/state, words of /title (rows issue/…; with nulls; below 3)');
    expect(titleOf({ path: '' })).toBe('the value');
  });

  it('of an index under construction include its number of entries', () => {
    const text = (value: string) => [...new TextEncoder().encode(value)];
    const tree = (name: string, count: number, ...reach: number[]) => [
      name.length,
      ...text(name),
      ...[count, 0, 0, 0, 0, 0, 0, 0],
      ...new Array(32).fill(0xab),
      ...reach,
    ];
    const trees = [tree('j["","/a"]', 7, 2, 0, ...text('k1')), tree('r', 9)].flat();
    const commit = [0xc0, 1, 2, 0, ...trees];
    const leaf = [4, 0, 0, 0, 0, 1, 0, 0];
    const proof = Uint8Array.from([0xf0, 1, commit.length, 0, 0, 0, ...commit, ...leaf]);
    const root = 'ab'.repeat(32);
    expect(treesIn(proof)).toEqual([
      {
        kind: 'index',
        name: '["","/a"]',
        count: 7,
        root,
        isComplete: false,
        definition: { path: ['/a'] },
      },
      { kind: 'rows', name: '', count: 9, root, isComplete: true },
    ]);
    // The bytes may be a part of a larger buffer.
    const buffer = new Uint8Array([9, 9, ...proof]);
    expect(treesIn(buffer.subarray(2))).toHaveLength(2);
    proof[2] = commit.length - 1;
    expect(() => treesIn(proof)).toThrow(failure('invalid-data/proof'));
  });

  it('of a malformed commit are refused', () => {
    expect(treesIn(Uint8Array.of(0xf0, 1))).toEqual([]);
    for (const bytes of [
      [0xf0, 1, 4, 0, 0, 0, 0, 1, 0, 0],
      [0xf0, 1, 4, 0, 0, 0, 0xc0, 1, 1, 0],
      [0xf0, 1, 9],
    ]) {
      expect(() => treesIn(Uint8Array.from(bytes))).toThrow(failure('invalid-data/proof'));
    }
  });
});

describe('searches', () => {
  it('are by the beginning of keys, and by values or beginnings of an index', () => {
    expect(parseSearch(undefined, '')).toEqual({});
    expect(parseSearch(undefined, '12')).toEqual({ prefix: '12' });
    expect(parseSearch('i', '')).toEqual({ index: 'i' });
    expect(parseSearch('i', '12')).toEqual({ index: 'i', equals: 12 });
    expect(parseSearch('i', '["open", 3]')).toEqual({ index: 'i', equals: ['open', 3] });
    expect(parseSearch('i', '"12"')).toEqual({ index: 'i', equals: '12' });
    expect(parseSearch('i', 'ope')).toEqual({ index: 'i', prefix: 'ope' });
    expect(parseSearch('i', '{"a":1}')).toEqual({ index: 'i', prefix: '{"a":1}' });
  });
});

describe('addresses', () => {
  it('come back as they were', () => {
    for (const shown of [
      { store: 'a/b &c', branch: 'drafts/ü', tab: 'compare' },
      { store: '', branch: undefined, tab: 'rows' },
    ] as const) {
      expect(parsePageAddress(hashOf(shown))).toEqual(shown);
    }
    expect(hashOf({ tab: 'rows' })).toBe('');
    expect(parsePageAddress('#store=a&tab=none')).toEqual({
      store: 'a',
      branch: undefined,
      tab: 'rows',
    });
  });
});

describe('locks', () => {
  it('belong to one store, and name their holders', () => {
    const lock = (name: string, clientId: string): LockInfo => ({ name, clientId, mode: 'shared' });
    const { locks, clients } = locksOf(
      {
        held: [
          lock('hedgerow/my%20app/collector', 'x'),
          lock('hedgerow/my%20app/pin/00ff', 'y'),
          lock('hedgerow/other/collector', 'z'),
          lock('of the app', 'x'),
        ],
        pending: [lock('hedgerow/my%20app/collector', 'y')],
      },
      'my app',
    );
    expect(locks.map(({ name, isHeld, client }) => [name, isHeld, client])).toEqual([
      ['collector', true, 'tab 1'],
      ['pin/00ff', true, 'tab 2'],
      ['collector', false, 'tab 2'],
    ]);
    expect(clients).toBe(2);
    expect(locks[1]?.means).toMatch(/reads/);
  });
});

describe('times', () => {
  it('are bars of long tasks and measures, on rows without overlaps', () => {
    const line = new TimeLine();
    let told = 0;
    const stop = line.subscribe(() => told++);
    line.take([
      { entryType: 'longtask', name: 'self', startTime: 10, duration: 60 },
      { entryType: 'measure', name: 'load', startTime: 0, duration: 100 },
      { entryType: 'mark', name: 'no bar', startTime: 0, duration: 0 },
    ]);
    stop();
    line.add({ kind: 'inspector', name: 'verify', startMs: 70, durationMs: 5 });
    expect(told).toBe(2);
    expect(packBars(line.bars).map(({ bar, row }) => [bar.name, row])).toEqual([
      ['load', 0],
      ['long task', 1],
      ['verify', 1],
    ]);
  });

  it('are kept up to a number', () => {
    const line = new TimeLine();
    for (let n = 0; n < 6500; n++)
      line.add({ kind: 'measure', name: `${n}`, startMs: n, durationMs: 1 });
    expect(line.bars).toHaveLength(6000);
    expect(line.bars[0]?.name).toBe('500');
  });

  it('too short to be visible are joined, with their number and the longest', () => {
    const slice = (startMs: number, durationMs: number) =>
      ({ kind: 'slice', name: 'slice', startMs, durationMs }) as const;
    const call = { kind: 'call', name: 'putMany', startMs: 0, durationMs: 90 } as const;
    const bars = [slice(0, 8), slice(9, 7), slice(17, 3), call, slice(60, 8), slice(75, 40)];
    const shown = joinBars(bars, 10).map(({ name, startMs, durationMs }) => [
      name,
      startMs,
      durationMs,
    ]);
    expect(shown.sort(([, a], [, b]) => Number(a) - Number(b))).toEqual([
      ['3 × slice, longest 8.0 ms', 0, 20],
      ['putMany', 0, 90],
      ['slice', 60, 8],
      ['slice', 75, 40],
    ]);
  });

  it('of traces are taken once, also from before the first look', () => {
    const bar = (name: string) => ({ kind: 'call', name, startMs: 0, durationMs: 1 }) as const;
    const traced = { store: 'a', bars: [bar('put')], count: 1, watches: () => [], links: () => [] };
    const page = { [TRACED]: new Set([traced]) } as unknown as Window & typeof globalThis;
    const line = new TimeLine();
    line.look();
    line.follow(page);
    line.look();
    line.look();
    traced.bars.push(bar('get'));
    traced.count += 1;
    line.look();
    // The same measure, as its browser reports it.
    line.take([{ entryType: 'measure', name: 'hedgerow: get', startTime: 0, duration: 1 }]);
    expect(line.bars.map(({ name }) => name)).toEqual(['put', 'get']);
    expect(line.traces).toEqual([traced]);
  });
});
