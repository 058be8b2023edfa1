// Checks the size of the package against its budgets: all that a page downloads before its first row, and all that it
// downloads then for its first write, bundled, minified and gzipped. Prints the parts that are loaded later (proofs,
// verification, repair) separately. Entries that stand alone have their own budgets. The sizes that pages show are in
// `docs/figures.json`: `--write` updates them, and `node scripts/figures.mjs` then fills them in.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { refuseDevBuild } from './lib/dev-build.mjs';
import { readFigures, writeFigures } from './lib/figures.mjs';
import { INSPECTOR_PAGE } from './lib/inspector.mjs';
import { packageDir } from './lib/published.mjs';
import { runMain } from './lib/run.mjs';
import { WASM_FILE } from './lib/wasm.mjs';

/** Before the first row: the code that opens a store and reads. */
const START_BUDGET_BYTES = 45_000;
/** Before the first row of a table that an index finds. */
const TABLE_BUDGET_BYTES = 60_000;
/** For the core and the code of writes, which follow. */
const WRITE_BUDGET_BYTES = 128_000;
/** For the scripts that a page fetches before its first row with `hedgerow/slim`, and the WebAssembly that follows. */
const SLIM_BUDGET_BYTES = 162_900;
/** For its scripts alone: it exposes a module that is inlined by mistake. */
const SLIM_SCRIPT_BUDGET_BYTES = 47_300;
/** The entries that a page can load without a store. */
const ENTRIES = [
  {
    name: 'sum-proof',
    file: 'proofs.js',
    of: 'sumKey, verifySumProof, verifySumProofs',
    budget: 6_000,
  },
  // The only code of a page whose store is in a worker.
  { name: 'worker', file: 'worker/index.js', of: 'connect', budget: 10_300 },
  // All of it: a bundler keeps the transports and remotes that an app uses.
  { name: 'sync', file: 'sync/index.js', budget: 20_000 },
  { name: 'encryption', file: 'sync/encryption/index.js', budget: 21_300 },
];
/** For the page of the inspector, which is no part of an app. */
const INSPECTOR_PAGE_BUDGET_BYTES = 371_000;
/** Other rooms, except the requests that both kinds of own servers share. */
const NOT_WIRE = /^\.\.\/(?!wire\/|link\/apply-pull-patch)/;
/** Other rooms than the worker, whose folders are the two sides. */
const NOT_WORKER = /^(\.\.\/)+(?!page\/|host\/)[a-z]+\//;
/** Other rooms, and packages. */
const PACKAGES = /^(\.\.\/|[a-z@])/;
/**
 * Code that is loaded later, without the code that is loaded by then; `later` is the budget of the parts that such code
 * loads in its turn.
 */
const ROOMS = [
  // The code that an app loads with `table`: the rest comes when a table needs it.
  {
    name: 'tables',
    file: 'store/tables/define.ts',
    others: /^(\.\.\/)+(?!tables)[a-z]+\//,
    budget: 11_200,
    later: 9_000,
  },
  { name: 'live', file: 'live/index.ts', others: /^\.\.\//, budget: 5_850 },
  ...['react', 'vue', 'svelte', 'solid', 'angular'].map((name) => ({
    name,
    file: `live/frameworks/${name}.ts`,
    others: PACKAGES,
    budget: 1_500,
  })),
  // The page's side, and the worker's side without the store and live queries.
  { name: 'worker page', file: 'worker/connect.ts', others: NOT_WORKER, budget: 7_700 },
  { name: 'worker host', file: 'worker/serve.ts', others: NOT_WORKER, budget: 6_900 },
  // An app calls it at each start: an import under way then loads its code.
  {
    name: 'import',
    folder: 'import',
    file: 'index.ts',
    others: PACKAGES,
    budget: 2_000,
    later: 5_000,
  },
  // A lazy clone loads it in addition to sync; a repair from a remote loads a part of it.
  { name: 'lazy', file: 'sync/lazy/open-lazy.ts', others: /^\.\.\//, budget: 8_000 },
  {
    name: 'mutators',
    file: 'sync/mutators/open-mutator-connection.ts',
    others: NOT_WIRE,
    budget: 10_400,
  },
  { name: 'rest', file: 'sync/rest/open-rest-connection.ts', others: NOT_WIRE, budget: 8_000 },
  ...Object.entries({
    'abstract-level': 2_000,
    unstorage: 2_000,
    keyv: 2_000,
    'tanstack-query': 1_000,
    state: 1_100,
    yjs: 2_200,
    'yjs-awareness': 700,
  }).map(([name, budget]) => ({
    name,
    folder: 'adapters',
    file: `${name}.ts`,
    others: PACKAGES,
    budget,
  })),
  { name: 'inspector', folder: 'inspector', file: 'index.ts', others: PACKAGES, budget: 800 },
  { name: 'trace', folder: 'inspector', file: 'trace.ts', others: PACKAGES, budget: 2_800 },
  // One entry; an app that imports one of the two gets only its code.
  {
    name: 'tanstack-db',
    folder: 'tanstack-db',
    file: 'collection-options.ts',
    others: PACKAGES,
    budget: 5_300,
  },
  {
    name: 'its persistence',
    folder: 'tanstack-db',
    file: 'persistence.ts',
    others: PACKAGES,
    budget: 7_300,
  },
  // With the formats and the probe of remotes, but without remotes, which an app chooses. Later: collections, packs and
  // directories that are written, and the probe.
  {
    name: 'sync',
    file: 'sync/link/index.ts',
    others: /^\.\.\/(?!remote\/)/,
    budget: 24_400,
    later: 9_000,
  },
];
/** The published sizes: their keys in `docs/figures.json`, after `size.`, and the names of their measurements. */
const PUBLISHED = {
  start: 'before the first row',
  table: 'of a table by an index',
  write: 'for the first write',
  core: 'WebAssembly alone',
  later: 'loaded later',
  slim: 'slim, all',
  'sum-proof': 'sum-proof, on its own',
  tables: 'tables, its own code',
  'tables-later': 'tables, at need',
  live: 'live, its own code',
  sync: 'sync, its own code',
  mutators: 'mutators, its own code',
  rest: 'rest, its own code',
};
/**
 * Files that a page fetches to open a store: each is a request. The fourth is the only one for a page that only
 * verifies.
 */
const MOST_FILES = 4;

/** Bundles the names `of` an entry, or all of it, as an app would. */
async function bundle(entry = 'index.js', of = 'open') {
  const dist = join(packageDir('hedgerow'), 'dist');
  const app = {
    name: 'app',
    resolveId: (id) => (id === 'app' ? id : null),
    load: (id) =>
      id === 'app' ? `export ${of === '*' ? of : `{ ${of} }`} from '${join(dist, entry)}';` : null,
  };
  const build = await rolldown({ input: 'app', platform: 'browser', plugins: [app] });
  const { output } = await build.generate({ format: 'esm', minify: true });
  await build.close();
  const chunks = new Map(output.map((chunk) => [chunk.fileName, chunk]));
  /** Adds chunks, and the chunks that they import. */
  const reach = (names, found = new Set()) => {
    for (const name of names) {
      if (found.has(name) || !chunks.has(name)) continue;
      found.add(name);
      reach(chunks.get(name).imports, found);
    }
    return found;
  };
  const first = reach(output.filter(({ isEntry }) => isEntry).map(({ fileName }) => fileName));
  const codeOf = (names) => names.map((name) => chunks.get(name).code ?? '').join('');
  /** Returns the code of files of the package that are loaded after the first, with all that they import. */
  const after = (...files) => {
    const ids = files.map((file) => join(dist, file));
    const isOne = ({ moduleIds = [] }) => ids.some((id) => moduleIds.includes(id));
    const names = output.filter(isOne).map(({ fileName }) => fileName);
    if (names.length !== files.length) throw new Error(`${entry} does not load ${files} later`);
    return codeOf([...reach(names)].filter((name) => !first.has(name)));
  };
  const later = [...chunks.keys()].filter((name) => !first.has(name));
  return { first: codeOf([...first]), later: codeOf(later), files: first.size, after };
}

/**
 * Bundles the code of a room alone: without the code that it shares with others, and without their imports. Here each
 * file of another room is a separate import; as published there are two or three of them.
 */
async function roomAlone({ folder = 'hedgerow', file, others }) {
  const input = join(packageDir(folder), 'src', file);
  const isOther = (id) => others.test(id);
  const checks = { moduleLevelDirective: false };
  const build = await rolldown({ input, platform: 'browser', external: isOther, checks });
  const { output } = await build.generate({ format: 'esm', minify: true });
  await build.close();
  const chunks = new Map(output.map((chunk) => [chunk.fileName, chunk]));
  const first = new Set();
  const add = (name) => {
    if (first.has(name) || !chunks.has(name)) return;
    first.add(name);
    for (const imported of chunks.get(name).imports) add(imported);
  };
  for (const { fileName, isEntry } of output) if (isEntry) add(fileName);
  const code = (isFirst) =>
    output
      .filter(({ fileName }) => first.has(fileName) === isFirst)
      .map(({ code = '' }) => code.replace(/^(import\{[^}]*\}from"[^"]*";)+/, ''))
      .join('');
  return { first: code(true), later: code(false) };
}

const gzippedLength = (content) => gzipSync(content, { level: 9 }).length;

/** Measures a page's downloads before its first row and for its first write, and counts the files. */
async function startSizes() {
  const { first, later, files, after } = await bundle();
  const table = await bundle('index.js', 'open, table');
  const write = after('instantiate-core.js', 'write.js', 'idb.js');
  const slim = await bundle('slim.js');
  const slimScript = gzippedLength(slim.first);
  const slimWasm = gzippedLength(
    await readFile(join(packageDir('hedgerow'), 'dist', 'slim', 'hedgerow.wasm')),
  );
  const tableBytes = gzippedLength(table.first + table.after('index-walk.js'));
  const laterBytes = gzippedLength(later) - gzippedLength(write);
  const rows = [
    { name: 'before the first row', bytes: gzippedLength(first), budget: START_BUDGET_BYTES },
    { name: 'of a table by an index', bytes: tableBytes, budget: TABLE_BUDGET_BYTES },
    { name: 'for the first write', bytes: gzippedLength(write), budget: WRITE_BUDGET_BYTES },
    { name: 'WebAssembly alone', bytes: gzippedLength(await readFile(WASM_FILE)) },
    { name: 'loaded later', bytes: laterBytes },
    { name: 'slim, its scripts', bytes: slimScript, budget: SLIM_SCRIPT_BUDGET_BYTES },
    { name: 'slim, all', bytes: slimScript + slimWasm, budget: SLIM_BUDGET_BYTES },
  ];
  return { rows, files: { 'the start': files, 'the start of slim': slim.files } };
}

/** Measures the other entries and rooms. */
async function otherSizes() {
  const rows = [];
  for (const { name, file, of = '*', budget } of ENTRIES) {
    const bytes = gzippedLength((await bundle(file, of)).first);
    rows.push({ name: `${name}, on its own`, bytes, budget });
  }
  const page = gzippedLength(await readFile(INSPECTOR_PAGE));
  rows.push({ name: 'page of the inspector', bytes: page, budget: INSPECTOR_PAGE_BUDGET_BYTES });
  for (const room of ROOMS) {
    const { first, later } = await roomAlone(room);
    const own = gzippedLength(room.later === undefined ? first + later : first);
    rows.push({ name: `${room.name}, its own code`, bytes: own, budget: room.budget });
    if (room.later === undefined) continue;
    const atNeed = gzippedLength(later);
    rows.push({ name: `${room.name}, at need`, bytes: atNeed, budget: room.later });
  }
  return rows;
}

/** Measures everything, in bytes, gzipped; a row has a `budget` unless it is a part of another one. */
export async function sizes() {
  refuseDevBuild();
  const { rows, files } = await startSizes();
  return { rows: [...rows, ...(await otherSizes())], files };
}

async function main() {
  const { rows, files } = await sizes();
  const fail = (message) => {
    console.error(message);
    process.exitCode = 1;
  };
  const print = (name, bytes) =>
    console.log(`${name.padEnd(24)}${bytes.toLocaleString('en').padStart(9)} bytes, gzipped`);
  for (const { name, bytes, budget } of rows) {
    print(name, bytes);
    if (budget === undefined) continue;
    print('budget of it', budget);
    if (bytes > budget) fail(`${name}: over its budget by ${bytes - budget} bytes`);
  }
  for (const [name, count] of Object.entries(files)) {
    console.log(`${name} is ${count} files, of ${MOST_FILES} at most`);
    if (count > MOST_FILES) fail(`${name} is ${count - MOST_FILES} files over its budget`);
  }
  const differing = comparePublished(rows, process.argv.includes('--write'));
  for (const text of differing) fail(`${text}: run check-size.mjs with --write, then figures.mjs`);
}

/** Returns units of 1,000 bytes, as pages show them. */
const published = (bytes) => Number((bytes / 1000).toFixed(bytes < 100_000 ? 1 : 0));

/** Lists published sizes that are out of date; with `isWriting` updates them. */
function comparePublished(rows, isWriting) {
  const data = readFigures();
  const keys = Object.keys(data.figures).filter((key) => data.figures[key].run === 'size');
  const wanted = Object.entries(PUBLISHED).map(([key, name]) => {
    const { bytes } = rows.find((row) => row.name === name);
    return [`size.${key}`, { value: published(bytes), unit: 'KB', run: 'size' }];
  });
  const stale = wanted.filter(([key, { value }]) => data.figures[key]?.value !== value);
  const unknown = keys.filter((key) => wanted.every(([one]) => one !== key));
  if (isWriting && stale.length > 0) {
    Object.assign(data.figures, Object.fromEntries(stale));
    data.runs.size.date = new Date().toISOString().slice(0, 'YYYY-MM-DD'.length);
    writeFigures(data);
  }
  return [
    ...(isWriting ? [] : stale.map(([key, { value }]) => `${key} is ${value} KB`)),
    ...unknown.map((key) => `nothing measures ${key}`),
  ];
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await runMain(main);
