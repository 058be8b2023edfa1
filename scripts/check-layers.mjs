// Checks the direction of imports in both source trees: a file may import only files of lower layers
// and of its own room, and imports must not form a cycle.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkRust, checkTypeScript } from './lib/layers.mjs';
import { ROOT } from './lib/run.mjs';

// From low to high. Each line is a layer, each list in it a room: files of one room may import each other, rooms of one
// layer may not. `x/*` is everything below the folder, except the matches of longer patterns.

export const RUST_LAYERS = [
  [['le'], ['limits'], ['order'], ['secret']],
  [['hash'], ['key'], ['json/*']],
  [['error']], // reports the hash of a corrupt chunk
  [['boundary']],
  [['chunk', 'value']],
  [['node/*'], ['sum_piece']],
  [['chunk_check']], // checks the format of each kind of chunk
  [['segment/*']],
  [['cache/*']],
  [['step']], // a step names the segments of the cache that it needs
  [['batch']],
  [['output'], ['rows/*']],
  [['tree/*']],
  [['forest/*'], ['sum_tree']], // the package of sum trees, with layers of its own
  [['index/*']],
  [['ingest/*'], ['collect/*'], ['proof']],
  [['sum_update'], ['delta/*']], // both hand an ingest what it cannot read itself
  [['lazy/*']], // makes leaves of deltas
  [['wasm/*']],
  [['lib']],
];

export const SUM_LAYERS = [
  [['chain']],
  [['rules', 'lanes']],
  [['piece'], ['batch']],
  [['trie']],
  [['leaves'], ['proof'], ['fresh']],
  [['multi_get'], ['scan'], ['diff'], ['merge'], ['follow']],
  [['prove'], ['verify']], // both read values through a trie, like a merge
  [['lib']],
];

/**
 * The rooms of the wrapper, `docs/architecture.md` has a line for each: eight, each with its own floors, and below
 * `extras` the rooms that use the store as apps do. A file belongs to the longest pattern that it matches.
 */
export const TYPESCRIPT_LAYERS = [
  [['base/*']],
  [['storage/*']],
  [['storage/tabs/*']],
  [['core/indexes/*'], ['core/sum-proof/*']],
  [['core/*']],
  [['core/react-native/*'], ['core/slim/*']],
  [['engine/history/*']],
  [['engine/read/*'], ['engine/write/*'], ['engine/verify/*']],
  [
    ['engine/branches/*'],
    ['engine/collect/*'],
    ['engine/repair/*'],
    ['engine/sums/*'],
    ['engine/transaction/*'],
    ['engine/transfer/*'],
    ['engine/watch/*'],
  ],
  [['sync/remote/*']],
  [['sync/encryption/*'], ['sync/wire/*']],
  [['sync/link/*']],
  [['sync/lazy/*'], ['sync/mutators/*'], ['sync/rest/*']],
  [['store/keys/*']],
  [['store/*']],
  [['store/tables/*']],
  [['index']],
  [['live/*']],
  [['live/frameworks/*'], ['worker/*']],
  [['node/*'], ['server/*']],
  [['adapters/*'], ['cli/*'], ['import-from/*'], ['inspector/*'], ['tanstack-db/*']],
];

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  // Three packages: the topmost imports the modules of `trees` like its own.
  const trees = checkRust(join(ROOT, 'crate', 'trees', 'src'), RUST_LAYERS);
  const sums = checkRust(join(ROOT, 'crate', 'sums', 'src'), SUM_LAYERS);
  const rust = checkRust(join(ROOT, 'crate', 'src'), RUST_LAYERS);
  const typescript = checkTypeScript(join(ROOT, 'js', 'src'), TYPESCRIPT_LAYERS);
  const problems = [
    ...trees.problems.map((problem) => `crate/trees/src/${problem}`),
    ...sums.problems.map((problem) => `crate/sums/src/${problem}`),
    ...rust.problems.map((problem) => `crate/src/${problem}`),
    ...typescript.problems.map((problem) => `js/src/${problem}`),
  ];
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  else
    console.log(
      `${trees.files + sums.files + rust.files} Rust and ${typescript.files} TypeScript files keep their layers`,
    );
}
