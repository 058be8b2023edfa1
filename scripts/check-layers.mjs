// Checks the direction of imports in both source trees: a file may import only files of lower layers
// and of its own room, and imports must not form a cycle. Imports of Rust tests, fuzz targets and their helpers
// must not form a cycle either.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkCircles, checkRust, checkTypeScript } from './lib/layers.mjs';
import { OTHERS } from './lib/published.mjs';
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

/** Rust that has no layers. */
export const RUST_WITHOUT_LAYERS = [
  'crate/benches/splitters',
  'crate/fuzz/src',
  'crate/support/src',
  'crate/tests',
];

/**
 * The rooms of the store, `docs/architecture.md` has a line for each: eight, each with its own floors. A file belongs to
 * the longest pattern that it matches.
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
  [['sync/index']],
  [['store/keys/*']],
  [['store/*']],
  [['store/tables/*']],
  [['store/store-functions']],
  [['live/*']],
  [['live/frameworks/*'], ['index'], ['proofs']],
  [['worker/*'], ['kit']],
];

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  // Three packages: the topmost imports the modules of `trees` like its own.
  const checked = [
    ['crate/trees/src', checkRust, RUST_LAYERS],
    ['crate/sums/src', checkRust, SUM_LAYERS],
    ['crate/src', checkRust, RUST_LAYERS],
    ...RUST_WITHOUT_LAYERS.map((folder) => [folder, checkCircles]),
    ['js/hedgerow/src', checkTypeScript, TYPESCRIPT_LAYERS],
    // The other packages use the store by its entries.
    ...OTHERS.map((folder) => [`js/${folder}/src`, checkTypeScript]),
  ].map(([folder, check, layers]) => ({ folder, check, ...check(join(ROOT, folder), layers) }));
  const problems = checked.flatMap((tree) =>
    tree.problems.map((problem) => `${tree.folder}/${problem}`),
  );
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  else {
    const [rust, others, typescript] = [checkRust, checkCircles, checkTypeScript].map((check) =>
      checked.filter((tree) => tree.check === check).reduce((sum, { files }) => sum + files, 0),
    );
    console.log(
      `${rust} Rust and ${typescript} TypeScript files keep their layers, ${others} Rust files form no circle`,
    );
  }
}
