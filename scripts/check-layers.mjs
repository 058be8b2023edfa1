// Holds both source trees to one direction: a file may name files of lower layers and of
// its own room, and no others.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkRust, checkTypeScript } from './lib/layers.mjs';
import { ROOT } from './lib/run.mjs';

// From low to high. Each line is a layer, each list in it a room: files of one room may
// name each other, rooms of one layer may not. `x/*` is all that lies under the folder.

export const RUST_LAYERS = [
  [['limits'], ['order']],
  [['hash'], ['key'], ['json/*']],
  [['error']], // tells the hash of what is corrupt
  [['boundary']],
  [['chunk', 'value']],
  [['node']],
  [['segment']],
  [['cache']],
  [['step']], // a step says which segments of the cache it needs
  [['batch']],
  [['output'], ['rows/*']],
  [['tree/*']],
  [['forest/*'], ['sum_tree']], // the package of sum trees, with layers of its own
  [['index/*']],
  [['ingest'], ['collect/*'], ['proof']],
  [['bring']],
  [['wasm/*']],
  [['lib']],
];

export const SUM_LAYERS = [
  [['rules', 'lanes']],
  [['piece'], ['batch']],
  [['trie']],
  [['leaves'], ['proof']],
  [['find'], ['scan'], ['diff'], ['merge'], ['follow']],
  [['prove'], ['verify']], // both ask a trie for its values, as a merge does
  [['lib']],
];

export const TYPESCRIPT_LAYERS = [
  [
    ['errors', 'limits', 'locks'],
    ['speed'],
    ['task'],
    ['kind'],
    ['report'],
    ['forgotten'],
    ['pending'],
    ['disposable'],
    ['pointer'],
  ],
  [['parts'], ['platform'], ['views']],
  [
    ['segment-store'],
    ['scheduler'],
    ['key'],
    ['signal'],
    ['bytes'],
    ['tabs'],
    ['pins'],
    ['lane'],
    ['root'],
    ['bulks'],
    ['leftovers'],
    ['persistence'],
    ['instances'],
    ['options'],
  ],
  // `sql/*`: entries of their own, which nothing else names.
  [
    ['changes'], // of a handle, and how closing ends them
    ['segment-stores/*'],
    ['sql/*'],
    ['generated/*'],
    ['range'],
    ['value'],
    ['source'],
    ['sum-proof/*'],
    ['sums/definition', 'sums/name'],
  ],
  [['guard'], ['later-core']], // between the wrapper and an instance of the core
  [['core'], ['react-native/*']], // stands in for what React Native lacks
  [['engine']],
  [['indexes/definition', 'indexes/secondary', 'indexes/index-set']],
  [['host']],
  [['later-link']],
  [['check-engine'], ['survey'], ['segment-check']],
  [['inventory'], ['index-check'], ['ingest-result']],
  [['commit', 'trunk']], // the branches of a store, and what they have in common
  [
    ['branch-name'],
    ['indexes/ready'],
    ['standpoint'],
    ['sums/sum-engine', 'sums/types', 'sums/root'],
  ],
  [['ingest'], ['scan'], ['collector'], ['verify'], ['find-many']],
  [['indexes/builder'], ['rows'], ['try-edits'], ['diff'], ['writer'], ['repair'], ['stats']],
  [['single-edits'], ['proof'], ['differences'], ['sums/*']],
  [['rescue']],
  [['later']],
  [['sum-tree']],
  [['reads']],
  [['intake'], ['transaction/*'], ['snapshot']],
  [['put-many'], ['watch/*'], ['branches']],
  [['merge'], ['patch'], ['delete-many'], ['reset'], ['transfer/*']],
  [['opening'], ['store-parts']],
  [['store-later']],
  [['store']],
  [['index']],
  [['react/*']],
];

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  // Three packages: the modules of `trees` are named in the topmost as if they were its own.
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
