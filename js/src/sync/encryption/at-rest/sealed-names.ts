/** Names of refs and of locks, sealed so that equal names stay equal. */
import { hex, unhex } from '../../../base/hex.js';
import type { Siv } from './siv.js';

const CODE_BYTES = 16;
/** Names are padded to a multiple of so many bytes: their lengths would tell them apart. */
const PADDED_BYTES = 32;
/** So many names are kept; those of one store seldom are more. */
const MOST_KEPT = 10_000;

const ENCODER = new TextEncoder();
const SEALED = /^(?:[0-9a-f]{2})+$/;

/** Any string as bytes: JSON has an escape for halves of surrogates. Spaces at the end mean nothing in it. */
function padName(name: string): Uint8Array {
  const textBytes = ENCODER.encode(JSON.stringify(name));
  const length = Math.ceil(textBytes.length / PADDED_BYTES) * PADDED_BYTES;
  const bytes = new Uint8Array(length).fill(0x20);
  bytes.set(textBytes);
  return bytes;
}

export class SealedNames {
  readonly #siv: Siv;
  readonly #kind: string;
  readonly #sealed = new Map<string, Promise<string>>();
  readonly #opened = new Map<string, Promise<string | undefined>>();

  /** Names of one kind tell nothing of equal names of another. */
  constructor(siv: Siv, kind: string) {
    this.#siv = siv;
    this.#kind = kind;
  }

  seal(name: string): Promise<string> {
    return memoizeName(this.#sealed, name, async () =>
      hex(await this.#siv.seal([this.#kind], padName(name), CODE_BYTES)),
    );
  }

  /** Undefined if it is no name that was sealed with this key. */
  open(sealed: string): Promise<string | undefined> {
    return memoizeName(this.#opened, sealed, async () => {
      if (!SEALED.test(sealed)) return undefined;
      const plainBytes = await this.#siv.open([this.#kind], unhex(sealed), CODE_BYTES);
      return plainBytes && (JSON.parse(new TextDecoder().decode(plainBytes)) as string);
    });
  }
}

function memoizeName<T>(
  all: Map<string, Promise<T>>,
  key: string,
  make: () => Promise<T>,
): Promise<T> {
  const before = all.get(key);
  if (before !== undefined) return before;
  if (all.size >= MOST_KEPT) all.clear();
  const made = make();
  all.set(key, made);
  made.catch(() => all.delete(key));
  return made;
}
