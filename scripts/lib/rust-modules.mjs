// Reads which files of a crate use which others, to find cycles among them. It reads text, not syntax trees: that is
// enough for formatted code. A name that a `mod.rs` re-exports belongs to the file that defines it, and the re-export
// does not count as a use. Inline test modules do not count either.

import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

/**
 * Comments, strings and characters. All are matched together, so that a comment marker in a string does not begin a
 * comment, and a quote in a comment does not begin a string.
 */
export const NOISE =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|\br(#*)"[\s\S]*?"\1|"(?:\\[\s\S]|[^"\\])*"|'(?:\\[^']+|[^'\\])'/g;

/** Blanks comments, strings and characters; keeps offsets and lines. */
export function blankRust(text) {
  return text.replace(NOISE, (match) => match.replace(/[^\n]/g, ' '));
}

/** Returns the files of `sourceDir`, a crate's `src`, each with the files that it uses, without extensions. */
export function rustUses(sourceDir) {
  const modules = readModules(sourceDir);
  return new Map(
    [...modules].map(([module, { file, code }]) => {
      const rest = code.replace(/\b(?:pub(?:\([^)]*\))?\s+)?use\s[^;]*;/g, (use) => {
        return /^pub/.test(use) ? ' '.repeat(use.length) : use;
      });
      const targets = pathsIn(rest).map((path) => resolve(modules, module, path));
      const used = new Set(targets.filter((target) => target !== module && modules.has(target)));
      return [file, [...used].map((target) => modules.get(target).file)];
    }),
  );
}

/** Reads the modules by their paths (the root is ''): file, code without noise and tests, and re-exports. */
function readModules(sourceDir) {
  const modules = new Map();
  const files = readdirSync(sourceDir, { recursive: true })
    .map((file) => file.split(sep).join('/'))
    .filter((file) => file.endsWith('.rs'))
    .sort();
  for (const name of files) {
    const file = name.slice(0, -'.rs'.length);
    const text = readFileSync(join(sourceDir, name), 'utf8');
    const code = blankRust(text)
      .replace(/#\[cfg\(test\)\]\s*mod\s+\w+\s*\{[\s\S]*?\n\}/g, '')
      // In any other inline module, `super` is this file.
      .replace(/\bmod\s+\w+\s*\{[\s\S]*?\n\}/g, (inner) => inner.replaceAll('super::', 'self::'));
    const exports = new Map();
    for (const [, use] of code.matchAll(/\bpub(?:\([^)]*\))?\s+use\s+([^;]*);/g)) {
      for (const path of flatten(use)) exports.set(path.alias ?? path.names.at(-1), path.names);
    }
    modules.set(file.replace(/(^|\/)(mod|lib|main)$/, ''), { file, code, exports });
  }
  return modules;
}

/** Lists every path of a `use`, and every other path that starts with `crate` or `super`. */
function pathsIn(code) {
  const paths = [];
  const rest = code.replace(/\buse\s+([^;]*);/g, (_, use) => {
    paths.push(...flatten(use).map(({ names }) => names));
    return '';
  });
  for (const [path] of rest.matchAll(/(?<![\w$:])(?:crate|super)(?:\s*::\s*\w+)+/g)) {
    paths.push(path.split(/\s*::\s*/));
  }
  return paths;
}

/** Lists the paths of a tree like `a::{b, c::{self, D as E}}`. */
function flatten(tree) {
  const text = tree.trim();
  const brace = text.indexOf('{');
  if (brace < 0) {
    const [path, alias] = text.split(/\s+as\s+/);
    return [{ names: path.split('::').map((name) => name.trim()), alias }];
  }
  const before = text
    .slice(0, brace)
    .split('::')
    .map((name) => name.trim())
    .filter(Boolean);
  return branches(text.slice(brace + 1, text.lastIndexOf('}'))).flatMap((branch) =>
    flatten(branch).map(({ names, alias }) => ({
      names: names[0] === 'self' ? before : [...before, ...names],
      alias,
    })),
  );
}

/** Splits at the commas outside of braces. */
function branches(text) {
  const parts = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '{') depth += 1;
    if (character === '}') depth -= 1;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.filter((part) => part.trim() !== '');
}

/** Returns the module that defines what `path` names, seen from `module`; `undefined` if another crate does. */
function resolve(modules, module, path) {
  const up = (name) => name.split('/').slice(0, -1).join('/');
  let at = module;
  let isOurs = false;
  for (const name of path) {
    const child = at === '' ? name : `${at}/${name}`;
    const exported = modules.get(at)?.exports.get(name);
    if (name === 'crate') at = '';
    else if (name === 'super') at = up(at);
    else if (modules.has(child)) at = child;
    else if (exported !== undefined && name !== exported[0]) return resolve(modules, at, exported);
    else if (name !== 'self') return isOurs && exported === undefined ? at : undefined;
    isOurs = true;
  }
  return at;
}
