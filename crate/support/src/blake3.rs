//! BLAKE3 by its paper, block by block and word by word, to compare with the core's hash, which uses vector
//! instructions. It is independent of the crate `blake3`.

use std::array::from_fn;

const START: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];
const ORDER: [usize; 16] = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
/// The places that each step of a round mixes: columns, then diagonals.
const STEPS: [[usize; 4]; 8] = [
    [0, 4, 8, 12],
    [1, 5, 9, 13],
    [2, 6, 10, 14],
    [3, 7, 11, 15],
    [0, 5, 10, 15],
    [1, 6, 11, 12],
    [2, 7, 8, 13],
    [3, 4, 9, 14],
];
const CHUNK_BYTES: usize = 1024;
const BLOCK_BYTES: usize = 64;
const CHUNK_START: u32 = 1;
const CHUNK_END: u32 = 2;
const PARENT: u32 = 4;
const ROOT: u32 = 8;
const KEYED: u32 = 16;

/// Returns the hash of `bytes`, under a key if there is one.
pub fn blake3(key: Option<&[u8; 32]>, bytes: &[u8]) -> [u8; 32] {
    let (start, flags) = match key {
        Some(key) => (words(key), KEYED),
        None => (START, 0),
    };
    let hash = subtree(&start, bytes, 0, flags, ROOT);
    from_fn(|at| hash[at / 4].to_le_bytes()[at % 4])
}

/// Returns the hash of the chunks from number `first` on. `root` is the flag of the root, or 0.
fn subtree(start: &[u32; 8], bytes: &[u8], first: u64, flags: u32, root: u32) -> [u32; 8] {
    if bytes.len() <= CHUNK_BYTES {
        return chunk(start, bytes, first, flags, root);
    }
    // The largest power of two of chunks that leaves some for the other side.
    let left = 1 << ((bytes.len() - 1) / CHUNK_BYTES).ilog2();
    let (bytes, others) = bytes.split_at(left * CHUNK_BYTES);
    let left_hash = subtree(start, bytes, first, flags, 0);
    let right_hash = subtree(start, others, first + left as u64, flags, 0);
    let block = from_fn(|at| if at < 8 { left_hash[at] } else { right_hash[at - 8] });
    compress(start, block, 0, BLOCK_BYTES, flags | PARENT | root)
}

fn chunk(start: &[u32; 8], bytes: &[u8], number: u64, flags: u32, root: u32) -> [u32; 8] {
    // Without bytes it has an empty block.
    let count = bytes.len().div_ceil(BLOCK_BYTES).max(1);
    let mut hash = *start;
    for at in 0..count {
        let bytes = &bytes[at * BLOCK_BYTES..bytes.len().min((at + 1) * BLOCK_BYTES)];
        let mut block = [0; BLOCK_BYTES];
        block[..bytes.len()].copy_from_slice(bytes);
        let first = if at == 0 { CHUNK_START } else { 0 };
        let last = if at == count - 1 { CHUNK_END | root } else { 0 };
        hash = compress(&hash, words(&block), number, bytes.len(), flags | first | last);
    }
    hash
}

fn words<const N: usize>(bytes: &[u8]) -> [u32; N] {
    from_fn(|at| u32::from_le_bytes(from_fn(|byte| bytes[4 * at + byte])))
}

fn compress(
    start: &[u32; 8],
    mut block: [u32; 16],
    number: u64,
    len: usize,
    flags: u32,
) -> [u32; 8] {
    let last = [number as u32, (number >> 32) as u32, len as u32, flags];
    let mut state: [u32; 16] = from_fn(|at| match at {
        0..8 => start[at],
        8..12 => START[at - 8],
        _ => last[at - 12],
    });
    for _ in 0..7 {
        for (at, places) in STEPS.iter().enumerate() {
            mix(&mut state, places, block[2 * at], block[2 * at + 1]);
        }
        block = ORDER.map(|at| block[at]);
    }
    from_fn(|at| state[at] ^ state[at + 8])
}

fn mix(state: &mut [u32; 16], &[a, b, c, d]: &[usize; 4], first: u32, second: u32) {
    for (word, turns) in [(first, [16, 12]), (second, [8, 7])] {
        state[a] = state[a].wrapping_add(state[b]).wrapping_add(word);
        state[d] = (state[d] ^ state[a]).rotate_right(turns[0]);
        state[c] = state[c].wrapping_add(state[d]);
        state[b] = (state[b] ^ state[c]).rotate_right(turns[1]);
    }
}
