// Figures of pages come from `docs/figures.json`: a figure that is unknown, differs or has no key is found.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { faultsOf, fill, readFigures, unkeyed } from '../lib/figures.mjs';
import { takeFigures } from '../lib/figures-take.mjs';
import { ROOT } from '../lib/run.mjs';

const ms = (value, more) => ({ value, unit: 'ms', run: 'life', ...more });
const DATA = {
  runs: {
    life: {
      date: '2026-11-26',
      command: 'npm run bench',
      what: '100,000 rows',
      machine: '2 cores',
      browser: 'Chromium 156',
      indexedDb: 'LevelDB',
    },
    size: { date: '2026-11-29', command: 'node scripts/check-size.mjs', what: 'bytes' },
  },
  products: { hedgerow: 'Hedgerow', dexie: 'Dexie', opfs: 'SQLite' },
  rows: { load: 'load', get: 'gets', put: 'one put' },
  figures: {
    'load.hedgerow': ms(212),
    'load.dexie': ms(4410),
    'load.dexie.ratio': { value: 21.4, unit: 'x', run: 'life' },
    'put.hedgerow': ms(0.79),
    'put.dexie': ms(0.575, { note: 'not stored' }),
    'get.hedgerow': { value: 215_657, unit: 'per second', run: 'life' },
    'get.dexie': { value: 7472, unit: 'per second', run: 'life' },
    'size.start': { value: 159, unit: 'KB', run: 'size' },
  },
};

test('a figure is written after its key, with its unit, three digits of it', () => {
  const page =
    'A <!-- =load.hedgerow -->, <!-- =get.hedgerow -->1 a second, **<!-- =size.start -->9 KB**.';
  const { text, unknown, keys } = fill(page, DATA);
  assert.equal(
    text,
    'A <!-- =load.hedgerow -->212 ms, <!-- =get.hedgerow -->216,000 a second, **<!-- =size.start -->159 KB**.',
  );
  assert.deepEqual(unknown, []);
  assert.equal(keys, 3);
  assert.deepEqual(fill(text, DATA).differing, []);
});

test('an unknown key is a fault, and its text stays', () => {
  const page = 'It takes <!-- =load.nobody -->7 ms';
  const { text, unknown } = fill(page, DATA);
  assert.deepEqual(unknown, ['docs/figures.json has no load.nobody']);
  assert.equal(text, page);
});

test('a text that differs is a fault, by its number, its unit, or the text after it', () => {
  for (const told of ['213 ms', '212 s', '212', '212 msec', '2,120 ms', '']) {
    const { differing } = fill(`It takes <!-- =load.hedgerow -->${told}`, DATA);
    assert.equal(differing.length, 1, told);
  }
});

test('a line that begins with a key is a fault: Markdown takes it for HTML', () => {
  assert.equal(fill('It takes\n<!-- =load.hedgerow -->212 ms.', DATA).unknown.length, 1);
  assert.equal(fill('It takes\nonly <!-- =load.hedgerow -->212 ms.', DATA).unknown.length, 0);
});

const TABLE = `<!-- figures as=ratios rows=load,put,get columns=hedgerow,dexie,opfs -->
<!-- end of figures -->`;

test('a table has a row for each case, the best bold, and its run below', () => {
  const { text } = fill(TABLE, DATA);
  assert.deepEqual(text.split('\n').slice(2, -2), [
    'The other columns say how many times slower or larger than Hedgerow a library is. Below 1 x Hedgerow loses. The best is bold.',
    '',
    '| | Hedgerow | Dexie | SQLite |',
    '|---|---|---|---|',
    '| load | **212 ms** | 21 x |  |',
    '| one put | 0.79 ms | **0.73 x**, not stored |  |',
    '| gets | **216,000 a second** | 29 x |  |',
    '',
    'Chromium 156, IndexedDB on LevelDB, 2 cores: 100,000 rows, `npm run bench`, 26 November 2026.',
  ]);
  assert.deepEqual(fill(text, DATA).differing, []);
  assert.match(fill(TABLE.replace('ratios', 'values'), DATA).text, /\| 4,410 ms \|/);
});

test('a table that was changed by hand, is unknown, or mixes runs is a fault', () => {
  const { text } = fill(TABLE, DATA);
  assert.equal(fill(text.replace('21 x', '22 x'), DATA).differing.length, 1);
  for (const [from, to] of [
    ['as=ratios', 'as=guesses'],
    ['rows=load', 'rows=lode'],
    ['hedgerow,dexie', 'hedgerow,dixie'],
  ]) {
    assert.equal(fill(TABLE.replace(from, to), DATA).unknown.length, 1, to);
  }
  const mixed = structuredClone(DATA);
  mixed.figures['load.dexie'].run = 'size';
  assert.deepEqual(fill(TABLE, mixed).unknown, ['the figures of load are of several runs']);
});

test('a number with a unit and without a key is found, outside of code, tables of figures and links', () => {
  for (const told of ['8 ms', '1.5 s', '159 KB', '3 MiB', '7 MB', '900 rows a second', '21 x']) {
    assert.deepEqual(unkeyed(`It takes ${told}.`), [told]);
  }
  const { text } = fill(`<!-- =load.hedgerow -->\n\n${TABLE}`, DATA);
  const code =
    '\n\n```ts\nawait rest(8 ms);\n```\n\n`8 ms` [a](b.md#8 ms) 20,000 rows, 0.1, 3 tabs';
  assert.deepEqual(unkeyed(text + code), []);
});

test('a figure has an existing run, and a run of a browser names the backend of IndexedDB', () => {
  assert.deepEqual(faultsOf(DATA), []);
  const broken = structuredClone(DATA);
  delete broken.runs.life.indexedDb;
  broken.figures['load.dexie'].run = 'lost';
  broken.figures['put.dexie'].value = undefined;
  assert.deepEqual(faultsOf(broken), [
    'run life has no indexedDb',
    'load.dexie is of the run lost, which is not there',
    'put.dexie has no value or no unit',
  ]);
});

const figure = (median) => ({ median, min: median, max: median });
const REPORT = {
  engine: 'chromium',
  startedAt: '2026-12-01T10:00:00.000Z',
  options: { rows: 100_000, rounds: 3, only: ['life', 'frames'] },
  rowBytes: 148.6,
  browser: { product: 'Chrome/157.0.8078.79', indexedDb: 'sqlite' },
  machine: { cores: 2, cpu: 'AMD EPYC' },
  cases: [
    {
      name: 'put',
      unit: 'ms',
      rows: 100_000,
      ours: { name: 'hedgerow', kind: 'ours', ...figure(0.81234) },
      floor: null,
      peers: [
        { name: 'Dexie', kind: 'peer', ...figure(0.5), overOurs: figure(0.61) },
        { name: 'sqlite-wasm OPFS, WAL', kind: 'peer', reason: 'none' },
      ],
      variants: [],
    },
  ],
};

test('figures of a result replace the figures of a run, and keep their notes', () => {
  const { runs, figures } = takeFigures(DATA, REPORT, 'life');
  assert.deepEqual(figures, {
    'put.dexie': { value: 0.5, unit: 'ms', run: 'life', note: 'not stored' },
    'put.dexie.ratio': { value: 0.61, unit: 'x', run: 'life' },
    'put.hedgerow': { value: 0.812, unit: 'ms', run: 'life' },
    'size.start': DATA.figures['size.start'],
  });
  assert.deepEqual(runs.life, {
    date: '2026-12-01',
    command: 'npm run bench -- --rounds 3 --only life,frames',
    what: '100,000 rows of 149 bytes',
    machine: '2 cores (AMD EPYC)',
    browser: 'Chromium 157',
    indexedDb: 'SQLite',
  });
});

test('other numbers of rows have keys of their own', () => {
  const report = structuredClone(REPORT);
  report.cases[0].rows = 1_000_000;
  const { figures } = takeFigures(DATA, report, 'million');
  assert.equal(figures['put-1000000.hedgerow'].value, 0.812);
  assert.equal(figures['put.hedgerow'].value, 0.79);
});

test('the published figures are without a fault, and the pages show them', () => {
  const data = readFigures();
  assert.deepEqual(faultsOf(data), []);
  const { unknown, differing, keys } = fill(readFileSync(join(ROOT, 'README.md'), 'utf8'), data);
  assert.deepEqual([...unknown, ...differing], []);
  assert.ok(keys > 3);
});
