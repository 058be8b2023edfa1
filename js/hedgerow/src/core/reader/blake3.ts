/**
 * The hash of chunks, BLAKE3: https://github.com/BLAKE3-team/BLAKE3-specs/blob/master/blake3.pdf, sections 2.1 to 2.5.
 * It is short, since it runs a few times only, before an engine has compiled it.
 */

const BLOCK_BYTES = 64;
/** Bytes of a leaf of the tree of hashes. */
const LEAF_BYTES = 1024;

/** Flags of a block. */
const CHUNK_START = 1;
const CHUNK_END = 2;
const PARENT = 4;
const ROOT = 8;

const IV = Int32Array.of(
  0x6a09e667,
  0xbb67ae85,
  0x3c6ef372,
  0xa54ff53a,
  0x510e527f,
  0x9b05688c,
  0x1f83d9ab,
  0x5be0cd19,
);

/** The words of a block in the order in which the seven rounds take them. */
const ORDER = new Uint8Array(112);
for (let at = 0; at < ORDER.length; at++) {
  const from = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8][at % 16] as number;
  ORDER[at] = at < 16 ? at : (ORDER[at - (at % 16) - 16 + from] as number);
}

/** The state of a compression, and its block. */
const state = new Int32Array(16);
const block = new Int32Array(16);
const blockBytes = new Uint8Array(block.buffer);

/** Mixes four words of the state with the words of the block that are next in `ORDER`. */
function mix(a: number, b: number, c: number, d: number, order: number): void {
  let va = state[a] as number;
  let vb = state[b] as number;
  let vc = state[c] as number;
  let vd = state[d] as number;
  va = (va + vb + (block[ORDER[order] as number] as number)) | 0;
  vd ^= va;
  vd = (vd >>> 16) | (vd << 16);
  vc = (vc + vd) | 0;
  vb ^= vc;
  vb = (vb >>> 12) | (vb << 20);
  va = (va + vb + (block[ORDER[order + 1] as number] as number)) | 0;
  vd ^= va;
  vd = (vd >>> 8) | (vd << 24);
  vc = (vc + vd) | 0;
  vb ^= vc;
  state[a] = va;
  state[b] = (vb >>> 7) | (vb << 25);
  state[c] = vc;
  state[d] = vd;
}

/** Compresses the block into a chaining value. */
function compress(chain: Int32Array, counter: number, length: number, flags: number): void {
  state.set(chain);
  state.set(IV.subarray(0, 4), 8);
  state.set([counter, 0, length, flags], 12);
  for (let order = 0; order < ORDER.length; order += 16) {
    mix(0, 4, 8, 12, order);
    mix(1, 5, 9, 13, order + 2);
    mix(2, 6, 10, 14, order + 4);
    mix(3, 7, 11, 15, order + 6);
    mix(0, 5, 10, 15, order + 8);
    mix(1, 6, 11, 12, order + 10);
    mix(2, 7, 8, 13, order + 12);
    mix(3, 4, 9, 14, order + 14);
  }
  for (let at = 0; at < 8; at++) chain[at] = (state[at] as number) ^ (state[at + 8] as number);
}

/** Hashes the bytes from the leaf with the number `counter` on; `root` is a flag if they are all. */
function hashTree(bytes: Uint8Array, counter: number, root: number): Int32Array {
  const chain = IV.slice();
  const { length } = bytes;
  if (length > LEAF_BYTES) {
    let half = LEAF_BYTES;
    while (2 * half < length) half *= 2;
    const left = hashTree(bytes.subarray(0, half), counter, 0);
    const right = hashTree(bytes.subarray(half), counter + half / LEAF_BYTES, 0);
    block.set(left);
    block.set(right, 8);
    compress(chain, 0, BLOCK_BYTES, PARENT | root);
    return chain;
  }
  for (let at = 0; at === 0 || at < length; at += BLOCK_BYTES) {
    const part = bytes.subarray(at, at + BLOCK_BYTES);
    if (part.length < BLOCK_BYTES) block.fill(0);
    blockBytes.set(part);
    const isLast = at + BLOCK_BYTES >= length;
    const flags = (at === 0 ? CHUNK_START : 0) | (isLast ? CHUNK_END | root : 0);
    compress(chain, counter, part.length, flags);
  }
  return chain;
}

/** Returns whether bytes, fewer than 4 TiB, have a hash. Costs a pass over them. */
export function hasHash(bytes: Uint8Array, hash: Uint8Array): boolean {
  const own = new Uint8Array(hashTree(bytes, 0, ROOT).buffer);
  return own.every((byte, at) => byte === hash[at]);
}
