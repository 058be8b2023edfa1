/**
 * Heads in a folder. Several processes swap them without a lock, which a dying process would keep.
 *
 * The head of a branch is a series of files, `.heads/<branch>/<n>`: the highest n is the head. A swap makes n + 1 by a
 * hard link, which fails if the file exists. `h/<branch>` is a copy for static servers. The newest states stay, so that
 * a writer that was suspended meets the file of the winner, or sees that others went far past it.
 */

import { goneFault, remoteFault, type Swap } from 'hedgerow/kit';
import type { RemoteHead } from 'hedgerow/sync';
import { type Files, unless } from './folder-files.js';

/** Number of newest states that stay. */
const KEPT = 32;

interface State extends RemoteHead {
  readonly number: number;
}

export class FolderHeads {
  readonly #files: Files;

  constructor(files: Files) {
    this.#files = files;
  }

  /** Reads the numbers of a head's states, in ascending order. */
  async #numbers(escaped: string): Promise<number[]> {
    const numbers = (await this.#files.names('.heads', escaped)).map(Number);
    return numbers.filter((one) => one > 0).sort((a, b) => a - b);
  }

  #token(number: number, bytes: Uint8Array): string {
    return `"${number}-${this.#files.sha256(bytes).slice(0, 32)}"`;
  }

  /** Reads the head; resolves to `undefined` if it does not exist. */
  async read(escaped: string): Promise<State | undefined> {
    for (;;) {
      const numbers = await this.#numbers(escaped);
      const number = numbers[numbers.length - 1];
      if (number === undefined) return undefined;
      const path = this.#files.at('.heads', escaped, String(number));
      const bytes = await unless('ENOENT', this.#files.read(path));
      const stat = await unless('ENOENT', this.#files.fs.lstat(path));
      // Otherwise the state is gone since it was listed: deleted, or the oldest by now.
      if (bytes !== undefined && stat !== undefined) {
        return { number, bytes, token: this.#token(number, bytes), modifiedMs: stat.mtimeMs };
      }
    }
  }

  async swap(escaped: string, token: string | undefined, bytes: Uint8Array): Promise<Swap> {
    const head = await this.read(escaped);
    if (token !== undefined && head === undefined) throw goneFault(`h/${escaped}`);
    if (head?.token !== token) return { state: 'lost', head };
    const number = (head?.number ?? 0) + 1;
    const folder = ['.heads', escaped];
    const path = this.#files.at(...folder, String(number));
    const isFirst = await this.#files.write(bytes, folder, (file) => this.#files.claim(file, path));
    if (!isFirst) return { state: 'lost', head: await this.read(escaped) };
    const numbers = await this.#numbers(escaped);
    const newest = numbers[numbers.length - 1] ?? number;
    // The number was free because all states up to it were removed: this is no swap.
    if (newest - number >= KEPT || (number > 1 && !numbers.includes(number - 1))) {
      await this.#files.fs.rm(path, { force: true });
      return { state: 'unknown', cause: remoteFault(`h/${escaped} was replaced meanwhile`) };
    }
    for (const old of numbers.slice(0, -KEPT)) {
      await this.#files.fs.rm(this.#files.at('.heads', escaped, String(old)), { force: true });
    }
    await this.#publish(escaped);
    return { state: 'swapped', token: this.#token(number, bytes) };
  }

  /** Copies the head for static servers. The last process copies the newest head. */
  async #publish(escaped: string): Promise<void> {
    const path = this.#files.at('h', escaped);
    let copied: number | undefined;
    for (;;) {
      const head = await this.read(escaped);
      if (head === undefined) return this.#files.fs.rm(path, { force: true });
      if (head.number === copied) return;
      await this.#files.write(head.bytes, ['h'], (file) => this.#files.fs.rename(file, path));
      copied = head.number;
    }
  }

  async remove(escaped: string): Promise<void> {
    const force = { force: true, recursive: true } as const;
    await this.#files.fs.rm(this.#files.at('.heads', escaped), force);
    await this.#files.fs.rm(this.#files.at('h', escaped), force);
  }
}
