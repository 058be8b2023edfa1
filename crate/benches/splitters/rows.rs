//! Rows with keys in order: only the parts that splitters need.

use crate::contestants::Item;
use hedgerow::boundary::key_hash;
use hedgerow::limits::MAX_INLINE_VALUE_BYTES;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;

const LEAF_ENTRY_BYTES: u32 = 4;
const CHILD_BYTES: u32 = 42;
const VALUE_REF_BYTES: u32 = 36;
/// Bytes of a key.
const KEY_BYTES: f64 = 14.0;
/// The skew of the sizes of values: the deviation of their logarithms.
const SKEW: f64 = 0.8;

pub struct Rows {
    /// Keys: one more than there are rows, for an insert.
    pub keys: Vec<String>,
    /// Sizes of values.
    pub values: Vec<u32>,
    pub items: Vec<Item>,
}

pub fn leaf_item(key: u32, text: &str, value: u32) -> Item {
    let stored = if value as usize > MAX_INLINE_VALUE_BYTES { VALUE_REF_BYTES } else { value };
    let size = LEAF_ENTRY_BYTES + text.len() as u32 + stored;
    Item { hash: key_hash(0, text.as_bytes()), size, key }
}

/// Returns the child of a node of `level` whose last key is `key`.
pub fn child(level: usize, key: u32, keys: &[String]) -> Item {
    let text = keys[key as usize].as_bytes();
    Item { hash: key_hash(level as u8, text), size: CHILD_BYTES + text.len() as u32, key }
}

impl Rows {
    fn new(mut keys: Vec<String>, values: Vec<u32>) -> Self {
        let rows = (0..).zip(&keys).zip(&values);
        let items = rows.map(|((at, key), value)| leaf_item(at, key, *value)).collect();
        keys.push(String::new());
        Self { keys, values, items }
    }

    /// Returns rows whose values are all of one size.
    pub fn uniform(count: usize, value: u32) -> Self {
        Self::new((0..count).map(|row| format!("issue/{row:08}")).collect(), vec![value; count])
    }

    /// Returns `count` rows of `mean` bytes on average, lognormal as far as values are held inline.
    /// Keys of the first half count up, the others are random.
    pub fn lognormal(count: usize, mean: u32) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(u64::from(mean));
        let mut keys: BTreeSet<_> = (0..count / 2).map(|row| format!("issue/{row:08}")).collect();
        while keys.len() < count {
            keys.insert(format!("row/{:010x}", random.random_range(0..1_u64 << 40)));
        }
        let shapes: Vec<f64> = (0..count).map(|_| (SKEW * normal(&mut random)).exp()).collect();
        let wanted = f64::from(mean - LEAF_ENTRY_BYTES) - KEY_BYTES;
        let inline = |value: f64| value.clamp(1.0, MAX_INLINE_VALUE_BYTES as f64);
        let mut scale = wanted;
        for _ in 0..8 {
            let sum: f64 = shapes.iter().map(|shape| inline(shape * scale)).sum();
            scale *= wanted / (sum / count as f64);
        }
        let values = shapes.iter().map(|shape| inline(shape * scale) as u32).collect();
        Self::new(keys.into_iter().collect(), values)
    }
}

/// Draws a normal variable (Box and Muller).
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (a, b): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - a).ln()).sqrt() * (core::f64::consts::TAU * b).cos()
}
