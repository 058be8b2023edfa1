// The benchmarks: the choice of engines, the result of a contestant that cannot take part, and the tables.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { readArguments } from '../../e2e/bench/lib/arguments.mjs';
import { summarize } from '../../e2e/bench/lib/figures.mjs';
import { glance } from '../../e2e/bench/lib/glance.mjs';
import { storedFiles } from '../../e2e/lib/engines/backend.mjs';
import { ENGINES } from '../../e2e/lib/engines/index.mjs';

test('only Chromium is measured, unless others are named', () => {
  assert.deepEqual(readArguments([]).engines, ['chromium']);
  assert.deepEqual(readArguments(['--engines', 'webkit,firefox']).engines, ['webkit', 'firefox']);
  assert.deepEqual(readArguments(['--engines', 'all']).engines, Object.keys(ENGINES));
  assert.throws(() => readArguments(['--engines', 'safari']), /no such engine: safari/);
  assert.throws(() => readArguments(['--engines', 'all', '--profile']), /for Chromium alone/);
});

const CONTESTANTS = [
  { name: 'hedgerow', kind: 'ours' },
  { name: 'fast', kind: 'peer' },
  { name: 'slow', kind: 'peer' },
  { name: 'opfs', kind: 'peer', missing: 'this browser has no OPFS' },
];
const sample = (value) => ({ load: { value } });
const round = new Map([
  ['hedgerow', sample(100)],
  ['fast', sample(50)],
  ['slow', sample(400)],
]);
const load = summarize(
  { name: 'load', title: 'a load', unit: 'ms' },
  CONTESTANTS,
  [round],
  new Map(),
  { rows: 10 },
);

test('a contestant that the browser cannot run is named with its reason', () => {
  assert.deepEqual(load.peers[2], {
    name: 'opfs',
    kind: 'peer',
    reason: 'this browser has no OPFS',
  });
});

test('the Markdown table shows multiples, those below 1 in bold, and the reasons below it', () => {
  const text = glance({
    browser: { product: 'A browser', indexedDb: 'sqlite' },
    machine: { cores: 2, cpu: 'a CPU', loadAverageBefore: 1, loadAverage: 2 },
    options: { rows: 10, rounds: 1 },
    startedAt: '2026-11-23T00:00:00.000Z',
    cases: [load],
  });
  assert.match(text, /^A browser, IndexedDB on sqlite; 10 rows, 1 rounds, 2026-11-23;$/m);
  assert.match(text, /^\| load \| 100 ms \| \*\*0\.50\*\* \| 4\.0 \|$/m);
  assert.match(text, /^- opfs: this browser has no OPFS \(load\)$/m);
});

test('the data files of pages are found in each engine', async (t) => {
  const profile = mkdtempSync(join(tmpdir(), 'hedgerow-profile-'));
  t.after(() => rmSync(profile, { recursive: true, force: true }));
  const files = {
    chromium: 'Default/IndexedDB/a.leveldb/MANIFEST-000001',
    'chromium-sqlite': 'Default/IndexedDB/b/0',
    firefox: 'storage/default/http+++a.localhost/idb/1.sqlite',
    webkit: 'storage/a/b/IndexedDB/c/IndexedDB.sqlite3',
    other: 'prefs.js',
  };
  for (const file of Object.values(files)) {
    mkdirSync(join(profile, dirname(file)), { recursive: true });
    writeFileSync(join(profile, file), '');
  }
  for (const engine of Object.keys(ENGINES)) {
    const found = await storedFiles(profile);
    assert.ok(found.includes(files[engine]), engine);
    assert.ok(!found.includes(files.other), engine);
  }
});
