import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { RUST_LAYERS, TYPESCRIPT_LAYERS } from '../check-layers.mjs';
import { checkCircles, checkRust, checkTypeScript } from '../lib/layers.mjs';

/** Checks a source tree that exists only during the call. */
function problemsOf(check, layers, files) {
  const dir = mkdtempSync(join(tmpdir(), 'hedgerow-layers-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, name)), { recursive: true });
      writeFileSync(join(dir, name), text);
    }
    return check(dir, layers).problems;
  } finally {
    rmSync(dir, { recursive: true });
  }
}

const rust = (files) => problemsOf(checkRust, RUST_LAYERS, files);
const typescript = (files) => problemsOf(checkTypeScript, TYPESCRIPT_LAYERS, files);

test('Rust that imports only lower layers and its own room passes', () => {
  const lower = { 'limits.rs': '', 'hash.rs': '', 'chunk.rs': '', 'step.rs': '' };
  const problems = rust({
    ...lower,
    'lib.rs': 'pub mod node;\npub use node::Node;\nuse crate::tree::Tree;\n',
    'node.rs': 'use crate::{hash::{Hash, HASH_BYTES}, limits};\nfn f() { crate::chunk::g(); }\n',
    'tree/mod.rs': 'mod scan;\nuse crate::node::Node;\npub use crate::tree::scan::Scan;\n',
    'tree/scan.rs': 'use super::Tree;\nuse crate::step::Step;\n',
    'wasm/mod.rs': 'use wasm_bindgen::prelude::wasm_bindgen;\nuse crate::tree::Tree;\n',
  });
  assert.deepEqual(problems, []);
});

test('Rust that imports a higher layer is refused with its line', () => {
  const problems = rust({ 'hash.rs': '//! Hash.\n\nuse crate::tree::Tree;\n' });
  assert.deepEqual(problems, ['hash.rs:3: names `tree`, which is not in a lower layer']);
});

test('a higher layer is found in groups, in expressions and behind `super`', () => {
  assert.equal(rust({ 'hash.rs': 'use crate::{limits::A, node::{B, C}, tree};\n' }).length, 2);
  assert.equal(rust({ 'hash.rs': 'fn f() { crate::cache::g() }\n' }).length, 1);
  assert.equal(rust({ 'hash.rs': 'use super::node::Node;\n' }).length, 1);
  assert.equal(rust({ 'json/scan.rs': 'use super::super::tree::Tree;\n' }).length, 1);
});

test('comments and strings of Rust import no module', () => {
  const text = '/// See [`crate::tree`].\n/* crate::tree */ const A: &str = "crate::tree // ";\n';
  assert.deepEqual(rust({ 'hash.rs': text }), []);
});

test('rooms of one layer may not import each other', () => {
  assert.equal(rust({ 'json/mod.rs': 'use crate::batch::Batch;\n' }).length, 1);
  assert.equal(
    typescript({ 'engine/read/scan.ts': "import { Ingest } from '../write/ingest.js';\n" }).length,
    1,
  );
});

test('a name taken from the root of the crate is refused', () => {
  assert.equal(rust({ 'tree/mod.rs': 'use crate::Hash;\n' }).length, 1);
});

test('wasm_bindgen is refused outside of wasm/', () => {
  assert.equal(rust({ 'node.rs': '#[wasm_bindgen]\npub fn f() {}\n' }).length, 1);
});

test('a file outside all layers is refused', () => {
  assert.match(rust({ 'helpers.rs': '' })[0], /helpers\.rs: in no layer; add it/);
  assert.match(typescript({ 'utils.ts': '' })[0], /utils\.ts: in no layer; add it/);
});

test('TypeScript that imports only lower layers and its own room passes', () => {
  const problems = typescript({
    'index.ts': "export { open } from './store/store.js';\nexport * from './base/errors.js';\n",
    'store/store.ts':
      "import { sha256 } from '@noble/hashes/sha2.js';\nimport { head } from '../engine/history/head.js';\n",
    'engine/read/scan.ts': "import type { Head } from '../history/head.js';\n",
    'storage/idb/idb.ts': "import type { A } from '../segment-store.js';\nimport '../memory.js';\n",
  });
  assert.deepEqual(problems, []);
});

test('TypeScript that imports a higher layer is refused, in any form of import', () => {
  for (const line of [
    "import { open } from '../store/store.js';",
    "import type { Store } from '../store/store.js';",
    "import {\n  open,\n} from '../store/store.js';",
    "export * from '../store/store.js';",
    "import '../store/store.js';",
    "const store = await import('../store/store.js');",
  ]) {
    const text = `// import '../index.js';\n${line}\n`;
    const [problem, ...others] = typescript({ 'base/errors.ts': text });
    assert.match(problem, /names `store\/store`, which is not in a lower layer/);
    assert.deepEqual(others, []);
  }
});

test('TypeScript that imports a file outside of the source tree is refused', () => {
  const text = "import type { InitOutput } from '../../pkg/hedgerow.js';\n";
  assert.equal(typescript({ 'core/engine.ts': text }).length, 1);
});

test('a circle of TypeScript files is refused, also one of a single room', () => {
  const files = {
    'base/a.ts': "import { b } from './b.js';\n",
    'base/b.ts': "import type { C } from './c.js';\n",
    'base/c.ts': "import { b } from './b.js';\n",
  };
  assert.deepEqual(typescript(files), ['a circle: base/b -> base/c -> base/b']);
});

test('a circle of Rust modules of one room is refused', () => {
  const files = {
    'json/mod.rs': 'mod scan;\nmod string;\nmod walk;\npub use scan::skip;\n',
    'json/scan.rs': 'use crate::json::string::word_at;\npub fn skip() {}\n',
    'json/string.rs': 'use super::{walk::{self, Walk as W}};\n',
    'json/walk.rs': 'fn f() { super::super::json::skip(); }\n',
  };
  assert.deepEqual(rust(files), ['a circle: json/scan -> json/string -> json/walk -> json/scan']);
});

test('a circle of Rust files without layers is refused', () => {
  const files = {
    'main.rs': 'mod host;\nmod pace;\nmod rows;\npub struct World;\n',
    'host.rs': 'use crate::pace::Pace;\nuse crate::World;\n',
    'pace.rs': 'use crate::host::Host;\n',
    'rows.rs': '',
  };
  assert.deepEqual(problemsOf(checkCircles, undefined, files), ['a circle: host -> pace -> host']);
  const broken = { ...files, 'pace.rs': 'use crate::rows::Rows;\n' };
  assert.deepEqual(problemsOf(checkCircles, undefined, broken), []);
});

test('a circle through a folder is found: a child uses a definition of its `mod.rs`, which uses the child', () => {
  const child = { 'forest/commit.rs': 'use super::Forest;\npub fn check() {}\n' };
  const circle = 'a circle: forest/commit -> forest/mod -> forest/commit';
  const parent = 'mod commit;\nuse commit::check;\npub struct Forest;\n';
  assert.deepEqual(rust({ 'forest/mod.rs': parent, ...child }), [circle]);
  const called = 'mod commit;\npub struct Forest;\nfn f() { crate::forest::commit::check(); }\n';
  assert.deepEqual(rust({ 'forest/mod.rs': called, ...child }), [circle]);
});

test('exports, tests, comments and inline modules of Rust make no circle', () => {
  const problems = rust({
    'tree/mod.rs': 'mod scan;\npub use scan::{Scan, Range as All};\npub struct Tree;\n',
    'tree/scan.rs': '// crate::tree::merge\nuse crate::tree::Tree;\npub struct Scan;\n',
    'tree/merge.rs':
      'use crate::tree::{All, Scan};\nmod inner {\n    use super::f;\n}\npub fn f() {}\n',
    'tree/value.rs':
      'pub struct Value;\n#[cfg(test)]\nmod tests {\n    use crate::tree::find::f;\n}\n',
    'tree/find.rs': 'use crate::tree::value::Value;\npub fn f() {}\n',
  });
  assert.deepEqual(problems, []);
});
