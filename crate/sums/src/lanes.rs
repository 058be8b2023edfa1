//! SHA-256 over any number of lanes: one for a single hash, four in parallel in a vector.
//!
//! The code is generic over [`Lanes`]. WebAssembly has no SHA instructions, so it uses vectors of
//! 128 bits. Their instructions are safe to call because the whole module is built with them. Tests
//! compare these, and arrays elsewhere, with the `sha2` crate.

use crate::chain::{Chain, START, bit};

const K: [u32; 64] = [
    0x428a_2f98,
    0x7137_4491,
    0xb5c0_fbcf,
    0xe9b5_dba5,
    0x3956_c25b,
    0x59f1_11f1,
    0x923f_82a4,
    0xab1c_5ed5,
    0xd807_aa98,
    0x1283_5b01,
    0x2431_85be,
    0x550c_7dc3,
    0x72be_5d74,
    0x80de_b1fe,
    0x9bdc_06a7,
    0xc19b_f174,
    0xe49b_69c1,
    0xefbe_4786,
    0x0fc1_9dc6,
    0x240c_a1cc,
    0x2de9_2c6f,
    0x4a74_84aa,
    0x5cb0_a9dc,
    0x76f9_88da,
    0x983e_5152,
    0xa831_c66d,
    0xb003_27c8,
    0xbf59_7fc7,
    0xc6e0_0bf3,
    0xd5a7_9147,
    0x06ca_6351,
    0x1429_2967,
    0x27b7_0a85,
    0x2e1b_2138,
    0x4d2c_6dfc,
    0x5338_0d13,
    0x650a_7354,
    0x766a_0abb,
    0x81c2_c92e,
    0x9272_2c85,
    0xa2bf_e8a1,
    0xa81a_664b,
    0xc24b_8b70,
    0xc76c_51a3,
    0xd192_e819,
    0xd699_0624,
    0xf40e_3585,
    0x106a_a070,
    0x19a4_c116,
    0x1e37_6c08,
    0x2748_774c,
    0x34b0_bcb5,
    0x391c_0cb3,
    0x4ed8_aa4a,
    0x5b9c_ca4f,
    0x682e_6ff3,
    0x748f_82ee,
    0x78a5_636f,
    0x84c8_7814,
    0x8cc7_0208,
    0x90be_fffa,
    0xa450_6ceb,
    0xbef9_a3f7,
    0xc671_78f2,
];

/// Words of 32 bits, each in a lane of its own.
pub(crate) trait Lanes: Copy {
    /// The number of lanes.
    const COUNT: usize;
    fn splat(word: u32) -> Self;
    fn gather(word: impl Fn(usize) -> u32) -> Self;
    fn lane(self, at: usize) -> u32;
    fn add(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn shr(self, bits: u32) -> Self;
    fn rotr(self, bits: u32) -> Self;
}

impl Lanes for u32 {
    const COUNT: usize = 1;
    #[inline]
    fn splat(word: u32) -> Self {
        word
    }
    #[inline]
    fn gather(word: impl Fn(usize) -> u32) -> Self {
        word(0)
    }
    #[inline]
    fn lane(self, _: usize) -> u32 {
        self
    }
    #[inline]
    fn add(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
    #[inline]
    fn xor(self, other: Self) -> Self {
        self ^ other
    }
    #[inline]
    fn and(self, other: Self) -> Self {
        self & other
    }
    #[inline]
    fn shr(self, bits: u32) -> Self {
        self >> bits
    }
    #[inline]
    fn rotr(self, bits: u32) -> Self {
        self.rotate_right(bits)
    }
}

/// The lanes that chains are hashed in.
#[cfg(not(target_feature = "simd128"))]
#[cfg(target_arch = "wasm32")]
pub(crate) type Wide = u32;
/// The lanes that chains are hashed in.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) type Wide = core::arch::wasm32::v128;

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd {
    use super::Lanes;
    use core::arch::wasm32::{
        i32x4, i32x4_add, i32x4_extract_lane, i32x4_shl, i32x4_splat, u32x4_shr, v128, v128_and,
        v128_or, v128_xor,
    };

    impl Lanes for v128 {
        const COUNT: usize = 4;
        #[inline]
        fn splat(word: u32) -> Self {
            i32x4_splat(word.cast_signed())
        }
        #[inline]
        fn gather(word: impl Fn(usize) -> u32) -> Self {
            let word = |at| word(at).cast_signed();
            i32x4(word(0), word(1), word(2), word(3))
        }
        #[inline]
        fn lane(self, at: usize) -> u32 {
            match at {
                0 => i32x4_extract_lane::<0>(self),
                1 => i32x4_extract_lane::<1>(self),
                2 => i32x4_extract_lane::<2>(self),
                _ => i32x4_extract_lane::<3>(self),
            }
            .cast_unsigned()
        }
        #[inline]
        fn add(self, other: Self) -> Self {
            i32x4_add(self, other)
        }
        #[inline]
        fn xor(self, other: Self) -> Self {
            v128_xor(self, other)
        }
        #[inline]
        fn and(self, other: Self) -> Self {
            v128_and(self, other)
        }
        #[inline]
        fn shr(self, bits: u32) -> Self {
            u32x4_shr(self, bits)
        }
        #[inline]
        fn rotr(self, bits: u32) -> Self {
            v128_or(u32x4_shr(self, bits), i32x4_shl(self, 32 - bits))
        }
    }
}

#[inline]
#[allow(clippy::many_single_char_names, reason = "the standard's")]
fn round<L: Lanes>(state: &mut [L; 8], word: L) {
    let [a, b, c, d, e, f, g, h] = *state;
    let choice = g.xor(e.and(f.xor(g)));
    let mixed = e.rotr(6).xor(e.rotr(11)).xor(e.rotr(25));
    let first = h.add(word).add(mixed).add(choice);
    let majority = a.and(b).xor(c.and(a.xor(b)));
    let second = a.rotr(2).xor(a.rotr(13)).xor(a.rotr(22)).add(majority);
    *state = [first.add(second), a, b, c, d.add(first), e, f, g];
}

/// Returns the message schedule of a block, with the constants of the rounds added.
#[inline(never)]
fn schedule<L: Lanes>(block: &[L; 16]) -> [L; 64] {
    let mut words = [L::splat(0); 64];
    words[..16].copy_from_slice(block);
    for at in 16..64 {
        let (low, high) = (words[at - 15], words[at - 2]);
        let low = low.rotr(7).xor(low.rotr(18)).xor(low.shr(3));
        let high = high.rotr(17).xor(high.rotr(19)).xor(high.shr(10));
        words[at] = words[at - 16].add(low).add(words[at - 7]).add(high);
    }
    for (word, constant) in words.iter_mut().zip(K) {
        *word = word.add(L::splat(constant));
    }
    words
}

/// Adds a scheduled block to the state of each lane.
#[inline(never)]
fn rounds<L: Lanes>(state: &mut [L; 8], words: &[L; 64]) {
    let mut rounds = *state;
    for word in words {
        round(&mut rounds, *word);
    }
    for (word, made) in state.iter_mut().zip(rounds) {
        *word = word.add(made);
    }
}

/// Adds a block to the state of each lane.
pub(crate) fn compress<L: Lanes>(state: &mut [L; 8], words: &[L; 16]) {
    rounds(state, &schedule(words));
}

/// Hashes chains that start at the depth `from`, at most one for each lane. The second block of a
/// branch has the sum and the padding, so its schedule is the same along a chain.
pub(crate) fn follow<L: Lanes>(empty: &[[u32; 8]], chains: &mut [Chain], from: u16) {
    let gather = |chains: &[Chain], word: &dyn Fn(&Chain) -> u32| {
        L::gather(|at| chains.get(at).map_or(0, word))
    };
    let mut words = [L::splat(0); 16];
    words[0] = gather(chains, &|chain| (chain.sum >> 32) as u32);
    words[1] = gather(chains, &|chain| chain.sum as u32);
    words[2] = L::splat(0x8000_0000);
    words[15] = L::splat(72 * 8);
    let second = schedule(&words);
    let mut hash = [L::splat(0); 8];
    for (at, word) in hash.iter_mut().enumerate() {
        *word = gather(chains, &|chain| chain.hash[at]);
    }
    let last = chains.iter().map(|chain| chain.to).min().unwrap_or(from);
    for depth in (last..from).rev() {
        let right = gather(chains, &|chain| 0u32.wrapping_sub(bit(&chain.path, depth).into()));
        let mut block = [L::splat(0); 16];
        for at in 0..8 {
            let other = L::splat(empty[usize::from(depth) + 1][at]);
            let swap = hash[at].xor(other).and(right);
            block[at] = hash[at].xor(swap);
            block[8 + at] = other.xor(swap);
        }
        hash = START.map(L::splat);
        compress(&mut hash, &block);
        rounds(&mut hash, &second);
        for (lane, chain) in chains.iter_mut().enumerate() {
            if chain.to == depth {
                chain.hash = hash.map(|word| word.lane(lane));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{self, Rules};
    use sha2::{Digest, Sha256};

    #[cfg(not(target_arch = "wasm32"))]
    impl Lanes for [u32; 4] {
        const COUNT: usize = 4;
        fn splat(word: u32) -> Self {
            [word; 4]
        }
        fn gather(word: impl Fn(usize) -> u32) -> Self {
            core::array::from_fn(word)
        }
        fn lane(self, at: usize) -> u32 {
            self[at]
        }
        fn add(self, other: Self) -> Self {
            core::array::from_fn(|at| self[at].wrapping_add(other[at]))
        }
        fn xor(self, other: Self) -> Self {
            core::array::from_fn(|at| self[at] ^ other[at])
        }
        fn and(self, other: Self) -> Self {
            core::array::from_fn(|at| self[at] & other[at])
        }
        fn shr(self, bits: u32) -> Self {
            self.map(|word| word >> bits)
        }
        fn rotr(self, bits: u32) -> Self {
            // Vectors have no rotation either.
            core::array::from_fn(|at| self[at].unbounded_shl(32 - bits) | self[at] >> bits)
        }
    }

    /// Returns 64 bytes that depend on `seed`.
    fn block(seed: usize) -> [u8; 64] {
        let mut bytes = [0; 64];
        for (half, bytes) in bytes.chunks_mut(32).enumerate() {
            bytes.copy_from_slice(&Sha256::digest((seed * 2 + half).to_le_bytes()));
        }
        bytes
    }

    fn word(bytes: &[u8; 64], at: usize) -> u32 {
        let word = &bytes[4 * at..4 * at + 4];
        u32::from_be_bytes([word[0], word[1], word[2], word[3]])
    }

    /// The four lanes under test: of WebAssembly, where it is the target.
    #[cfg(target_arch = "wasm32")]
    type Four = Wide;
    #[cfg(not(target_arch = "wasm32"))]
    type Four = [u32; 4];

    #[test]
    fn lanes_compress_as_sha2_does() {
        assert_eq!(Four::COUNT, 4);
        for seed in 0..1000 {
            let blocks: [_; 4] = core::array::from_fn(|lane| block(4 * seed + lane));
            let mut lanes = START.map(Four::splat);
            let words = core::array::from_fn(|at| Four::gather(|lane| word(&blocks[lane], at)));
            compress(&mut lanes, &words);
            for (lane, block) in blocks.iter().enumerate() {
                let (mut expected, mut scalar) = (START, START);
                sha2::block_api::compress256(&mut expected, &[*block]);
                compress(&mut scalar, &core::array::from_fn(|at| word(block, at)));
                assert_eq!(scalar, expected);
                assert_eq!(lanes.map(|word| word.lane(lane)), expected);
            }
        }
    }

    #[test]
    fn lanes_hash_chains_of_any_lengths_as_the_rules_do() {
        let rules = Rules::new();
        for seed in 0..60 {
            let from = if seed % 3 == 0 { 256 } else { 1 + seed as u16 * 4 };
            let chain = |lane: usize| {
                let bytes = block(4 * seed + lane);
                let mut path = [0; 32];
                path.copy_from_slice(&bytes[..32]);
                let to = u16::from(bytes[32]) % from;
                let sum = u64::from_be_bytes(core::array::from_fn(|at| bytes[40 + at]));
                Chain { path, sum, to, hash: core::array::from_fn(|at| word(&bytes, 8 + at)) }
            };
            let chains: [Chain; 4] = core::array::from_fn(chain);
            for used in 1..=4 {
                let mut lanes = chains;
                follow::<Four>(rules.all_empty(), &mut lanes[..used], from);
                for (lane, before) in lanes[..used].iter().zip(&chains) {
                    let mut scalar = [*before];
                    follow::<u32>(rules.all_empty(), &mut scalar, from);
                    let Chain { path, sum, to, hash } = *before;
                    assert_eq!(lane.hash, rules.fold(hash, sum, &path, from, to));
                    assert_eq!(scalar[0].hash, lane.hash);
                }
            }
        }
        assert_eq!(rules::bytes(&rules.all_empty()[256]), *Sha256::digest([0; 8]).as_slice());
    }
}
