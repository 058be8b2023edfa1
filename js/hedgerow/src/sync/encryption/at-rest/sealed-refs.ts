/**
 * Seals the names and commits of refs, and leaves their generations as they are. Adapters keep 32 bytes of a commit,
 * and a number of 32 bits for the format, so 23 bits of the commit's code share that number.
 */
import { sameBytes } from '../../../base/bytes.js';
import { HedgerowError } from '../../../base/errors.js';
import { MAX_FORMAT } from '../../../base/limits.js';
import type { Ref } from '../../../storage/segment-store.js';
import { SealedNames } from './sealed-names.js';
import type { SealContext, Siv } from './siv.js';

/** The format of a sealed ref has this bit, 23 bits of the ref's code, and 8 bits of the format before. */
export const SEALED = 0x8000_0000;
const CODE_MASK = 0x7f_ffff;
const FORMAT_BITS = 8;

/** A ref, and whether it is as it was sealed. */
export interface OpenedRef {
  readonly ref: Ref;
  readonly isSound: boolean;
}

/** A ref, opened and as it is stored. */
interface RememberedRef {
  readonly ref: Ref;
  readonly stored: Ref;
}

function bytesOfCode(code: number): Uint8Array {
  return new Uint8Array([code, code >> 8, code >> 16]);
}

export class SealedRefs {
  readonly names: SealedNames;
  readonly #siv: Siv;
  /** The refs as they were last read or written, by name. */
  readonly #known = new Map<string, RememberedRef>();

  constructor(siv: Siv) {
    this.#siv = siv;
    this.names = new SealedNames(siv, 'ref');
  }

  /** Makes the stored form of a ref that is moved. */
  async seal<Move extends Ref>(move: Move): Promise<Move> {
    const { name, generation, format, commitBytes } = move;
    if (format > MAX_FORMAT) {
      throw new HedgerowError(
        'newer-version/format',
        `format ${format} cannot be sealed: update the app`,
      );
    }
    const context: SealContext = ['commit', name, generation, format];
    const [stored, whole] = await Promise.all([
      this.names.seal(name),
      this.#siv.code(context, commitBytes),
    ]);
    const code = new DataView(whole.buffer).getUint32(0, true) & CODE_MASK;
    const sealedBytes = await this.#siv.maskBytes(context, bytesOfCode(code), commitBytes);
    const word = SEALED + (code << FORMAT_BITS) + format;
    return { ...move, name: stored, commitBytes: sealedBytes, format: word };
  }

  /**
   * Opens the stored form of the ref `name`. A damaged ref gets a commit that never existed: no reader finds it, and a
   * repair takes an earlier one.
   */
  async open(name: string, stored: Ref): Promise<OpenedRef> {
    const known = this.#known.get(name);
    if (known !== undefined && isSame(known.stored, stored)) {
      return { ref: copyOf(known.ref), isSound: true };
    }
    const { generation, format: word, commitBytes: sealedBytes } = stored;
    const format = word & MAX_FORMAT;
    const context: SealContext = ['commit', name, generation, format];
    const code = (word >>> FORMAT_BITS) & CODE_MASK;
    const plainBytes = await this.#siv.maskBytes(context, bytesOfCode(code), sealedBytes);
    const whole = await this.#siv.code(context, plainBytes);
    const isSound =
      word >= SEALED && (new DataView(whole.buffer).getUint32(0, true) & CODE_MASK) === code;
    const commitBytes = isSound ? plainBytes : whole;
    return { ref: { name, commitBytes, generation, format }, isSound };
  }

  /** Opens a ref by its stored name. Throws `storage` if this key did not seal the name. */
  async openStoredRef(stored: Ref): Promise<Ref> {
    const name = await this.names.open(stored.name);
    if (name === undefined) {
      throw new HedgerowError(
        'unavailable/storage',
        'a stored record is malformed: the name of a ref',
      );
    }
    const { ref, isSound } = await this.open(name, stored);
    if (isSound) this.know(ref, stored);
    return ref;
  }

  /** Remembers a ref, opened and as it is stored. */
  know(ref: Ref, stored: Ref): void {
    this.#known.set(ref.name, { ref: copyOf(ref), stored: copyOf(stored) });
  }

  forget(name: string): void {
    this.#known.delete(name);
  }

  /** Returns the stored bytes of a commit of a ref, if the ref is known to be there. */
  storedCommit({ name, commitBytes }: Pick<Ref, 'name' | 'commitBytes'>): Uint8Array | undefined {
    const known = this.#known.get(name);
    return sameBytes(known?.ref.commitBytes, commitBytes) ? known?.stored.commitBytes : undefined;
  }
}

function isSame(a: Ref, b: Ref): boolean {
  const isPlace = a.generation === b.generation && a.format === b.format;
  return isPlace && a.name === b.name && sameBytes(a.commitBytes, b.commitBytes);
}

/** Copies a ref: its receiver owns the bytes. */
function copyOf({ name, commitBytes, generation, format }: Ref): Ref {
  return { name, commitBytes: new Uint8Array(commitBytes), generation, format };
}
