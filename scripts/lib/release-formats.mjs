// Reads the versions of stored formats: from the code, from `docs/releases.md`, and from the core.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './run.mjs';

const read = (...path) => readFileSync(join(ROOT, ...path), 'utf8');

/** Their names in Rust, and their files. */
const IN_RUST = [
  ['FORMAT', ['crate', 'trees', 'src', 'chunk.rs']],
  ['DELTA_FORMAT', ['crate', 'src', 'delta', 'mod.rs']],
];

/** Reads the versions in `js/hedgerow/src/base/limits.ts`, the one place that has them all, by their names. */
export function formatsOfCode(text = read('js', 'hedgerow', 'src', 'base', 'limits.ts')) {
  const found = text.matchAll(/^export const (FORMAT|\w+_FORMAT) = (\d+);$/gm);
  return Object.fromEntries([...found].map(([, name, version]) => [name, Number(version)]));
}

/** Reads the versions that the core has, too. */
export function formatsOfCore() {
  return Object.fromEntries(
    IN_RUST.map(([name, path]) => [
      name,
      Number(/^pub const VERSION: u8 = (\d+);$/m.exec(read(...path))[1]),
    ]),
  );
}

/** Reads the rows of the table in `docs/releases.md`. */
export function formatsOfPage(page = read('docs', 'releases.md')) {
  const row =
    /^\| (?<what>[^|]+) \| `(?<name>(?:\w+_)?FORMAT)` \| (?<writes>\d+) \| (?<reads>[\d, ]+) \| (?<vectors>[^|]+) \|$/gm;
  return [...page.matchAll(row)].map(({ groups: { what, name, writes, reads, vectors } }) => ({
    what,
    name,
    writes: Number(writes),
    reads: reads.split(',').map(Number),
    vectors: [...vectors.matchAll(/`([^`]+)`/g)].map(([, file]) => file),
  }));
}
