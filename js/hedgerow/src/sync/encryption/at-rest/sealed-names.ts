/** Seals names of refs and of locks, so that equal names stay equal. */
import { hex, unhex } from '../../../base/hex.js';
import type { Siv } from './siv.js';

const CODE_BYTES = 16;
/** Names are padded to a multiple of this many bytes: their lengths would distinguish them. */
const PADDED_BYTES = 32;
/** The most names in memory; a store rarely has more. */
const MOST_KEPT = 10_000;

const ENCODER = new TextEncoder();
const SEALED = /^(?:[0-9a-f]{2})+$/;

/** Encodes any string as bytes: JSON has an escape for halves of surrogates, and ignores spaces at the end. */
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

  /** Equal names of different kinds are sealed differently. */
  constructor(siv: Siv, kind: string) {
    this.#siv = siv;
    this.#kind = kind;
  }

  seal(name: string): Promise<string> {
    return memoizeName(this.#sealed, name, async () =>
      hex(await this.#siv.seal([this.#kind], padName(name), CODE_BYTES)),
    );
  }

  /** Opens a name; resolves to `undefined` if this key did not seal it. */
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
