/** A remote in a folder, which several processes may write and any static server can publish. */
import {
  type ByteRange,
  checkedRemote,
  checkSignal,
  HedgerowError,
  headName,
  type ListPrefix,
  type RemoteOptions,
  type Swap,
} from 'hedgerow/kit';
import { parseName, type Remote, type RemoteHead } from 'hedgerow/sync';
import { Files, fileFault, unless } from './folder-files.js';
import { FolderHeads } from './folder-heads.js';

/**
 * Returns a remote in the folder `location`, which is made when it is missing. Its disk must have hard links. Throws
 * `invalid-argument` unless it is a path, and `unsupported` outside of Node.
 */
export function folderRemote(location: string): Remote {
  if (typeof location !== 'string' || location === '') {
    throw new HedgerowError('invalid-argument', 'folderRemote takes the path of a folder');
  }
  return checkedRemote('folderRemote', new FolderRemote(new Files(location)));
}

class FolderRemote implements Remote {
  readonly #files: Files;
  readonly #heads: FolderHeads;

  constructor(files: Files) {
    this.#files = files;
    this.#heads = new FolderHeads(files);
  }

  /** Runs a call, and turns its errors into errors of a remote. */
  async #call<T>({ signal }: RemoteOptions, run: () => Promise<T>): Promise<T> {
    checkSignal(signal);
    try {
      return await run();
    } catch (cause) {
      throw fileFault(cause);
    } finally {
      checkSignal(signal);
    }
  }

  async readHead(branch: string, options: RemoteOptions = {}): Promise<RemoteHead | undefined> {
    const name = headName(branch);
    const head = await this.#call(options, () => this.#heads.read(name.slice(2)));
    return head && { bytes: head.bytes, token: head.token, modifiedMs: head.modifiedMs };
  }

  async readHeadSince(branch: string, token: string, options: RemoteOptions = {}) {
    const head = await this.readHead(branch, options);
    return head?.token === token ? 'unchanged' : head;
  }

  async swapHead(
    branch: string,
    token: string | undefined,
    bytes: Uint8Array,
    options: RemoteOptions = {},
  ): Promise<Swap> {
    const name = headName(branch);
    return this.#call(options, () => this.#heads.swap(name.slice(2), token, bytes));
  }

  async get(name: string, range?: ByteRange, options: RemoteOptions = {}) {
    const path = this.#files.at(name);
    return this.#call(options, () =>
      unless('ENOENT', this.#files.read(path, range?.from, range?.to)),
    );
  }

  async put(name: string, bytes: Uint8Array, options: RemoteOptions = {}) {
    const path = this.#files.at(name);
    return this.#call(options, async () => {
      const folder = name.split('/').slice(0, -1);
      const isFirst = await this.#files.write(bytes, folder, async (temporary) => {
        if (folder.length === 0) return this.#files.claim(temporary, path);
        await this.#files.fs.rename(temporary, path);
        return true;
      });
      return isFirst ? 'put' : 'exists';
    });
  }

  async remove(all: readonly string[], options: RemoteOptions = {}): Promise<void> {
    const force = { force: true } as const;
    const faults: unknown[] = [];
    for (const name of all) {
      const isHead = name.startsWith('h/');
      const removed = this.#call(options, () =>
        isHead ? this.#heads.remove(name.slice(2)) : this.#files.fs.rm(this.#files.at(name), force),
      );
      await removed.catch((cause) => faults.push(cause));
    }
    if (faults.length > 0) throw faults[0];
  }

  async list(prefix: ListPrefix, options: RemoteOptions = {}) {
    return this.#call(options, async () => {
      const found = [];
      for (const file of await this.#files.names(prefix)) {
        const name = prefix + file;
        const stat = await unless('ENOENT', this.#files.fs.lstat(this.#files.at(name)));
        if (stat?.isFile() !== true || parseName(name) === undefined) continue;
        found.push({ name, length: stat.size, modifiedMs: stat.mtimeMs });
      }
      return found;
    });
  }
}
