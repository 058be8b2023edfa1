// Compares docs/api.md with the sources, and checks the links between the docs.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { importedEntries } from '../lib/published.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path) => readFileSync(join(ROOT, path), 'utf8');
const uncommented = (text) => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');

/**
 * Returns the source of a declaration file such as `./dist/react/index.d.ts`. `full.d.ts` and `slim.d.ts` are generated
 * from the index.
 */
const sourceOf = ({ folder, types }) =>
  types
    .replace('./dist/', `js/${folder}/src/`)
    .replace(/\.d\.ts$/, '.ts')
    .replace(/src\/(full|slim)\.ts/, 'src/index.ts');

/** All but the kit, which is no API. */
const ENTRIES = importedEntries()
  .filter(({ name }) => name !== 'hedgerow/kit')
  .map((entry) => [entry.name, sourceOf(entry)]);

/** Returns the file that declares a name that a module imports: of its own package, or of another one by its entry. */
function placeOf(file, from, name) {
  if (from.startsWith('.')) return posix.join(posix.dirname(file), from).replace(/\.js$/, '.ts');
  const entry = importedEntries().find((one) => one.name === from);
  return exportsOf(sourceOf(entry)).get(name);
}

/** Returns the names that a module exports, each with the file that declares it. */
function exportsOf(file) {
  const text = uncommented(read(file));
  const found = new Map();
  for (const [, names, from] of text.matchAll(
    /export (?:type )?\{([^}]*)\}(?: from '([^']*)')?/g,
  )) {
    const imported = (name) =>
      from ?? text.match(new RegExp(`import [^;]*\\b${name}\\b[^;]* from '([^']*)'`))?.[1];
    for (const name of names.split(',').map((part) => part.replace('type ', '').trim())) {
      if (name === '') continue;
      found.set(name, placeOf(file, imported(name), name));
    }
  }
  const own = /^export (?:declare )?(?:async )?(?:function|const|class|interface|type) (\w+)/gm;
  for (const [, name] of text.matchAll(own)) found.set(name, file);
  for (const [, from] of text.matchAll(/export \* from '([^']*)'/g)) {
    const path = posix.join(posix.dirname(file), from).replace(/\.js$/, '.ts');
    for (const [name, at] of exportsOf(path)) found.set(name, at);
  }
  return found;
}

/**
 * Returns the public members of a class or an interface: without inherited ones, but with the ones that follow from a
 * record of checks.
 */
function membersOf(name, file) {
  const text = uncommented(read(file));
  const head = new RegExp(`^export (?:class|interface) ${name}\\b(?:[^{]*\\{\\}|[^]*?^})`, 'm');
  const [body = ''] = text.match(head) ?? [];
  const [, record] = body.match(/OptionsOf<typeof (\w+)>/) ?? [];
  const checks =
    record && text.match(new RegExp(`^(?:export )?const ${record} = \\{[^]*?^\\};`, 'm'));
  const member = /^ {2}(?:(?:static|async|override|declare|readonly|get) )*([a-z]\w*)\??[<(:]/gm;
  const names = [...`${body}\n${checks ?? ''}`.matchAll(member)].map(([, own]) => own);
  return [...new Set(names)].filter((own) => own !== 'constructor');
}

const PAGE = read('docs/api.md');
const codeOf = (text) => (text.match(/```[\s\S]*?```|`[^`]+`/g) ?? []).join(' ');
/** The text in code style, section by section. */
const SECTIONS = PAGE.split(/^#{2,3} /m).map(codeOf);
const isWord = (word) => new RegExp(`(?<!\\w)${word}(?!\\w)`);
const naming = (word) => SECTIONS.filter((code) => isWord(word).test(code));

const EXPORTS = new Map(ENTRIES.map(([entry, file]) => [entry, exportsOf(file)]));

/** Returns the names of `file` that are types alone. */
function typesOf(file) {
  const text = uncommented(read(file));
  const lists = [...text.matchAll(/export (type )?\{([^}]*)\}/g)];
  return lists.flatMap(([, type, names]) =>
    names
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '' && (type !== undefined || name.startsWith('type '))),
  );
}

test('the store has few entries and few names', () => {
  const own = [...EXPORTS].filter(([entry]) => /^hedgerow(\/|$)/.test(entry));
  assert.ok(own.length <= 12, `${own.length} entries`);
  const names = new Set(own.flatMap(([, exported]) => [...exported.keys()]));
  assert.ok(names.size > 100 && names.size <= 180, `${names.size} names`);
  const types = typesOf('js/hedgerow/src/index.ts');
  assert.ok(types.length > 20 && types.length <= 45, `${types.length} types of hedgerow`);
});

test('each entry of the package and each of its exports is on the page', () => {
  const missing = [];
  for (const [entry, names] of EXPORTS) {
    assert.ok(names.size > 0, `${entry}: no export was found`);
    for (const name of [entry, ...names.keys()]) {
      if (naming(name).length === 0) missing.push(`${name} of ${entry}`);
    }
  }
  assert.deepEqual(missing, [], 'docs/api.md does not name these');
});

test('each member of an exported class or interface is in a section that names it', () => {
  const missing = [];
  let count = 0;
  for (const [name, file] of [...EXPORTS.values()].flatMap((names) => [...names])) {
    // Its calls have sections of their own: see the next test.
    if (name === 'Store') continue;
    for (const member of membersOf(name, file)) {
      count += 1;
      if (!naming(name).some((code) => isWord(member).test(code))) missing.push([name, member]);
    }
  }
  assert.ok(count > 200, `only ${count} members were found`);
  assert.deepEqual(missing, [], 'no section of docs/api.md names both');
});

test('each call of a store, a snapshot, a reader and a transaction is on the page', () => {
  const classes = [
    ['Store', 'js/hedgerow/src/store/store.ts', 'db.'],
    ['Reader', 'js/hedgerow/src/store/reader.ts', ''],
    ['Snapshot', 'js/hedgerow/src/store/snapshot.ts', ''],
    ['Transaction', 'js/hedgerow/src/engine/transaction/transaction.ts', 'tx.'],
  ];
  const missing = [];
  for (const [name, file, before] of classes) {
    const members = membersOf(name, file).filter((member) => `${name}.${member}` !== 'Store.open');
    assert.ok(members.length >= 2, `${name}: no member was found in ${file}`);
    const calls = members.map((member) => before + member);
    const named = (call) => naming(call.replace(/^db\b/, '(?:db|draft)').replace('.', '\\.'));
    missing.push(...calls.filter((call) => named(call).length === 0));
  }
  assert.deepEqual(missing, [], 'docs/api.md does not name these');
});

test('the table of errors has each kind once, no other, and says which may be retried', () => {
  const source = read('js/hedgerow/src/base/errors.ts');
  const wordsOf = (text) => [...text.matchAll(/'([a-z-]+)'/g)].map(([, word]) => word);
  const codes = wordsOf(source.match(/type ErrorCode =[^;]*;/)[0]);
  const [, members] = source.match(/interface Details \{([^}]*)\}/);
  const details = new Map(
    [...members.matchAll(/readonly '?([a-z-]+)'?: ([^;]*);/g)].map(([, code, list]) => [
      code,
      wordsOf(list).map((detail) => `${code}/${detail}`),
    ]),
  );
  // Other faults of a call have no detail.
  const kinds = codes.flatMap((code) => [
    ...(details.has(code) && code !== 'invalid-argument' ? [] : [code]),
    ...(details.get(code) ?? []),
  ]);
  const table = PAGE.slice(PAGE.indexOf('| kind | cause |'));
  const rows = [...table.matchAll(/^\| `([a-z/-]+)` \|/gm)].map(([, kind]) => kind);
  assert.deepEqual(rows, kinds);

  const [, retryable] = source.match(/\/\^\(([^)]*)\)\$\/\.test\(code\)/);
  const marked = [...table.matchAll(/^\| `([a-z-]+)[a-z/-]*` \|.*\| yes \|$/gm)];
  assert.deepEqual(
    [...new Set(marked.map(([, code]) => code))].toSorted(),
    retryable.split('|').toSorted(),
  );
});

const PAGES = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], { cwd: ROOT })
  .toString()
  .trim()
  .split('\n')
  .filter((path) => existsSync(join(ROOT, path)));

/** Returns the anchor that GitHub gives a heading. */
const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/ /g, '-');
const anchorsOf = (text) =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading));

test('links between the docs point at files and headings that exist', () => {
  let count = 0;
  for (const page of PAGES) {
    const text = readFileSync(join(ROOT, page), 'utf8');
    for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^\w+:/.test(target)) continue;
      count += 1;
      const [path, anchor] = target.split('#');
      const file = path === '' ? page : relative(ROOT, join(ROOT, dirname(page), path));
      assert.ok(existsSync(join(ROOT, file)), `${page}: there is no ${target}`);
      if (anchor === undefined) continue;
      const anchors = anchorsOf(readFileSync(join(ROOT, file), 'utf8'));
      assert.ok(anchors.includes(anchor), `${page}: ${file} has no heading #${anchor}`);
    }
  }
  assert.ok(count > 50, `only ${count} links were found`);
});
