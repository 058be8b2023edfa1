// Counts the sentences that a reader must read twice, in comments and pages, and names that are neither nouns nor
// verbs. `scripts/words.json` has the limits, for 1,000 sentences and for names: `node scripts/check-words.mjs` fails
// above a limit, and `--write` lowers it to the count; a limit never rises. `--list KIND [TREE]` prints the sentences
// or names.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Files } from './checks/files.mjs';
import {
  proseOf,
  rustComments,
  sentencesOf,
  testTitles,
  typeScriptComments,
} from './lib/comments.mjs';
import { oddNames, readNames } from './lib/names.mjs';
import { PUBLISHED } from './lib/published.mjs';
import { CommandFailed, ROOT, runMain } from './lib/run.mjs';

const LIMITS = join(ROOT, 'scripts', 'words.json');

/** The counted kinds of sentences. Quoted code is `CODE` by then. */
export const KINDS = {
  headless: (text) => /^(?:What|Who|Whoever|Whatever)\b/.test(text) && !text.includes('?'),
  pointing: (text) => /\b(?:that of|those (?:of|who|that))\b/i.test(text),
  telling: (text) => /\b(?:tells?|told)\b/i.test(text),
  negating: (text) => /\b(?:nobody|nothing|none|somebody)\b/i.test(text),
  dated: (text) => /\b(?:anew|wholly|seldom|meanwhile|perhaps|beside)\b/i.test(text),
};

const isSource = (file) =>
  /\.(?:tsx?|mjs|js)$/.test(file) && !/(^|\/)(?:generated|abi)\//.test(file);
const isRust = (file) => file.endsWith('.rs');

/** The sources of all packages. */
const SOURCES = PUBLISHED.map((folder) => `js/${folder}/src`);

/** The trees, and how their texts are read. */
export const TREES = {
  wrapper: { dirs: SOURCES, is: isSource, read: typeScriptComments },
  tests: {
    dirs: [
      ...PUBLISHED.map((folder) => `js/${folder}/test`),
      'e2e',
      'examples',
      'demo',
      'site',
      'scripts/test',
    ],
    is: isSource,
    read: (file, text) => [...typeScriptComments(file, text), ...testTitles(file, text)],
  },
  scripts: {
    dirs: ['scripts'],
    is: (file) => isSource(file) && !file.includes('/test/'),
    read: typeScriptComments,
  },
  core: { dirs: ['crate'], is: isRust, read: (_, text) => rustComments(text) },
  docs: {
    dirs: ['docs'],
    is: (file) => file.endsWith('.md'),
    read: (_, text) => [proseOf(text)],
  },
};

/** The files of the repository. Generated ones, such as the site's reference pages, are not written by hand. */
const names = Files.ofCheckout().names.filter((file) => existsSync(join(ROOT, file)));

const filesUnder = (dir, is) => names.filter((file) => file.startsWith(`${dir}/`) && is(file));

/** Returns the sentences of a tree, each with its file. */
function sentencesIn({ dirs, is, read }) {
  return dirs
    .flatMap((dir) => filesUnder(dir, is))
    .flatMap((file) => {
      const texts = read(file, readFileSync(join(ROOT, file), 'utf8'));
      return texts.flatMap(sentencesOf).map((text) => ({ file, text }));
    });
}

/** Counts the kinds in a tree: of 1,000 sentences, to a tenth. */
function countTree(tree) {
  const sentences = sentencesIn(tree);
  const of = (is) =>
    Math.round((sentences.filter(({ text }) => is(text)).length * 10_000) / sentences.length) / 10;
  return Object.fromEntries(Object.entries(KINDS).map(([kind, is]) => [kind, of(is)]));
}

const oddOnes = () => oddNames(readNames(SOURCES.map((dir) => join(ROOT, dir))));

const countNames = () => {
  const odd = oddOnes();
  return Object.fromEntries(Object.entries(odd).map(([kind, all]) => [kind, all.length]));
};

/** Counts everything that has a limit. */
export function countWords() {
  const trees = Object.entries(TREES).map(([name, tree]) => [name, countTree(tree)]);
  return { ...Object.fromEntries(trees), names: countNames() };
}

/** Lists the counts above their limits, as lines. */
export function overLimits(counts, limits) {
  return Object.entries(counts).flatMap(([tree, kinds]) =>
    Object.entries(kinds)
      .filter(([kind, count]) => !(count <= limits[tree]?.[kind]))
      .map(([kind, count]) => `${tree}, ${kind}: ${count}, of ${limits[tree]?.[kind]} at most`),
  );
}

/** Lowers the limits to the counts. */
export function lowered(limits, counts) {
  const lower = (tree, kind, count) => Math.min(count, limits[tree]?.[kind] ?? count);
  return Object.fromEntries(
    Object.entries(counts).map(([tree, kinds]) => [
      tree,
      Object.fromEntries(
        Object.entries(kinds).map(([kind, count]) => [kind, lower(tree, kind, count)]),
      ),
    ]),
  );
}

function list(kind, treeName) {
  if (kind in KINDS) {
    for (const [name, tree] of Object.entries(TREES)) {
      if (treeName !== undefined && name !== treeName) continue;
      for (const { file, text } of sentencesIn(tree))
        if (KINDS[kind](text)) console.log(`${file}: ${text}`);
    }
    return;
  }
  const odd = oddOnes()[kind];
  if (odd === undefined) throw new CommandFailed(`there is no kind ${kind}`);
  for (const { name, place } of odd) console.log(`${name}  ${place}`);
}

function main() {
  const [option, ...rest] = process.argv.slice(2);
  if (option === '--list') return list(...rest);
  let limits = JSON.parse(readFileSync(LIMITS, 'utf8'));
  const counts = countWords();
  if (option === '--write') {
    limits = lowered(limits, counts);
    writeFileSync(LIMITS, `${JSON.stringify(limits, null, 2)}\n`);
  }
  for (const [tree, kinds] of Object.entries(counts)) {
    const all = Object.entries(kinds).map(([kind, count]) => `${kind} ${count}`);
    console.log(`${tree.padEnd(10)}${all.join(', ')}`);
  }
  const problems = overLimits(counts, limits);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await runMain(main);
