//! The cases that proptest draws in a run.

use hedgerow_support::property::{is_deep, seed_base};
use proptest::test_runner::{Config, RngSeed};

/// Configures a test that draws `count` cases in a deep run, and an eighth of them in others.
pub fn cases(count: u32) -> Config {
    Config {
        cases: if is_deep() { count } else { count.div_ceil(8) },
        rng_seed: RngSeed::Fixed(seed_base()),
        ..Config::default()
    }
}
