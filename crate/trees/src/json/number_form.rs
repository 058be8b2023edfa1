//! The normal form of a number. Nearly all numbers have it already, and usually their digits show that.
//! Only the others must be printed to compare.

use crate::json::decimal::{MAX_PLACES, Near, SAFE_DIGITS};
use crate::json::number::{NumberScan, push_all};

/// The most digits that a double needs.
const MOST_DIGITS: usize = 17;

/// The integers up to this one, 2^53, are doubles.
const MAX_EXACT: &[u8; 16] = b"9007199254740992";

/// Below this, 2^52, no two numbers of 16 digits round to the same double.
const MAX_DISTINCT: u64 = 1 << 52;

/// With a larger exponent, some numbers are too large or too small for a double.
const MAX_EXPONENT: u64 = 307;

/// The normal form of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The number has it.
    Same,
    /// The normal form is the text up to this offset.
    Cut(usize),
    /// Unknown: print the number and compare.
    Other,
}

/// Finds the normal form of a number by its digits, if they show it.
#[inline]
pub(super) fn form(text: &[u8], scan: NumberScan) -> Form {
    // Most are integers of a few digits.
    let is_short = scan.point == scan.end && scan.end - scan.whole <= SAFE_DIGITS;
    if is_short && text[scan.whole] != b'0' { Form::Same } else { form_of(text, scan) }
}

#[inline(never)]
fn form_of(text: &[u8], scan: NumberScan) -> Form {
    let NumberScan { start, whole, point, exponent, end } = scan;
    let is_same = |same| if same { Form::Same } else { Form::Other };
    let is_zero = text[whole] == b'0';
    if exponent < end {
        let digits = &text[whole..exponent];
        return is_same(
            !is_zero && point == whole + 1 && is_exponential(digits, &text[exponent..end]),
        );
    }
    if point == end {
        // Zero has no sign.
        return is_same(if is_zero { whole == start } else { is_double(&text[whole..end]) });
    }
    let fraction = &text[point + 1..end];
    if fraction.last() == Some(&b'0') {
        return cut(text, scan);
    }
    let zeros = if is_zero { leading_zeros(fraction) } else { 0 };
    let digits = if is_zero { fraction.len() - zeros } else { end - whole - 1 };
    // Numbers of 1e-7 and below have an exponent.
    if zeros > 5 || digits > MOST_DIGITS {
        return Form::Other;
    }
    is_same(digits <= SAFE_DIGITS || is_shortest(&text[whole..point], fraction, fraction.len()))
}

fn leading_zeros(digits: &[u8]) -> usize {
    digits.iter().take_while(|digit| **digit == b'0').count()
}

/// Returns whether a double holds an integer exactly.
fn is_double(digits: &[u8]) -> bool {
    digits.len() <= SAFE_DIGITS || (digits.len() == MAX_EXACT.len() && digits <= MAX_EXACT)
}

/// Returns whether an exponential form is normal. `digits` have one digit before the point, which is not zero.
fn is_exponential(digits: &[u8], exponent: &[u8]) -> bool {
    let fraction = digits.get(2..).unwrap_or_default();
    let ([b'e', sign @ (b'-' | b'+'), first @ b'1'..=b'9', rest @ ..], false) =
        (exponent, fraction.last() == Some(&b'0'))
    else {
        return false;
    };
    let power = push_all((first - b'0').into(), rest.get(..3).unwrap_or(rest));
    let is_small = *sign == b'-';
    // For smaller powers, the normal form has no exponent.
    if power < if is_small { 7 } else { 21 } || power > MAX_EXPONENT {
        return false;
    }
    let places = fraction.len() + power as usize;
    fraction.len() < SAFE_DIGITS
        || (is_small
            && fraction.len() < MOST_DIGITS
            && places <= MAX_PLACES
            && is_shortest(&digits[..1], fraction, places))
}

/// Returns the form of a number whose fraction ends with a zero.
#[cold]
fn cut(text: &[u8], scan: NumberScan) -> Form {
    let fraction = &text[scan.point + 1..scan.end];
    let kept = fraction.len() - fraction.iter().rev().take_while(|digit| **digit == b'0').count();
    let end = if kept == 0 { scan.point } else { scan.point + 1 + kept };
    match form(text, NumberScan { exponent: end, end, ..scan }) {
        Form::Same => Form::Cut(end),
        _ => Form::Other,
    }
}

/// Returns whether 16 or 17 digits, `places` of them after the point, are the shortest form of a double.
fn is_shortest(whole: &[u8], fraction: &[u8], places: usize) -> bool {
    let digits = push_all(push_all(0, whole), fraction);
    digits < MAX_DISTINCT
        || Near::of(digits, places).and_then(|near| near.is_shortest(digits)) == Some(true)
}
