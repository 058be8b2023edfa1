//! Scans numbers, and prints them as `Number.prototype.toString` does (ECMA-262, 6.1.6.1.20).

use crate::json::decimal::{SAFE_DIGITS, round};
use crate::json::token::{JsonFault, word_at};
use alloc::vec::Vec;

/// The offsets of the parts of a scanned number.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberScan {
    pub(super) start: usize,
    /// Where the digits start, after the sign.
    pub(super) whole: usize,
    /// Where the whole digits end.
    pub(super) point: usize,
    /// Where the fraction ends.
    pub(super) exponent: usize,
    /// The offset after the number.
    pub(super) end: usize,
}

/// Scans the number at `start`.
#[inline(always)]
#[expect(clippy::inline_always, reason = "its result has many parts, and few are used")]
pub(super) fn skip_number(text: &[u8], start: usize) -> Result<NumberScan, JsonFault> {
    let whole = start + usize::from(text.get(start) == Some(&b'-'));
    let point = if text.get(whole) == Some(&b'0') { whole + 1 } else { skip_digits(text, whole)? };
    let exponent =
        if text.get(point) == Some(&b'.') { skip_digits(text, point + 1)? } else { point };
    let mut end = exponent;
    if let Some(b'e' | b'E') = text.get(exponent) {
        let signed = matches!(text.get(end + 1), Some(b'+' | b'-'));
        end = skip_digits(text, end + 1 + usize::from(signed))?;
    }
    Ok(NumberScan { start, whole, point, exponent, end })
}

/// Returns the offset after the digits at `at`; at least one is required.
#[inline]
fn skip_digits(text: &[u8], at: usize) -> Result<usize, JsonFault> {
    let mut end = at;
    loop {
        let digits = match word_at(text, end) {
            Some(word) => leading_digits(word),
            None => usize::from(text.get(end).is_some_and(u8::is_ascii_digit)),
        };
        end += digits;
        if digits == 0 || (digits < 8 && end + 8 <= text.len()) {
            return if end == at { Err(JsonFault::Syntax(at)) } else { Ok(end) };
        }
    }
}

/// Returns how many of the bytes of `word` are digits, from the lowest on.
const fn leading_digits(word: u64) -> usize {
    const ONES: u64 = u64::MAX / 255;
    // Digits become their values; all values above nine get their high bit set.
    let values = word ^ (ONES * 0x30);
    let others = (((values & (ONES * 0x7f)) + ONES * 0x76) | values) & (ONES * 0x80);
    others.trailing_zeros() as usize / 8
}

pub(super) fn push_all(number: u64, digits: &[u8]) -> u64 {
    let (eights, rest) = digits.as_chunks();
    let number = eights.iter().fold(number, |number, eight| {
        // Joins neighbours: ones to pairs, to fours, to eight.
        let ones = u64::from_le_bytes(*eight) & 0x0f0f_0f0f_0f0f_0f0f;
        let pairs = (ones.wrapping_mul(10 << 8 | 1) >> 8) & 0x00ff_00ff_00ff_00ff;
        let fours = (pairs.wrapping_mul(100 << 16 | 1) >> 16) & 0x0000_ffff_0000_ffff;
        100_000_000 * number + (fours.wrapping_mul(10_000 << 32 | 1) >> 32)
    });
    rest.iter().fold(number, |number, digit| push(number, *digit))
}

const fn push(number: u64, digit: u8) -> u64 {
    10 * number + (digit - b'0') as u64
}

/// Returns the double of a JSON number; `None` if it is malformed or too large for a double.
/// Negative zero becomes zero.
pub fn double(text: &[u8]) -> Option<f64> {
    let scan = skip_number(text, 0).ok()?;
    let digits = &text[scan.whole..scan.end];
    #[expect(clippy::cast_precision_loss, reason = "so few digits are exact")]
    let number = if scan.point == scan.end && digits.len() <= SAFE_DIGITS {
        push_all(0, digits) as f64
    } else {
        value(text, scan)
    };
    let signed = if scan.whole > 0 && number != 0.0 { -number } else { number };
    signed.is_finite().then_some(signed)
}

/// Appends a finite double as JavaScript prints it.
pub fn push_double(number: f64, out: &mut Vec<u8>) {
    out.extend_from_slice(ryu_js::Buffer::new().format_finite(number).as_bytes());
}

/// Appends the number as JavaScript prints it; `false` if it is too large for a double.
pub(super) fn push_number(text: &[u8], scan: NumberScan, out: &mut Vec<u8>) -> bool {
    let number = value(text, scan);
    if !number.is_finite() {
        return false;
    }
    if number == 0.0 {
        // Negative zero, too.
        out.push(b'0');
    } else {
        if scan.whole > scan.start {
            out.push(b'-');
        }
        push_double(number, out);
    }
    true
}

/// Returns the double of a number without its sign.
fn value(text: &[u8], scan: NumberScan) -> f64 {
    let places = scan.exponent.saturating_sub(scan.point + 1);
    let mut exponent = 0_i64;
    if let Some((sign, digits)) =
        text[scan.exponent..scan.end].get(1..).and_then(<[u8]>::split_first)
    {
        let first = sign.is_ascii_digit().then_some(sign);
        for digit in first.into_iter().chain(digits) {
            exponent = exponent.saturating_mul(10).saturating_add((digit - b'0').into());
        }
        if *sign == b'-' {
            exponent = -exponent;
        }
    }
    let exponent = exponent.saturating_sub(i64::try_from(places).unwrap_or(i64::MAX));
    round(&text[scan.whole..scan.exponent], exponent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::number_form::{Form, form};
    use alloc::string::String;

    fn scan(text: &str) -> NumberScan {
        let scan = skip_number(text.as_bytes(), 0).unwrap();
        assert_eq!(scan.end, text.len(), "{text}");
        scan
    }

    fn printed(text: &str) -> String {
        let mut out = Vec::new();
        assert!(push_number(text.as_bytes(), scan(text), &mut out), "{text}");
        String::from_utf8(out).unwrap()
    }

    /// Checks that the form found by the digits is the printed one; returns `false` if no form is found.
    fn is_found(text: &str) -> bool {
        match form(text.as_bytes(), scan(text)) {
            Form::Same => assert_eq!(printed(text), text),
            Form::Cut(end) => assert_eq!(printed(text), text[..end]),
            Form::Other => return false,
        }
        true
    }

    #[test]
    fn numbers_are_printed_as_javascript_does() {
        for (text, expected) in [
            ("0", "0"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("0e5", "0"),
            ("1.0", "1"),
            ("100", "100"),
            ("1e2", "100"),
            ("1E+2", "100"),
            ("123456789012345680000", "123456789012345680000"),
            ("1e20", "100000000000000000000"),
            ("1e21", "1e+21"),
            ("1.5e300", "1.5e+300"),
            ("0.000001", "0.000001"),
            ("0.0000001", "1e-7"),
            ("-1.25e-9", "-1.25e-9"),
            ("5e-324", "5e-324"),
            ("2e-324", "0"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
            ("0.1", "0.1"),
            ("0.30000000000000004", "0.30000000000000004"),
            ("9007199254740993", "9007199254740992"),
            ("333333333.33333329", "333333333.3333333"),
        ] {
            assert_eq!(printed(text), expected, "{text}");
            is_found(text);
        }
        for text in ["1e309", "-1e309", "1.7976931348623159e308", &"9".repeat(309)] {
            let mut out = Vec::new();
            assert!(!push_number(text.as_bytes(), scan(text), &mut out), "{text}");
            assert!(out.is_empty());
        }
    }

    #[test]
    fn the_form_found_by_the_digits_is_the_printed_one() {
        // Every number of up to four digits with the point anywhere, and either sign.
        for digits in 0..10_000_u32 {
            for places in 0..8_u8 {
                let text = alloc::format!(
                    "{:.*}",
                    places.into(),
                    f64::from(digits) / 10_f64.powi(places.into())
                );
                for text in [text.clone(), alloc::format!("-{text}")] {
                    // A form is found except for negative zero and numbers with an exponent.
                    assert!(
                        is_found(&text) || printed(&text) == "0" || printed(&text).contains('e')
                    );
                }
            }
        }
    }

    /// Generates numbers of all kinds, from a fixed seed.
    fn any_bits(mut use_bits: impl FnMut(u64)) {
        let mut state = 1_u64;
        for _ in 0..200_000 {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            use_bits(state ^ state >> 29);
        }
    }

    fn check(text: &str) {
        let expected: f64 = text.parse().unwrap();
        let got = value(text.as_bytes(), scan(text));
        assert_eq!(got.to_bits(), expected.abs().to_bits(), "{text}");
        let whole = double(text.as_bytes());
        assert_eq!(whole, expected.is_finite().then_some(expected), "{text}");
        is_found(text);
    }

    #[test]
    fn numbers_are_rounded_as_the_standard_library_does() {
        any_bits(|bits| {
            let number = f64::from_bits(bits);
            if number.is_finite() {
                check(&alloc::format!("{number:e}"));
                check(&alloc::format!("{number:.17e}"));
                check(&alloc::format!("{number:.30e}"));
            }
            let (digits, places) = (bits >> 8 >> (bits % 50), bits % 400);
            check(&alloc::format!("{digits}e-{places}"));
            check(&alloc::format!("{digits}e{places}"));
            check(&alloc::format!("{}e-{}", digits, places % 25));
            check(&alloc::format!("{digits}.{}", bits % 1_000_000_007));
        });
    }

    #[test]
    fn numbers_between_two_doubles_go_to_the_even_one() {
        any_bits(|bits| {
            // Half-way between neighbours, with all digits, and a little above it.
            let low = f64::from_bits(bits & 0x7fff_ffff_ffff_ffff);
            let high = f64::from_bits(low.to_bits() + 1);
            if bits % 16 != 0 || !high.is_finite() {
                return;
            }
            let exponent = (low.to_bits() >> 52) as i32;
            if (900..1100).contains(&exponent) {
                // The mean has 54 bits, and is printed exactly.
                let mean = exact_mean(low);
                for text in [mean.clone(), alloc::format!("{mean}1"), alloc::format!("{mean}0001")]
                {
                    check(&text);
                }
            }
        });
        // Numbers of any size: with all digits, and cut where the digits left out decide.
        let mut count = 0;
        any_bits(|bits| {
            let low = f64::from_bits(bits & 0x7fff_ffff_ffff_ffff);
            if count == 150 || !f64::from_bits(low.to_bits() + 1).is_finite() || bits % 512 != 0 {
                return;
            }
            count += 1;
            let mean = exact_mean(low);
            for cut in [18, 19, 20, 21, 40, mean.len()] {
                let point = mean.find('.').unwrap();
                let start = mean.find(|digit: char| digit != '0' && digit != '.').unwrap();
                let end = (start + cut).max(point + 2).min(mean.len());
                check(&mean[..end]);
                check(&alloc::format!("{}1", &mean[..end]));
                check(&alloc::format!("{}9e0", &mean[..end]));
            }
        });
        assert_eq!(count, 150);
        check("9007199254740993");
        check("9007199254740993.00000000000000000000000000000000000001");
        check("5e-324");
        check("2.4703282292062327e-324");
        check("2.4703282292062328e-324");
        check("1.7976931348623158e308");
        check("1.7976931348623159e308");
        check("2.2250738585072011e-308");
        check("0.1e-999999999999999999999999");
        check("0.1e999999999999999999999999");
        let long = alloc::format!("0.{}1e1001", "0".repeat(1000));
        check(&long);
        check(&alloc::format!("1{}e-1000", "0".repeat(1000)));
        check(&alloc::format!("9007199254740993{}e-1000", "0".repeat(1000)));
        check(&alloc::format!("9007199254740993{}1e-1000", "0".repeat(999)));
    }

    /// Returns the number half-way between a double and the next, with all digits.
    fn exact_mean(low: f64) -> String {
        let bits = low.to_bits();
        let (mantissa, exponent) = (bits << 12 >> 12 | 1 << 52, (bits >> 52) as i32 - 1076);
        let mut digits = alloc::vec![0_u8; 1];
        let times = |digits: &mut Vec<u8>, factor: u64, mut carry: u64| {
            for digit in digits.iter_mut().rev() {
                carry += u64::from(*digit) * factor;
                *digit = (carry % 10) as u8;
                carry /= 10;
            }
            while carry > 0 {
                digits.insert(0, (carry % 10) as u8);
                carry /= 10;
            }
        };
        times(&mut digits, 1, 2 * mantissa + 1);
        // 2^-n is 5^n / 10^n: multiply by fives and move the point.
        for _ in 0..exponent.abs() {
            times(&mut digits, if exponent < 0 { 5 } else { 2 }, 0);
        }
        let places = usize::try_from(exponent.saturating_neg()).unwrap_or(0);
        while digits.len() <= places {
            digits.insert(0, 0);
        }
        let mut text: String = digits.iter().map(|digit| char::from(b'0' + digit)).collect();
        let text_point = text.len() - places;
        text.insert(text_point, '.');
        if places == 0 {
            text.push('0');
        }
        text
    }

    #[test]
    fn the_shortest_form_is_found_by_the_digits_for_nearly_all_doubles() {
        let mut found = 0;
        let mut count = 0;
        any_bits(|bits| {
            // From 1e-6 to 1e15, evenly over the exponents.
            let number = f64::from_bits((1003 + bits % 70) << 52 | bits >> 12);
            let text = alloc::format!("{number}");
            if !text.contains('.') || number < 1e-6 {
                return;
            }
            count += 1;
            found += usize::from(is_found(&text));
            // Its neighbours with as many digits are not the shortest, or not the nearest.
            let last = text.len() - 1;
            for digit in '1'..='9' {
                is_found(&alloc::format!("{}{digit}", &text[..last]));
            }
        });
        // It is not found for some numbers with a fraction near 2^53 or next to a power of two.
        assert!(found * 100 > count * 99, "{found} of {count}");
    }
}
