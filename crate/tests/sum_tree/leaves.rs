//! Random leaves under keys of many shapes.

use hedgerow_support::sums::Leaves;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Draws a key: random, or with a long prefix of another, or different from another in a single
/// bit.
pub fn key(random: &mut ChaCha8Rng, known: &[[u8; 32]]) -> [u8; 32] {
    let mut key: [u8; 32] = random.random();
    match random.random_range(0..6) {
        0 => key[..30].fill(7),
        1 => key = [random.random_range(0..4); 32],
        2 | 3 if !known.is_empty() => {
            key = known[random.random_range(0..known.len())];
            let bit = [0, 255, random.random_range(0..256)][random.random_range(0..3)];
            key[bit / 8] ^= 1 << (bit % 8);
        }
        _ => {}
    }
    key
}

fn value(random: &mut ChaCha8Rng) -> Vec<u8> {
    let len = match random.random_range(0..12) {
        0 => 0,
        1 => [255, 256, 257, 3000][random.random_range(0..4)],
        2 => random.random_range(55..75),
        _ => random.random_range(0..40),
    };
    (0..len).map(|_| random.random()).collect()
}

pub fn leaf(random: &mut ChaCha8Rng) -> (Vec<u8>, u64) {
    loop {
        let leaf = (value(random), random.random_range(0..1 << 40));
        if leaf != (vec![], 0) {
            return leaf;
        }
    }
}

pub fn leaves(random: &mut ChaCha8Rng, count: usize) -> Leaves {
    let mut keys: Vec<[u8; 32]> = Vec::new();
    while keys.len() < count {
        let key = key(random, &keys);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.into_iter().map(|key| (key, leaf(random))).collect()
}

pub fn total(leaves: &Leaves) -> u64 {
    leaves.values().map(|(_, sum)| sum).sum()
}
