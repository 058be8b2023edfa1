// Finds the files that a test file leads to: its imports, their imports, and all files and folders whose paths stand in
// their texts. It reads text, not syntax trees, and rather takes a file too many than one too few.

import { posix } from 'node:path';
import { blankTypeScript } from '../lib/layers.mjs';
import { PACKAGE } from './inputs.mjs';

/** Texts in quotes, and templates whole. */
const TEXTS = /(['"])((?:(?!\1)[^\\\n])*)\1|`((?:[^`\\]|\\[\s\S])*)`/g;
/** Imports that are gone when tests run. */
const TYPES = /^(?:import|export) type [^;]*;/gm;
const CODE = /\.([cm]?[jt]sx?|svelte|vue)$/;

/** Returns the names that an import without its own extension, or with the compiled file's, may stand for. */
const candidates = (path) => [
  path,
  path.replace(/\.js$/, '.ts'),
  path.replace(/\.js$/, '.tsx'),
  path.replace(/\.mjs$/, '.mts'),
  path.replace(/\.mjs$/, '.d.mts'),
];

/** Texts that begin so may name one of our packages. */
const OURS = /^(@hedgerow|hedgerow)(\/|$)/;

/** Folders at the root that tests name by one word. */
const PLACES = new Set(['vectors', 'docs', 'examples', 'crate', 'scripts', 'site', 'demo', 'e2e']);

/** Returns the folders in a template before its first expression, or all of it if it has no expression. */
function beforeExpression(template) {
  const [first, ...rest] = template.split('${');
  return rest.length === 0 ? first : first.slice(0, first.lastIndexOf('/') + 1);
}

/** Returns the folder of the package that a file belongs to. */
const homeOf = (file) =>
  file
    .split('/')
    .slice(0, file.startsWith('js/') ? 2 : 1)
    .join('/');

/** Finds the files that other files lead to; reads each file once. */
export class Imports {
  #files;
  #names;
  #folders = new Set();
  #direct = new Map();

  constructor(files) {
    this.#files = files;
    this.#names = new Set(files.names);
    for (const name of files.names) {
      for (let dir = posix.dirname(name); dir !== '.'; dir = posix.dirname(dir))
        this.#folders.add(dir);
    }
  }

  /** Returns `file` and all files that it leads to, in order. */
  from(file) {
    const found = new Set([file]);
    for (const name of found) {
      // For a file of data only the path counts.
      if (CODE.test(name)) for (const next of this.#of(name)) found.add(next);
    }
    return [...found].sort();
  }

  #of(file) {
    let direct = this.#direct.get(file);
    if (direct === undefined) {
      direct = [...this.#read(file)];
      this.#direct.set(file, direct);
    }
    return direct;
  }

  *#read(file) {
    const code = blankTypeScript(this.#files.text(file) ?? '').replace(TYPES, '');
    const isSource = file.startsWith('js/hedgerow/src/');
    for (const [, , quoted, template] of code.matchAll(TEXTS)) {
      const text = quoted ?? beforeExpression(template);
      if (/^\.\.?\//.test(text)) yield* this.#at(posix.join(posix.dirname(file), text));
      // The sources of `hedgerow` import by relative paths alone; others also import packages, and tests join paths.
      else if (!isSource) yield* this.#elsewhere(file, text);
    }
  }

  *#elsewhere(file, text) {
    if (OURS.test(text)) yield* this.#files.named(PACKAGE);
    else if (PLACES.has(text) || /^[\w.-]+(\/[\w.@+-]+)+\/?$/.test(text)) {
      yield* this.#at(text);
      yield* this.#at(posix.join(homeOf(file), text));
    }
  }

  /** Yields the file or the files of the folder at a path. */
  *#at(path) {
    const place = path.replace(/\/$/, '');
    if (this.#folders.has(place)) yield* this.#files.named([place]);
    else yield* candidates(place).filter((name) => this.#names.has(name));
  }
}
