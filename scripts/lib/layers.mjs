// Reads the imports of a source tree, and checks them against a table of layers (see
// `check-layers.mjs`). It reads text, not syntax trees: that is enough for `use` and `import`, and
// for paths in formatted code.

import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import { blankRust, rustUses } from './rust-modules.mjs';

/** Checks `sourceDir`, a crate's `src`. Returns the number of files and the problems. */
export function checkRust(sourceDir, layers) {
  const { files, problems } = check(sourceDir, '.rs', layers, (file, text) => {
    const code = blankRust(text);
    const problems = [];
    if (!file.startsWith('wasm/')) {
      for (const { index } of code.matchAll(/\bwasm_bindgen\b/g)) {
        problems.push({ index, message: '`wasm_bindgen` is for files under wasm/ only' });
      }
    }
    return { imports: rustImports(file, code, (name) => placeOf(layers, name)), problems };
  });
  return { files, problems: [...problems, ...circleProblems(rustUses(sourceDir))] };
}

/** One room for a whole package. */
const ONE_ROOM = [[['*']]];

/**
 * Checks `sourceDir`, a package's `src`; without layers only that its files import each other without a circle, and no
 * file outside. Returns the number of files and the problems.
 */
export function checkTypeScript(sourceDir, layers = ONE_ROOM) {
  const { files, problems } = check(sourceDir, '.ts', layers, (file, text) => ({
    imports: typeScriptImports(file, blankTypeScript(text)),
    problems: [],
  }));
  return { files, problems: [...problems, ...circleProblems(typeScriptNames(sourceDir))] };
}

/** Returns the names that each file of a package's `src` imports, without extensions. */
export function typeScriptNames(sourceDir) {
  const extension = '.ts';
  const files = readdirSync(sourceDir, { recursive: true })
    .map((file) => file.split(sep).join('/'))
    .filter((file) => file.endsWith(extension))
    .sort();
  return new Map(
    files.map((file) => {
      const text = readFileSync(join(sourceDir, file), 'utf8');
      const imports = typeScriptImports(file, blankTypeScript(text));
      return [file.slice(0, -extension.length), imports.map(({ name }) => name)];
    }),
  );
}

/** Finds the cycles among the files, each as a chain of names. */
export function circlesOf(named) {
  const circles = [];
  const isDone = new Set();
  const path = [];
  const visit = (name) => {
    const at = path.indexOf(name);
    if (at >= 0) circles.push([...path.slice(at), name]);
    if (at >= 0 || isDone.has(name)) return;
    path.push(name);
    for (const next of named.get(name) ?? []) visit(next);
    path.pop();
    isDone.add(name);
  };
  for (const name of named.keys()) visit(name);
  return circles;
}

/** Checks that the files of `sourceDir`, Rust without layers, form no circle. Returns their number and the problems. */
export function checkCircles(sourceDir) {
  const used = rustUses(sourceDir);
  return { files: used.size, problems: circleProblems(used) };
}

function circleProblems(named) {
  return circlesOf(named).map((circle) => `a circle: ${circle.join(' -> ')}`);
}

function check(sourceDir, extension, layers, read) {
  const files = readdirSync(sourceDir, { recursive: true })
    .map((file) => file.split(sep).join('/'))
    .filter((file) => file.endsWith(extension))
    .sort();
  const problems = [];
  for (const file of files) {
    const own = file.slice(0, -extension.length).replace(/\/mod$/, '');
    const place = placeOf(layers, own);
    if (place === undefined) {
      problems.push(`${file}: in no layer; add it to the table in scripts/check-layers.mjs`);
      continue;
    }
    const text = readFileSync(join(sourceDir, file), 'utf8');
    const found = read(file, text);
    for (const { index, name } of found.imports) {
      const message = judge(place, placeOf(layers, name), name);
      if (message !== undefined) found.problems.push({ index, message });
    }
    for (const { index, message } of found.problems) {
      problems.push(`${file}:${text.slice(0, index).split('\n').length}: ${message}`);
    }
  }
  return { files: files.length, problems };
}

function judge(own, target, name) {
  if (target === undefined) return `names \`${name}\`, which is in no layer`;
  const isAllowed = target.layer < own.layer || target.room === own.room;
  return isAllowed ? undefined : `names \`${name}\`, which is not in a lower layer`;
}

/** Returns the number of the layer and the room of `name`, by the longest pattern; `undefined` if it is in no room. */
function placeOf(layers, name) {
  const matches = (pattern) =>
    pattern === '*'
      ? !name.startsWith('../')
      : pattern.endsWith('/*')
        ? `${name}/`.startsWith(pattern.slice(0, -1))
        : name === pattern;
  let [place, longest] = [undefined, 0];
  for (const [layer, rooms] of layers.entries()) {
    for (const room of rooms) {
      const length = Math.max(0, ...room.filter(matches).map((pattern) => pattern.length));
      if (length > longest) [place, longest] = [{ layer, room }, length];
    }
  }
  return place;
}

const TYPESCRIPT_NOISE = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g;

/** Blanks comments. Strings stay: they contain the imports. */
export function blankTypeScript(text) {
  return text.replace(TYPESCRIPT_NOISE, (match) =>
    match.startsWith('/') ? match.replace(/[^\n]/g, ' ') : match,
  );
}

/** Lists every module that a path from the root of the crate, or with `super`, names. */
function rustImports(file, code, placeOfModule) {
  const imports = [];
  for (const { 0: start, index } of code.matchAll(/(?<!\$)\bcrate::\s*/g)) {
    const names = namesAt(code, index + start.length);
    imports.push(...names.map((name) => ({ index, name })));
  }
  // `super` may lead out of this file, or out of an inline `mod tests` into this file: only the
  // names of modules distinguish the two.
  const depth = file.replace(/(\/mod)?\.rs$/, '').split('/').length;
  for (const { 0: start, index } of code.matchAll(/\b(?:super::\s*)+/g)) {
    if (start.match(/super/g).length < depth) continue;
    const names = namesAt(code, index + start.length).filter(placeOfModule);
    imports.push(...names.map((name) => ({ index, name })));
  }
  return imports;
}

/** Returns the first names of the path at `at`, or of the paths of a group `{a::b, c}` there. */
function namesAt(code, at) {
  if (code[at] !== '{') return [/^(?:\w+|\*)?/.exec(code.slice(at))[0]];
  let depth = 0;
  let flat = '';
  for (const character of code.slice(at)) {
    if (character === '}') depth -= 1;
    if (depth === 1) flat += character;
    if (character === '{') depth += 1;
    if (depth === 0) break;
  }
  return flat
    .split(',')
    .map((path) => /^\s*(\w+|\*)/.exec(path)?.[1])
    .filter((name) => name !== undefined && name !== 'self');
}

/** Lists every file of the package in an `import`, `export ... from` or `import()`. */
function typeScriptImports(file, code) {
  const imports = [];
  const specifier = /\b(?:from|import)\s*\(?\s*(['"])(\.[^'"]*)\1/g;
  for (const { 2: path, index } of code.matchAll(specifier)) {
    const name = posix.join(posix.dirname(file), path).replace(/\.[jt]s$/, '');
    imports.push({ index, name });
  }
  return imports;
}
