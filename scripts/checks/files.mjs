// Reads the files of the repository by their content: selects a step's inputs, and makes one hash of them.

import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ask, ROOT } from '../lib/run.mjs';

const sha256 = (content) => createHash('sha256').update(content).digest('hex');

/** The files of a checkout, with uncommitted changes. Each is read at most once. */
export class Files {
  #root;
  #names;
  #hashes = new Map();

  /** `names` are paths within `root`, with slashes. */
  constructor(names, root = ROOT) {
    this.#root = root;
    this.#names = [...names].sort();
  }

  /** Lists the files that git tracks or would track; `undefined` where git does not answer. */
  static ofCheckout(root = ROOT) {
    const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
    const listed = ask('git', args, { cwd: root });
    return listed === undefined ? undefined : new Files(listed.split('\0').filter(Boolean), root);
  }

  /** All names, in order. */
  get names() {
    return this.#names;
  }

  /**
   * Returns the files that `inputs` name: files, folders, and with a `!` before them exceptions: a file, a folder, or
   * all files in a folder and below it with the same end of their names, such as `!js/hedgerow/test/*.test.ts`.
   */
  named(inputs) {
    const within = (place) => {
      const [folder, ending] = place.split('*');
      if (ending !== undefined) return (name) => name.startsWith(folder) && name.endsWith(ending);
      return (name) => place === '.' || name === place || name.startsWith(`${place}/`);
    };
    const isIn = inputs.filter((one) => !one.startsWith('!')).map(within);
    const isOut = inputs.filter((one) => one.startsWith('!')).map((one) => within(one.slice(1)));
    return this.#names.filter(
      (name) => isIn.some((test) => test(name)) && !isOut.some((test) => test(name)),
    );
  }

  /** Makes one hash of the names and contents of files, and of `more`, which is any text. */
  hash(names, more = '') {
    const hash = createHash('sha256').update(`${more}\0`);
    for (const name of names) hash.update(`${name}\0${this.#hashOf(name)}\0`);
    return hash.digest('hex');
  }

  /** Returns the text of a file; `undefined` if it was deleted. */
  text(name) {
    return this.#read(name)?.toString('utf8');
  }

  #hashOf(name) {
    let hash = this.#hashes.get(name);
    if (hash === undefined) {
      const content = this.#read(name);
      hash = content === undefined ? 'deleted' : sha256(content);
      this.#hashes.set(name, hash);
    }
    return hash;
  }

  #read(name) {
    const path = join(this.#root, name);
    try {
      return lstatSync(path).isSymbolicLink()
        ? Buffer.from(readlinkSync(path))
        : readFileSync(path);
    } catch {
      return undefined;
    }
  }
}
