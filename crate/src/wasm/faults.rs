//! Passes the faults of a verification to the host.

use super::abi::{fault_level, status};
use crate::error::Error;
use crate::output::Output;
use crate::tree::{Fault, Part};
use alloc::vec::Vec;
use core::ops::Bound;

/// Writes a fault as seven members: hash of its chunk, status, level (or a [`fault_level`]; null if it is
/// unknown), rows, whether the lower bound is inclusive, and both bounds, each of them or null.
pub fn tell(fault: &Fault, out: &mut Output) {
    out.say(|text| {
        text.push(b'"');
        for byte in fault.hash.0 {
            let digits = [byte >> 4, byte & 15];
            text.extend(digits.map(|digit| b"0123456789abcdef"[usize::from(digit)]));
        }
        text.push(b'"');
    });
    let status = match fault.error {
        Error::MissingChunk(_) => status::MISSING_CHUNK,
        Error::UnsupportedFormat { .. } => status::UNSUPPORTED_FORMAT,
        _ => status::CORRUPT_CHUNK,
    };
    let level = match fault.part {
        Part::Node(level) => level.map(u32::from),
        Part::Value => Some(fault_level::VALUE),
        Part::Form => Some(fault_level::FORM),
    };
    let is_included = matches!(fault.range.lower, Bound::Included(_));
    let numbers =
        [Some(status.into()), level.map(u64::from), Some(fault.rows), Some(is_included.into())];
    for number in numbers {
        out.say(|text| match number {
            Some(number) => push_digits(text, number),
            None => text.extend_from_slice(b"null"),
        });
    }
    for bound in [&fault.range.lower, &fault.range.upper] {
        match bound {
            Bound::Included(key) | Bound::Excluded(key) => out.key(key),
            Bound::Unbounded => out.say(|text| text.extend_from_slice(b"null")),
        }
    }
}

fn push_digits(text: &mut Vec<u8>, number: u64) {
    let start = text.len();
    let mut left = number;
    loop {
        text.push(b'0' + (left % 10) as u8);
        left /= 10;
        if left == 0 {
            break;
        }
    }
    text[start..].reverse();
}
