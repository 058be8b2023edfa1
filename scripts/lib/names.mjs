// Reads the declarations of a source tree, and finds names that are no nouns or verbs, and names that have two owners.

import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
// TypeScript 7 has no parser for other programs.
import ts from 'typescript-5.4';

const IRREGULAR =
  'begun|bound|broken|brought|built|caught|chosen|cut|done|drawn|fed|felt|found|forgotten|given|gone|grown|had|heard|held|hidden|kept|known|laid|left|lent|lost|made|meant|met|paid|put|read|seen|sent|set|shown|shut|sold|sought|spent|split|spoken|stolen|sunk|taken|taught|thought|thrown|told|torn|understood|woken|won|worn|written';
/** `put`, `read` and the like are verbs, too; `need`, `seed` and the like are no participles. */
const VERBS = new Set(
  'put read set cut split shut speed need feed seed embed exceed proceed succeed'.split(' '),
);
const PARTICIPLE = new RegExp(`^(?:[a-z]+ed|${IRREGULAR})$`);
/** Participles that are common names of functions that return a changed copy. */
const CUSTOMARY = new Set(['sorted', 'joined']);
const isParticiple = (word) => PARTICIPLE.test(word) && !VERBS.has(word) && !CUSTOMARY.has(word);

/** Nouns of the trade that end in -ing, or look like a participle. */
const NOUNS = new Set([
  'String',
  'Binding',
  'Setting',
  'Padding',
  'Pending',
  'Timing',
  'Mapping',
  'Ping',
  'Ring',
  'Thing',
  'Feed',
  'Need',
  'Seed',
  'Speed',
  'Embed',
]);
const METAPHORS = new Set(
  'Place Ground Shelf Lane News Hub Hearing Lives Own Feeder Outlet Outbox Landing Way Ways Memo Mend Turns Here Elsewhere Wrong Break Fed'.split(
    ' ',
  ),
);

/** Whether the name of a type is a bare participle, a gerund or a metaphor. */
export function isOddType(name) {
  if (NOUNS.has(name)) return false;
  if (METAPHORS.has(name)) return true;
  if (!/^[A-Z][a-z]+$/.test(name)) return false;
  return /[a-z]ing$/.test(name) || isParticiple(name.toLowerCase());
}

/** Whether the name of a function or a method is a bare participle. */
export const isOddFunction = (name) => isParticiple(name.replace(/^[#_]+/, ''));

/** File names that each folder may have. */
const COMMON_FILES = new Set(['index', 'types', 'errors', 'context']);

/**
 * Reads the declarations in the TypeScript files under `dirs`: names of functions, of types, and of exports by their
 * files.
 */
export function readNames(dirs) {
  const functions = [];
  const types = [];
  const owners = new Map();
  const fileNames = new Map();
  for (const dir of dirs) {
    for (const file of filesOf(dir)) {
      const text = readFileSync(join(dir, file), 'utf8');
      const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
      const name = basename(file).replace(/\.tsx?$/, '');
      addTo(fileNames, name, file);
      readDeclarations(source, file, { functions, types, owners });
    }
  }
  return { functions, types, owners, fileNames };
}

const filesOf = (dir) =>
  readdirSync(dir, { recursive: true })
    .map((file) => file.split(sep).join('/'))
    .filter(
      (file) =>
        /\.tsx?$/.test(file) && !file.endsWith('.d.ts') && !/(^|\/)(generated|abi)\//.test(file),
    )
    .sort();

function addTo(map, key, value) {
  const all = map.get(key) ?? new Set();
  all.add(value);
  map.set(key, all);
}

function readDeclarations(source, file, { functions, types, owners }) {
  const place = (node) =>
    `${file}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
  const visit = (node) => {
    const name = node.name !== undefined && 'text' in node.name ? node.name.text : undefined;
    if (name !== undefined) {
      if (isFunction(node)) functions.push({ name, place: place(node) });
      if (
        ts.isClassDeclaration(node) ||
        ts.isInterfaceDeclaration(node) ||
        ts.isTypeAliasDeclaration(node)
      ) {
        types.push({ name, place: place(node) });
      }
      if (isExported(node)) addTo(owners, name, file);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}

function isFunction(node) {
  if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isMethodSignature(node))
    return true;
  const isVariable = ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node);
  const value = isVariable ? node.initializer : undefined;
  return value !== undefined && (ts.isArrowFunction(value) || ts.isFunctionExpression(value));
}

function isExported(node) {
  const owner = ts.isVariableDeclaration(node) ? node.parent.parent : node;
  const isTop = owner.parent !== undefined && ts.isSourceFile(owner.parent);
  return isTop && (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Export) !== 0;
}

/** Lists the odd names of each kind, with their places, so that they can be found. */
export function oddNames({ functions, types, owners, fileNames }) {
  const twice = (map) =>
    [...map]
      .filter(([, files]) => files.size > 1)
      .map(([name, files]) => ({ name, place: [...files].join(', ') }));
  return {
    functions: functions.filter(({ name }) => isOddFunction(name)),
    types: types.filter(({ name }) => isOddType(name)),
    owners: twice(owners),
    files: twice(fileNames).filter(({ name }) => !COMMON_FILES.has(name)),
  };
}
