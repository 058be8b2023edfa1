/** The files of a remote in a folder: writes them so that no reader sees a part of one, and makes their errors. */
import { builtin, HedgerowError, remoteFault } from 'hedgerow/kit';

// The used parts of Node.
interface File {
  writeFile(bytes: Uint8Array): Promise<void>;
  read(
    into: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>;
  stat(): Promise<{ readonly size: number }>;
  sync(): Promise<void>;
  close(): Promise<void>;
}
interface FileStats {
  readonly size: number;
  readonly mtimeMs: number;
  isFile(): boolean;
}
interface Fs {
  readonly constants: { readonly O_RDONLY: number; readonly O_NOFOLLOW?: number };
  mkdir(path: string, options: { recursive: true }): Promise<string | undefined>;
  open(path: string, flags: 'r' | 'wx' | number): Promise<File>;
  link(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  rm(path: string, options: { force: true; recursive?: true }): Promise<void>;
  readdir(path: string): Promise<string[]>;
  lstat(path: string): Promise<FileStats>;
}
interface Path {
  readonly sep: string;
  resolve(path: string): string;
  dirname(path: string): string;
  join(...parts: string[]): string;
}
interface Crypto {
  randomUUID(): string;
  createHash(name: 'sha256'): {
    update(bytes: Uint8Array): { digest(encoding: 'hex'): string };
  };
}

const USER = 'folderRemote';
/** The folder of files that are on their way to their names. */
const TEMPORARY = '.temporary';
/** A file that is on its way for so long was left by a killed process. */
const LEFT_MS = 86_400_000;
/** The codes of a disk that may not be written. */
const DENIED = ['EACCES', 'EPERM', 'EROFS'];
const codeOf = (cause: unknown) => String((cause as { code?: unknown }).code);

/** Makes the error of a remote from the error of a file. */
export function fileFault(cause: unknown): unknown {
  if (cause instanceof HedgerowError) return cause;
  if (!DENIED.includes(codeOf(cause))) return remoteFault(`the folder fails: ${cause}`);
  return new HedgerowError('unauthorized', `the folder refuses it: ${cause}`, { cause });
}

/** Resolves as `promise` does; to `undefined` if it fails with this code of Node. */
export function unless<T>(code: 'ENOENT' | 'EEXIST', promise: Promise<T>): Promise<T | undefined> {
  return promise.catch((cause) => {
    if (codeOf(cause) === code) return undefined;
    throw cause;
  });
}

/** The files of a folder. */
export class Files {
  readonly fs = builtin<Fs>('node:fs/promises', USER);
  readonly #path = builtin<Path>('node:path', USER);
  readonly #crypto = builtin<Crypto>('node:crypto', USER);
  readonly #root: string;
  /** Folders whose names are known to be on the disk. */
  readonly #synced = new Set<string>();
  #swept: Promise<void> | undefined;

  constructor(location: string) {
    this.#root = this.#path.resolve(location);
  }

  /** Returns the path of a file. */
  at(...parts: string[]): string {
    return this.#path.join(this.#root, ...parts);
  }

  sha256(bytes: Uint8Array): string {
    return this.#crypto.createHash('sha256').update(bytes).digest('hex');
  }

  /** Reads the names in a folder; resolves to an empty list if it does not exist. */
  async names(...folder: string[]): Promise<string[]> {
    return (await unless('ENOENT', this.fs.readdir(this.at(...folder)))) ?? [];
  }

  /**
   * Makes a folder, which then outlives a power failure. Syncs an existing one once: its maker may have been killed.
   */
  async #make(path: string): Promise<void> {
    const first = await this.fs.mkdir(path, { recursive: true });
    if (first === undefined && this.#synced.has(path)) return;
    const upTo = Math.min(first?.length ?? Number.POSITIVE_INFINITY, this.#root.length + 1);
    for (let at = path; at.length >= upTo; at = this.#path.dirname(at)) {
      await this.#sync(this.#path.dirname(at));
    }
    this.#synced.add(path);
  }

  /** Makes the names in a folder outlive a power failure. Windows has no call for that: NTFS logs names itself. */
  async #sync(path: string): Promise<void> {
    if (this.#path.sep === '\\') return;
    const folder = await this.fs.open(path, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  /** Deletes the files that killed writers have left: old ones, since other processes write here, too. */
  async #sweep(): Promise<void> {
    for (const name of await this.names(TEMPORARY)) {
      const path = this.at(TEMPORARY, name);
      const stat = await unless('ENOENT', this.fs.lstat(path));
      const isLeft = stat !== undefined && Date.now() - stat.mtimeMs > LEFT_MS;
      if (isLeft) await this.fs.rm(path, { force: true });
    }
  }

  /** Writes a file, and lets `place` give it a name in `folder`. After that it outlives a power failure. */
  async write<T>(
    bytes: Uint8Array,
    folder: readonly string[],
    place: (temporary: string) => Promise<T>,
  ): Promise<T> {
    const path = this.at(...folder);
    await this.#make(path);
    await this.fs.mkdir(this.at(TEMPORARY), { recursive: true });
    // A write does not need the freed space: it goes on when another user's file cannot be deleted.
    this.#swept ??= this.#sweep().catch(() => {});
    await this.#swept;
    const temporary = this.at(TEMPORARY, this.#crypto.randomUUID());
    try {
      const file = await this.fs.open(temporary, 'wx');
      try {
        await file.writeFile(bytes);
        // Before anything names it: a head must not outlive its bytes in a power failure.
        await file.sync();
      } finally {
        await file.close();
      }
      const placed = await place(temporary);
      await this.#sync(path);
      return placed;
    } finally {
      await this.fs.rm(temporary, { force: true });
    }
  }

  /** Links a file to a name that must be free; resolves to whether it was. */
  async claim(temporary: string, path: string): Promise<boolean> {
    const linked = this.fs.link(temporary, path).then(() => true);
    return (await unless('EEXIST', linked)) ?? false;
  }

  /** Reads a file from `from` up to `to`, or all of it. Fails for a link, which may lead out of the folder. */
  async read(path: string, from = 0, to = Number.POSITIVE_INFINITY): Promise<Uint8Array> {
    const { O_RDONLY, O_NOFOLLOW = 0 } = this.fs.constants;
    const file = await this.fs.open(path, O_RDONLY | O_NOFOLLOW);
    try {
      const { size } = await file.stat();
      const bytes = new Uint8Array(Math.max(0, Math.min(size, to) - from));
      const { bytesRead } = await file.read(bytes, 0, bytes.length, from);
      return bytes.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  }
}
