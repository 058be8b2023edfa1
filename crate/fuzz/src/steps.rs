//! The same sequences as in [`ops`](crate::ops), while the host does its worst: a budget of one
//! byte, one segment at a time, in any order, more than was asked for, a tiny cache, segments that
//! leave between two steps. Every operation ends, with the same result as in a good host.

use crate::input::Input;
use crate::ops::World;
use hedgerow_support::pace::Pace;

/// Bytes of an input that choose how the host behaves.
const PACE_BYTES: usize = 16;

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let pace = Pace::new(input.split_tail(PACE_BYTES));
    World::new(&mut input, Some(pace)).run(&mut input);
}
