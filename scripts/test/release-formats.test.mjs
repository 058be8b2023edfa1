// The versions of formats: the code, the core, the page and the vectors agree.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { formatsOfCode, formatsOfCore, formatsOfPage } from '../lib/release-formats.mjs';
import { ROOT } from '../lib/run.mjs';

const CODE = formatsOfCode();
const PAGE = formatsOfPage();
const json = (file) => JSON.parse(readFileSync(join(ROOT, file), 'utf8'));

test('the page has each format of the code, and each version', () => {
  assert.equal(Object.keys(CODE).length, 7);
  const told = PAGE.map(({ name, writes }) => [name, writes]).sort();
  assert.deepEqual(told, Object.entries(CODE).sort());
});

test('every version so far is read', () => {
  for (const { name, reads } of PAGE) {
    const all = Array.from({ length: CODE[name] }, (_, nth) => nth + 1);
    assert.deepEqual(reads, all, name);
  }
});

test('the core has the same versions', () => {
  const core = formatsOfCore();
  for (const [name, version] of Object.entries(core)) assert.equal(version, CODE[name], name);
  assert.deepEqual(Object.keys(core), ['FORMAT', 'DELTA_FORMAT']);
});

test('no other file of the package has a version of a format', () => {
  const read = (file) => readFileSync(join(ROOT, 'js', 'hedgerow', 'src', file), 'utf8');
  const used = {
    'engine/transfer/format.ts': 'EXPORT_FORMAT',
    'sync/remote/format/envelope.ts': 'REMOTE_FORMAT',
    'sync/encryption/at-rest/key-record.ts': 'AT_REST_FORMAT',
    '../../sqlite/src/sql-schema.ts': 'SQL_FORMAT',
    'storage/idb/open-database.ts': 'IDB_FORMAT',
    'engine/history/known-segments-and-refs.ts': 'FORMAT',
  };
  for (const [file, name] of Object.entries(used)) {
    assert.match(
      read(file),
      new RegExp(`import \\{[^}]*\\b${name}\\b[^}]*\\} from '(?:[./]+base/limits|hedgerow/kit')`),
    );
    assert.doesNotMatch(read(file), /\b(VERSION|FORMAT) = \d/, file);
  }
  const format = readFileSync(join(ROOT, 'docs', 'format.md'), 'utf8');
  assert.ok(format.includes(`Format version **${CODE.FORMAT}**`));
});

/** The versions in a file of vectors, as the bytes in it say. */
const VERSIONS_IN = {
  FORMAT: ({ proof: { bytes } }) => [unpacked(bytes)[1]],
  IDB_FORMAT: ({ indexeddb }) => [indexeddb.version],
  SQL_FORMAT: ({ sqlite }) => [sqlite.user_version],
  EXPORT_FORMAT: (vector) => [unpacked(vector.export)[4]],
  // The record of the key is in refs of 32 bytes; the first has the version.
  AT_REST_FORMAT: ({ stores }) =>
    Object.values(stores)
      .flatMap(({ refs }) => refs.flat())
      .filter(({ name }) => /^encryption\/\d+\/[ab]0$/.test(name))
      .map(({ commit }) => Buffer.from(commit, 'hex')[4]),
  REMOTE_FORMAT: ({ objects }) => objects.map(({ bytes }) => Buffer.from(bytes, 'hex')[4]),
  // A delta begins with "HDGD"; refused ones have other versions.
  DELTA_FORMAT: ({ refused, ...others }) => {
    const deltas = JSON.stringify(others).match(/\b48444744[0-9a-f]{2}/g) ?? [];
    return deltas.map((hex) => Number.parseInt(hex.slice(8), 16));
  },
};
const unpacked = ({ gzip }) => gunzipSync(Buffer.from(gzip, 'base64'));

test('each version that is read has vectors, as the first file of its row says', () => {
  for (const { name, reads, vectors } of PAGE) {
    for (const file of vectors) assert.ok(existsSync(join(ROOT, file)), file);
    const versions = vectors
      .filter((file) => /^vectors\/(formats|remote|at-rest)\//.test(file))
      .flatMap((file) => VERSIONS_IN[name](json(file)));
    assert.deepEqual([...new Set(versions)].sort(), reads, name);
  }
});
