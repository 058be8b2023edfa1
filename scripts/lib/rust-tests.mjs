// Reads the tests of the core from its sources, to compare them with the tests that run in WebAssembly. It reads text:
// that is enough for formatted code.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './run.mjs';

/** The packages whose tests run in WebAssembly: their targets for Cargo, and the places of their tests. */
export const TESTED_PACKAGES = [
  { dir: 'crate/trees', targets: ['--lib'], sources: ['crate/trees/src'] },
  { dir: 'crate/sums', targets: ['--lib'], sources: ['crate/sums/src'] },
  {
    dir: 'crate',
    targets: ['--lib', '--test', 'all', '--test', 'allocation'],
    sources: ['crate/src', 'crate/tests'],
  },
];

/** Counts the tests in a source, and lists its tests that run in native code alone, with the reason in the source. */
export function testsOf(text) {
  const nativeOnly =
    /#\[cfg\(not\(target_arch = "wasm32"\)\)\] \/\/ (?<why>.+)\n\s*#\[test\]\n\s*fn (?<name>\w+)/g;
  return {
    count: text.match(/^\s*#\[test\]$/gm)?.length ?? 0,
    nativeOnly: [...text.matchAll(nativeOnly)].map(({ groups }) => ({ ...groups })),
  };
}

const filesIn = (path) =>
  statSync(join(ROOT, path)).isDirectory()
    ? readdirSync(join(ROOT, path)).flatMap((name) => filesIn(`${path}/${name}`))
    : [path];

/** Does the same for a package, and lists the files of tests that run in native code alone. */
export function testsIn({ sources }) {
  const files = sources.flatMap(filesIn).filter((file) => file.endsWith('.rs'));
  const all = files.map((file) => ({ file, ...testsOf(readFileSync(join(ROOT, file), 'utf8')) }));
  return {
    count: all.reduce((sum, { count }) => sum + count, 0),
    nativeOnly: all.flatMap(({ file, nativeOnly }) =>
      nativeOnly.map((test) => ({ file, ...test })),
    ),
  };
}
