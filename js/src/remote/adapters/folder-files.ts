/** Files of a remote in a folder: how they are written so that nobody sees a part of one, and how they fail. */
import { HedgerowError } from '../../base/errors.js';
import { builtin } from '../../base/node.js';
import { remoteFault } from '../faults.js';

// As much of Node as is used.
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
interface Fs {
  mkdir(path: string, options: { recursive: true }): Promise<unknown>;
  open(path: string, flags: 'r' | 'wx'): Promise<File>;
  link(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  rm(path: string, options: { force: true; recursive?: true }): Promise<void>;
  readdir(path: string): Promise<string[]>;
  readFile(path: string): Promise<Uint8Array>;
  stat(path: string): Promise<{ readonly size: number; readonly mtimeMs: number }>;
}
interface Path {
  resolve(path: string): string;
  join(...parts: string[]): string;
}
interface Crypto {
  randomUUID(): string;
  createHash(name: 'sha256'): {
    update(bytes: Uint8Array): { digest(encoding: 'hex'): string };
  };
}

const USER = 'folderRemote';
/** A disk that may not be written. */
const DENIED = ['EACCES', 'EPERM', 'EROFS'];
const codeOf = (cause: unknown) => String((cause as { code?: unknown }).code);

/** The error of a remote for one of a file. */
export function fileFault(cause: unknown): unknown {
  if (cause instanceof HedgerowError) return cause;
  if (!DENIED.includes(codeOf(cause))) return remoteFault(`the folder fails: ${cause}`);
  return new HedgerowError('remote-auth', `the folder refuses it: ${cause}`, { cause });
}

/** What `promise` resolves to; `undefined` if it fails with that code of Node. */
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

  constructor(location: string) {
    this.#root = this.#path.resolve(location);
  }

  /** The path of a file. */
  at(...parts: string[]): string {
    return this.#path.join(this.#root, ...parts);
  }

  sha256(bytes: Uint8Array): string {
    return this.#crypto.createHash('sha256').update(bytes).digest('hex');
  }

  /** The names in a folder; none if it does not exist. */
  async names(...folder: string[]): Promise<string[]> {
    return (await unless('ENOENT', this.fs.readdir(this.at(...folder)))) ?? [];
  }

  /** Writes a file, and lets `place` put it where it belongs. */
  async write<T>(bytes: Uint8Array, place: (temporary: string) => Promise<T>): Promise<T> {
    await this.fs.mkdir(this.at('.temporary'), { recursive: true });
    const temporary = this.at('.temporary', this.#crypto.randomUUID());
    try {
      const file = await this.fs.open(temporary, 'wx');
      try {
        await file.writeFile(bytes);
        // Before anything names it: a head must not outlive its bytes in a power failure.
        await file.sync();
      } finally {
        await file.close();
      }
      return await place(temporary);
    } finally {
      await this.fs.rm(temporary, { force: true });
    }
  }

  /** Links a file to a name that must be free; says whether it was. */
  async claim(temporary: string, path: string): Promise<boolean> {
    const linked = this.fs.link(temporary, path).then(() => true);
    return (await unless('EEXIST', linked)) ?? false;
  }

  /** The bytes of a file from `from` up to `to`, or of all of it. */
  async read(path: string, from = 0, to = Number.POSITIVE_INFINITY): Promise<Uint8Array> {
    const file = await this.fs.open(path, 'r');
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
