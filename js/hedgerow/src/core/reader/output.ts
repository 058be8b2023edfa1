/** The output of a read, as `core/calls/read-calls.ts` takes it: `crate/trees/src/output.rs` describes it. */

const [QUOTE, BACKSLASH, OPEN, CLOSE, COMMA, ZERO] = [0x22, 0x5c, 0x5b, 0x5d, 0x2c, 0x30];
const HEX = '0123456789abcdef';
const NULL = Uint8Array.from('null', (letter) => letter.charCodeAt(0));

/** Bytes that grow. */
export class ByteList {
  #bytes = new Uint8Array(256);
  length = 0;

  /** Makes room for more bytes; returns where they begin. */
  #grow(count: number): number {
    const at = this.length;
    this.length += count;
    if (this.length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.length, 2 * this.#bytes.length));
      grown.set(this.#bytes.subarray(0, at));
      this.#bytes = grown;
    }
    return at;
  }

  push(byte: number): void {
    const at = this.#grow(1);
    this.#bytes[at] = byte;
  }

  append(bytes: Uint8Array): void {
    const at = this.#grow(bytes.length);
    this.#bytes.set(bytes, at);
  }

  /** Appends UTF-8 as a JSON string. */
  appendString(text: Uint8Array): void {
    this.push(QUOTE);
    for (const byte of text) {
      if (byte === QUOTE || byte === BACKSLASH) this.push(BACKSLASH);
      if (byte >= 0x20) this.push(byte);
      else
        for (const unit of `\\u00${HEX[byte >> 4]}${HEX[byte & 15]}`) this.push(unit.charCodeAt(0));
    }
    this.push(QUOTE);
  }

  /** Begins the next member of a JSON array. */
  separate(): void {
    this.push(this.length === 0 ? OPEN : COMMA);
  }

  /** Ends a JSON array. */
  close(): void {
    if (this.length === 0) this.push(OPEN);
    this.push(CLOSE);
  }

  /** The bytes, as long as no others are added. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }
}

/** The output of a read. */
export class Output {
  /** All members, with `null` for each value; empty if there are only values. */
  readonly keys = new ByteList();
  /** The values. */
  readonly text = new ByteList();
  /** The values that are bytes. */
  readonly bytes = new ByteList();
  /** For each of them its index among the values, its start and its length. */
  readonly marks: number[] = [];
  values = 0;
  /** Whether it ends in the middle of a value, so that it cannot be handed out. */
  isPartial = false;

  /** The number of bytes. */
  get length(): number {
    return this.keys.length + this.text.length + this.bytes.length;
  }

  /** Adds a key. */
  addKey(key: Uint8Array): void {
    this.keys.separate();
    this.keys.appendString(key);
  }

  /** Adds a member that is JSON text. */
  addText(text: Uint8Array): void {
    this.keys.separate();
    this.keys.append(text);
  }

  /** Begins a value; its bytes go to the returned list until `endValue`. */
  beginValue(isBytes: boolean): ByteList {
    if (this.keys.length > 0) this.addText(NULL);
    this.text.separate();
    this.values += 1;
    this.isPartial = true;
    if (!isBytes) return this.text;
    this.text.push(ZERO);
    this.marks.push(this.values - 1, this.bytes.length, 0);
    return this.bytes;
  }

  /** Ends the value that was begun. */
  endValue(isBytes: boolean): void {
    this.isPartial = false;
    if (!isBytes) return;
    const start = this.marks[this.marks.length - 2] as number;
    this.marks[this.marks.length - 1] = this.bytes.length - start;
  }

  /** Ends the arrays. */
  close(): void {
    this.text.close();
    if (this.keys.length > 0) this.keys.close();
  }
}
